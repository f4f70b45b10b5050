//! Holds a sentence that only one question says: why commands are not sandboxed better here.

use std::cell::{Cell, RefCell};

use chat_core::message::ApprovalId;

/// Words, and the question in which they stand.
#[derive(Debug, Default)]
pub struct OneTimeNote {
    words: RefCell<Option<String>>,
    said_in: Cell<Option<ApprovalId>>,
}

impl OneTimeNote {
    /// Takes what is to be said; none says nothing.
    pub fn set(&self, words: Option<String>) {
        self.words.replace(words);
    }

    /// The words, if this is the first question that asks for them, or the same again.
    pub fn say(&self, ask: ApprovalId) -> Option<String> {
        let words = self.words.borrow().clone()?;
        if self.said_in.get().is_none() {
            self.said_in.set(Some(ask));
        }
        (self.said_in.get() == Some(ask)).then_some(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_first_question_says_it_however_often_it_is_drawn() {
        let note = OneTimeNote::default();
        let (first, second) = (ApprovalId::generate(), ApprovalId::generate());
        assert_eq!(note.say(first), None, "nothing is known yet");
        note.set(Some("why".to_owned()));
        assert_eq!(note.say(first).as_deref(), Some("why"));
        assert_eq!(note.say(second), None);
        assert_eq!(note.say(first).as_deref(), Some("why"));
    }
}
