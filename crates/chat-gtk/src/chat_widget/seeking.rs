//! Looking for words in the chat that is shown.

use super::shown::Shown;
use super::view::View;
use super::{ChatWidget, Find};

impl ChatWidget {
    /// Opens the bar in which a person looks for words, or goes from one place to the next.
    pub(super) fn find(&self, find: Find, view: &View) {
        if matches!(self.shown, Shown::Open(_)) {
            match find {
                Find::Open => view.find.open(),
                Find::Next => view.find.step(true),
                Find::Previous => view.find.step(false),
            }
        }
    }

    /// Goes to what was found in the chat, once it is there.
    pub(super) fn show_sought(&mut self, view: &View) {
        if let Shown::Open(_) = self.shown
            && let Some((message, words)) = self.sought.take()
        {
            view.find.open_at(&words, message);
        }
    }
}
