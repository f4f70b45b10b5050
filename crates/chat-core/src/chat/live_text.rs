//! Holds a text that grows while others read it.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The text of a part that a model is writing. Written by its session alone; mailboxes hold it and
/// copy what they have not taken yet.
#[derive(Debug, Default)]
pub(crate) struct LiveText(Mutex<String>);

impl LiveText {
    /// Appends, and gives the length that it had before.
    pub(crate) fn push(&self, more: &str) -> usize {
        let mut text = self.lock();
        let before = text.len();
        text.push_str(more);
        before
    }

    /// The text from a byte on that an earlier [`push`](Self::push) gave.
    pub(crate) fn since(&self, from: usize) -> String {
        self.lock()[from..].to_owned()
    }

    /// The text between two bytes that earlier [`push`](Self::push)es gave.
    pub(crate) fn between(&self, from: usize, to: usize) -> String {
        self.lock()[from..to].to_owned()
    }

    /// The whole text.
    pub(crate) fn whole(&self) -> String {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
