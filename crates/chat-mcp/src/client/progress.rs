//! Tells calls how far the server has come with them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::model::{ProgressNotificationParam, ProgressToken};

/// How far a call has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// What is done, in the server's own unit.
    pub done: f64,
    /// What there is to do, where the server knows.
    pub total: Option<f64>,
    /// What the server says of it, which is data.
    pub message: Option<String>,
}

pub(super) type Hear = Arc<dyn Fn(Progress) + Send + Sync>;

/// Who wants to hear of which call. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct ProgressBook(Arc<Mutex<HashMap<ProgressToken, Hear>>>);

/// Hears of a call as long as this lives.
pub(super) struct Hearing {
    book: ProgressBook,
    token: ProgressToken,
}

impl ProgressBook {
    /// Has `hear` told of a call. It must return at once.
    pub(super) fn hear(&self, token: ProgressToken, hear: Hear) -> Hearing {
        self.lock().insert(token.clone(), hear);
        Hearing { book: self.clone(), token }
    }

    /// The server tells of a call.
    pub(super) fn came(&self, told: ProgressNotificationParam) {
        let hear = self.lock().get(&told.progress_token).cloned();
        if let Some(hear) = hear {
            hear(Progress { done: told.progress, total: told.total, message: told.message });
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<ProgressToken, Hear>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Hearing {
    fn drop(&mut self) {
        self.book.lock().remove(&self.token);
    }
}

impl std::fmt::Debug for ProgressBook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProgressBook").field("calls", &self.lock().len()).finish()
    }
}
