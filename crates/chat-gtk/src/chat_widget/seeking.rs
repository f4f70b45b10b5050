//! Looking for words in the chat that is shown, and for what waits in it.

use chat_core::message::MessageId;
use relm4::ComponentSender;

use super::shown::Shown;
use super::view::View;
use super::{ChatWidget, Find, Output, tell};

/// What a chat is opened for.
#[derive(Debug)]
pub(super) enum Sought {
    /// These words of a message.
    Words(MessageId, String),
    /// What waits for the person's answer.
    Ask,
}

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

    /// Goes to what is sought in the chat, once it is there.
    pub(super) fn show_sought(&mut self, view: &View, sender: &ComponentSender<Self>) {
        if matches!(self.shown, Shown::Opening(_)) {
            return;
        }
        match self.sought.take() {
            Some(Sought::Words(message, words)) => view.find.open_at(&words, message),
            Some(Sought::Ask) if !view.conversation.focus_ask() => {
                tell(sender, Output::NothingAsked);
            }
            Some(Sought::Ask) | None => {}
        }
    }
}
