//! Says at a question why its answer was refused: the question stays as it is, and so does what was chosen.

use std::cell::RefCell;
use std::collections::HashMap;

use gtk::glib;
use gtk::prelude::*;

use chat_core::message::ApprovalId;

/// The labels of the questions that are shown.
#[derive(Debug, Default)]
pub struct AnswerErrors {
    labels: RefCell<HashMap<ApprovalId, glib::WeakRef<gtk::Label>>>,
}

impl AnswerErrors {
    /// This question is shown with this label.
    pub fn watch(&self, ask: ApprovalId, label: &gtk::Label) {
        let mut labels = self.labels.borrow_mut();
        labels.retain(|_, label| label.upgrade().is_some());
        labels.insert(ask, label.downgrade());
    }

    /// The answer to this question was refused. Whether that is said at the question.
    pub fn refuse(&self, ask: ApprovalId, why: &str) -> bool {
        let label = self.labels.borrow().get(&ask).and_then(glib::WeakRef::upgrade);
        let Some(label) = label else { return false };
        label.set_label(why);
        label.set_visible(true);
        true
    }
}
