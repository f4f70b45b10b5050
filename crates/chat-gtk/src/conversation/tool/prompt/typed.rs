//! What a person typed below a question, while that waits: its card is made anew when its chat is shown again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use chat_core::message::AskId;
use gtk::prelude::*;

/// The words, by what they are about.
#[derive(Debug, Default)]
pub struct Typed(RefCell<HashMap<AskId, String>>);

impl Typed {
    /// Puts into a field what was typed before, and keeps what is typed from now on.
    pub fn keep(self: &Rc<Self>, ask: AskId, entry: &gtk::Entry) {
        if let Some(words) = self.0.borrow().get(&ask) {
            entry.set_text(words);
        }
        let typed = Rc::clone(self);
        entry.connect_changed(move |entry| {
            typed.0.borrow_mut().insert(ask, entry.text().into());
        });
    }

    /// What was typed and is not answered with.
    pub fn take(&self, ask: AskId) -> Option<String> {
        let words = self.0.borrow_mut().remove(&ask)?.trim().to_owned();
        (!words.is_empty()).then_some(words)
    }
}
