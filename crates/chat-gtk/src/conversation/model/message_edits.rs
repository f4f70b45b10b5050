//! Keeps the messages that are being edited until they are sent or the edit is given up: their fields are made
//! again when they come back into sight, or their chat is shown again.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use chat_core::message::{Attachment, Content, Fid, MessageId};

/// The edits, by their messages.
#[derive(Debug)]
pub struct MessageEdits {
    /// The session that is shown.
    session: Rc<RefCell<Option<Fid>>>,
    all: RefCell<HashMap<MessageId, Edit>>,
}

#[derive(Debug)]
struct Edit {
    session: Option<Fid>,
    content: Content,
    /// The text as it was.
    before: String,
    /// Its field is to get the keyboard.
    wants_focus: bool,
    is_sent: bool,
}

impl MessageEdits {
    /// None, in the session that is shown.
    pub fn of(session: Rc<RefCell<Option<Fid>>>) -> Self {
        Self { session, all: RefCell::default() }
    }

    /// This message is edited from now on. What was typed in it before stays.
    pub fn begin(&self, message: MessageId, content: Content) {
        let mut all = self.all.borrow_mut();
        let session = self.session.borrow().clone();
        let edit = all.entry(message).or_insert_with(|| {
            let before = content.text.clone();
            Edit { session, content, before, wants_focus: false, is_sent: false }
        });
        edit.wants_focus = true;
    }

    /// The edit was sent, or given up.
    pub fn end(&self, message: MessageId) {
        self.all.borrow_mut().remove(&message);
    }

    /// Whether a message is being edited.
    pub fn has(&self, message: MessageId) -> bool {
        self.all.borrow().contains_key(&message)
    }

    /// What stands in it now.
    pub fn content(&self, message: MessageId) -> Option<Content> {
        self.all.borrow().get(&message).map(|edit| edit.content.clone())
    }

    /// This is its text now.
    pub fn set_text(&self, message: MessageId, text: String) {
        if let Some(edit) = self.all.borrow_mut().get_mut(&message) {
            edit.content.text = text;
        }
    }

    /// Removes an attachment.
    pub fn remove_attachment(&self, message: MessageId, attachment: &Attachment) {
        if let Some(edit) = self.all.borrow_mut().get_mut(&message) {
            let attachments = &mut edit.content.attachments;
            if let Some(at) = attachments.iter().position(|it| it == attachment) {
                attachments.remove(at);
            }
        }
    }

    /// Whether its field is to get the keyboard, once.
    pub fn take_focus(&self, message: MessageId) -> bool {
        let mut all = self.all.borrow_mut();
        all.get_mut(&message).is_some_and(|edit| std::mem::take(&mut edit.wants_focus))
    }

    /// It is on its way, and gives what is sent; none where that is so already, or there is nothing to send.
    pub fn send(&self, message: MessageId) -> Option<Content> {
        let mut all = self.all.borrow_mut();
        let edit = all.get_mut(&message)?;
        let goes = !edit.is_sent && !edit.content.is_empty();
        edit.is_sent |= goes;
        goes.then(|| edit.content.clone())
    }

    /// It could not be sent: it can be sent again.
    pub fn failed(&self, message: MessageId) {
        if let Some(edit) = self.all.borrow_mut().get_mut(&message) {
            edit.is_sent = false;
        }
    }

    /// The texts that were changed and not sent, with their sessions.
    pub fn take_all(&self) -> Vec<(Option<Fid>, String)> {
        let all = std::mem::take(&mut *self.all.borrow_mut());
        let changed = all.into_values().filter(|edit| {
            let text = &edit.content.text;
            !edit.is_sent && *text != edit.before && !text.trim().is_empty()
        });
        changed.map(|edit| (edit.session, edit.content.text)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_typed_stays_until_it_is_sent_or_given_up() {
        let edits = MessageEdits::of(Rc::default());
        let message = MessageId::new();
        edits.begin(message, Content::text("Apples"));
        assert!(edits.take_focus(message) && !edits.take_focus(message));
        edits.set_text(message, "Pears".to_owned());
        edits.begin(message, Content::text("Apples"));
        assert_eq!(edits.content(message).map(|it| it.text).as_deref(), Some("Pears"));
        assert!(edits.send(message).is_some());
        assert!(edits.send(message).is_none(), "it is sent once");
        edits.failed(message);
        assert_eq!(edits.take_all(), [(None, "Pears".to_owned())]);
        assert!(!edits.has(message));
    }

    #[test]
    fn a_text_that_nobody_changed_needs_no_rescue() {
        let edits = MessageEdits::of(Rc::default());
        edits.begin(MessageId::new(), Content::text("Apples"));
        assert!(edits.take_all().is_empty());
    }
}
