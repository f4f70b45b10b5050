//! Carries messages to a server and back, whatever the server does.
//!
//! What a server sends is bounded before it is read: how long a message is, and how many come that nobody asked
//! for. A server that goes beyond that is cut off, with the reason.

mod guard;
mod lines;

use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

pub use guard::Guard;
pub use lines::Lines;

/// The greatest length of one message, in bytes.
pub const LONGEST_MESSAGE: usize = 16 << 20;

/// Why a connection was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CutOff {
    /// A message was longer than so many bytes.
    TooLong(usize),
    /// Too much came that was not asked for.
    Flood,
    /// So much of what came was no message.
    NoMessages,
    /// It did not read what it was sent.
    NotReading,
}

/// How a connection ends: that it has, and why if it was cut off. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Ending {
    reason: Arc<Mutex<Option<CutOff>>>,
    ended: CancellationToken,
}

impl Ending {
    /// Why it was cut off, if it was.
    pub fn reason(&self) -> Option<CutOff> {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits until nothing comes over the connection any more. Cancel-safe.
    pub async fn ended(&self) {
        self.ended.cancelled().await;
    }

    /// Whether nothing comes over the connection any more.
    pub fn has_ended(&self) -> bool {
        self.ended.is_cancelled()
    }

    /// The first reason counts.
    fn cut_off(&self, reason: CutOff) {
        self.reason.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }

    fn end(&self) {
        self.ended.cancel();
    }
}
