//! Keeps the messages that are being edited until they are sent: their fields are made again when they come back into
//! sight, or their chat is shown again. An edit that was left unsent comes back when the message is edited again.

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

/// What an edited message is to say.
#[derive(Clone, Debug, PartialEq)]
pub struct EditedMessage {
    /// The new version.
    pub content: Content,
    /// The text of the earlier version.
    pub before: String,
}

#[derive(Debug)]
struct Edit {
    session: Option<Fid>,
    content: Content,
    /// The message as it was.
    before: Content,
    /// Its field is to get the keyboard.
    wants_focus: bool,
    is_sent: bool,
    /// The person left it, and what they changed is kept.
    is_hidden: bool,
}

impl MessageEdits {
    /// None, in the session that is shown.
    pub fn of(session: Rc<RefCell<Option<Fid>>>) -> Self {
        Self { session, all: RefCell::default() }
    }

    /// This message is edited from now on. What was changed in it before stays.
    pub fn begin(&self, message: MessageId, content: Content) {
        let mut all = self.all.borrow_mut();
        let session = self.session.borrow().clone();
        let edit = all.entry(message).or_insert_with(|| {
            let before = content.clone();
            Edit { session, content, before, wants_focus: false, is_sent: false, is_hidden: false }
        });
        edit.wants_focus = true;
        edit.is_hidden = false;
    }

    /// The edit was sent.
    pub fn end(&self, message: MessageId) {
        self.all.borrow_mut().remove(&message);
    }

    /// The person leaves the edit. What they changed is kept until they edit the message again.
    pub fn cancel(&self, message: MessageId) {
        let mut all = self.all.borrow_mut();
        let Some(edit) = all.get_mut(&message) else { return };
        edit.is_hidden = true;
        if edit.content == edit.before && !edit.is_sent {
            all.remove(&message);
        }
    }

    /// Whether a message is being edited.
    pub fn has(&self, message: MessageId) -> bool {
        self.all.borrow().get(&message).is_some_and(|edit| !edit.is_hidden)
    }

    /// What stands in it now.
    pub fn content(&self, message: MessageId) -> Option<Content> {
        self.all.borrow().get(&message).map(|edit| edit.content.clone())
    }

    /// Whether anything in it was changed.
    pub fn is_changed(&self, message: MessageId) -> bool {
        self.all.borrow().get(&message).is_some_and(|edit| edit.content != edit.before)
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

    /// Takes all changes back, and gives the message as it was.
    pub fn revert(&self, message: MessageId) -> Option<Content> {
        let mut all = self.all.borrow_mut();
        let edit = all.get_mut(&message)?;
        edit.content = edit.before.clone();
        Some(edit.content.clone())
    }

    /// Whether its field is to get the keyboard, once.
    pub fn take_focus(&self, message: MessageId) -> bool {
        let mut all = self.all.borrow_mut();
        all.get_mut(&message).is_some_and(|edit| std::mem::take(&mut edit.wants_focus))
    }

    /// It is on its way, and gives what is sent; none where that is so already, or there is nothing to send.
    pub fn send(&self, message: MessageId) -> Option<EditedMessage> {
        let mut all = self.all.borrow_mut();
        let edit = all.get_mut(&message)?;
        let goes = !edit.is_sent && !edit.content.is_empty();
        edit.is_sent |= goes;
        goes.then(|| EditedMessage {
            content: edit.content.clone(),
            before: edit.before.text.clone(),
        })
    }

    /// It could not be sent: it can be sent again.
    pub fn failed(&self, message: MessageId) {
        if let Some(edit) = self.all.borrow_mut().get_mut(&message) {
            edit.is_sent = false;
            edit.is_hidden = false;
        }
    }

    /// Whether one is on its way.
    pub fn is_any_sent(&self) -> bool {
        self.all.borrow().values().any(|edit| edit.is_sent)
    }

    /// The texts that were changed and are not known to be sent, with their sessions. What the person left is not
    /// among them.
    pub fn unsent(&self) -> Vec<(Option<Fid>, String)> {
        let all = self.all.borrow();
        let changed = all.values().filter(|edit| {
            let text = &edit.content.text;
            (!edit.is_hidden || edit.is_sent)
                && *text != edit.before.text
                && !text.trim().is_empty()
        });
        changed.map(|edit| (edit.session.clone(), edit.content.text.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edits() -> (MessageEdits, MessageId) {
        let (edits, message) = (MessageEdits::of(Rc::default()), MessageId::new());
        edits.begin(message, Content::text("Apples"));
        (edits, message)
    }

    fn text(edits: &MessageEdits, message: MessageId) -> Option<String> {
        edits.content(message).map(|content| content.text)
    }

    #[test]
    fn what_was_typed_stays_until_it_is_sent() {
        let (edits, message) = edits();
        assert!(edits.take_focus(message) && !edits.take_focus(message));
        edits.set_text(message, "Pears".to_owned());
        edits.begin(message, Content::text("Apples"));
        assert_eq!(text(&edits, message).as_deref(), Some("Pears"));
        let sent = edits.send(message).expect("it is sent");
        assert_eq!((sent.content.text.as_str(), sent.before.as_str()), ("Pears", "Apples"));
        assert!(edits.send(message).is_none(), "it is sent once");
        edits.failed(message);
        assert!(edits.send(message).is_some(), "it is sent again");
        edits.end(message);
        assert!(!edits.has(message) && edits.unsent().is_empty());
    }

    #[test]
    fn what_is_on_its_way_is_kept() {
        let (edits, message) = edits();
        edits.set_text(message, "Pears".to_owned());
        edits.send(message);
        assert!(edits.is_any_sent());
        assert_eq!(edits.unsent(), [(None, "Pears".to_owned())]);
        edits.cancel(message);
        assert_eq!(edits.unsent(), [(None, "Pears".to_owned())]);
        edits.failed(message);
        assert!(edits.has(message) && !edits.is_any_sent(), "it comes back");
    }

    #[test]
    fn an_edit_that_was_left_comes_back_with_what_was_changed() {
        let (edits, message) = edits();
        edits.cancel(message);
        assert!(text(&edits, message).is_none(), "nothing was changed");
        edits.begin(message, Content::text("Apples"));
        edits.set_text(message, "Pears".to_owned());
        edits.cancel(message);
        assert!(!edits.has(message) && edits.unsent().is_empty());
        edits.begin(message, Content::text("Apples"));
        assert!(edits.has(message) && edits.is_changed(message));
        assert_eq!(text(&edits, message).as_deref(), Some("Pears"));
        assert_eq!(edits.revert(message), Some(Content::text("Apples")));
        assert!(!edits.is_changed(message));
    }

    #[test]
    fn a_text_that_nobody_changed_needs_no_rescue() {
        let (edits, _) = edits();
        assert!(edits.unsent().is_empty());
    }
}
