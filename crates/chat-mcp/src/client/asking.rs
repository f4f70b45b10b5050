//! Leads what a server of the older revision asks to the call that it is probably about.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use rmcp::model::{ElicitRequestParams, ElicitResult, ElicitationAction};

/// Answers what a server asks while a call runs.
#[async_trait]
pub trait Asked: Send + Sync {
    /// The answer. The server waits for it.
    async fn ask(&self, question: &ElicitRequestParams) -> ElicitResult;
}

/// The calls that run, the latest last. A server does not say which one a question is about. Cheap to clone.
#[derive(Clone, Default)]
pub(super) struct AskBook {
    calls: Arc<Mutex<Vec<Arc<dyn Asked>>>>,
    /// Held while a question is open: a server that asks in a flood is declined.
    open: Arc<tokio::sync::Mutex<()>>,
}

/// A call is asked as long as this lives.
pub(super) struct Answering {
    book: AskBook,
    asked: Arc<dyn Asked>,
}

impl AskBook {
    pub(super) fn begin(&self, asked: Arc<dyn Asked>) -> Answering {
        self.lock().push(Arc::clone(&asked));
        Answering { book: self.clone(), asked }
    }

    /// What the server asks now. If no call runs, or a question is open already, it is declined.
    pub(super) async fn ask(&self, question: &ElicitRequestParams) -> ElicitResult {
        let latest = self.lock().last().cloned();
        match (latest, self.open.try_lock()) {
            (Some(asked), Ok(_open)) => asked.ask(question).await,
            _ => ElicitResult::new(ElicitationAction::Decline),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Arc<dyn Asked>>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Answering {
    fn drop(&mut self) {
        self.book.lock().retain(|asked| !Arc::ptr_eq(asked, &self.asked));
    }
}

impl std::fmt::Debug for AskBook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AskBook").field("calls", &self.lock().len()).finish_non_exhaustive()
    }
}
