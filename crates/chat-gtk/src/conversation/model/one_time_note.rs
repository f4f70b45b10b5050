//! What is said in one question alone, and not in each: why commands are not held better here.

use std::cell::{Cell, RefCell};

use chat_core::message::AskId;

/// Words, and the question in which they stand.
#[derive(Debug, Default)]
pub struct Once {
    words: RefCell<Option<String>>,
    said_in: Cell<Option<AskId>>,
}

impl Once {
    /// Takes what is to be said; none says nothing.
    pub fn set(&self, words: Option<String>) {
        self.words.replace(words);
    }

    /// The words, if this is the first question that asks for them, or the same again.
    pub fn say(&self, ask: AskId) -> Option<String> {
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
        let once = Once::default();
        let (first, second) = (AskId::generate(), AskId::generate());
        assert_eq!(once.say(first), None, "nothing is known yet");
        once.set(Some("why".to_owned()));
        assert_eq!(once.say(first).as_deref(), Some("why"));
        assert_eq!(once.say(second), None);
        assert_eq!(once.say(first).as_deref(), Some("why"));
    }
}
