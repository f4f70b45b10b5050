//! Edits messages of the user's in their place.

use std::rc::Rc;

use chat_core::message::{Content, Fid, MessageId};

use super::Inner;
use crate::conversation::model::message_edits::EditedMessage;

/// The messages of a conversation that the user edits.
pub struct Edits<'a>(&'a Rc<Inner>);

impl Inner {
    /// The messages that the user edits in their place.
    pub fn edits(self: &Rc<Self>) -> Edits<'_> {
        Edits(self)
    }
}

impl Edits<'_> {
    /// Has the user edit this message in its place, beginning with this.
    pub fn begin(&self, message: MessageId, content: Content) {
        self.0.state.borrow().rows.context.edits.begin(message, content);
        self.0.schedule();
    }

    /// Takes what the edited message is to say; none where it is on its way already, or says nothing.
    pub fn send(&self, message: MessageId) -> Option<EditedMessage> {
        self.0.state.borrow().rows.context.edits.send(message)
    }

    /// The edited message could not be sent.
    pub fn failed(&self, message: MessageId) {
        self.0.state.borrow().rows.context.edits.failed(message);
        self.0.schedule();
    }

    /// Shows the message again as it is. What was changed in it comes back when it is edited again.
    pub fn cancel(&self, message: MessageId) {
        self.0.state.borrow().rows.context.edits.cancel(message);
        self.0.schedule();
    }

    /// What was changed in messages and is not known to be sent, with its session.
    pub fn unsent(&self) -> Vec<(Option<Fid>, String)> {
        self.0.state.borrow().rows.context.edits.unsent()
    }

    /// Whether an edited message is on its way.
    pub fn is_any_on_its_way(&self) -> bool {
        self.0.state.borrow().rows.context.edits.is_any_sent()
    }

    /// The message is edited no longer.
    pub fn end(&self, message: MessageId) {
        self.0.state.borrow().rows.context.edits.end(message);
        self.0.schedule();
    }
}
