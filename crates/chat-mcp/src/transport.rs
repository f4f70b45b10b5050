//! Carries messages to a server and back, whatever the server does.
//!
//! What a server sends is bounded before it is read: how long a message is, and how many come that nobody asked
//! for. A server that goes beyond that is cut off, with the reason.

mod guard;
mod lines;

use std::sync::{Arc, Mutex, PoisonError};

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
}

/// Where a transport leaves why it was cut off. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct CutOffReason(Arc<Mutex<Option<CutOff>>>);

impl CutOffReason {
    /// Why it was cut off, if it was.
    pub fn get(&self) -> Option<CutOff> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The first reason counts.
    fn set(&self, reason: CutOff) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(reason);
    }
}
