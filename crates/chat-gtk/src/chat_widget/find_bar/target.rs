//! Looking for words in the chat that is shown, and for what waits in it.

use chat_core::error::Result;
use chat_core::message::{Fid, MessageId};
use relm4::ComponentSender;

use super::super::requests::note;
use super::super::shown::Shown;
use super::super::view::View;
use super::super::{ChatWidget, Done, Find, Output, PAGE, done, tell};

/// What a chat is opened for.
#[derive(Debug)]
pub(in super::super) enum Sought {
    /// These words of a message.
    Words(MessageId, String),
    /// What waits for the person's answer.
    Ask,
}

impl ChatWidget {
    /// Opens the bar in which a person looks for words, or goes from one place to the next.
    pub(in super::super) fn find(&self, find: Find, view: &View) {
        if matches!(self.shown, Shown::Open(_)) {
            match find {
                Find::Open => view.find.open(),
                Find::Next => view.find.step(true),
                Find::Previous => view.find.step(false),
            }
        }
    }

    /// Has the branch shown that this message is in: it is not among those that are loaded.
    fn seek_branch(&self, message: MessageId, words: String, sender: &ComponentSender<Self>) {
        let (Some(manager), Some(fid)) = (self.manager.clone(), self.shown.fid().cloned()) else {
            return;
        };
        sender.oneshot_command(async move {
            let result = manager.sessions().show_branch(&fid, message).await;
            done(Done::Branch { fid, message, words, result })
        });
    }

    /// The branch is shown that a message is in, or was before.
    pub(in super::super) fn branch_shown(
        &mut self,
        fid: &Fid,
        (message, words): (MessageId, String),
        result: Result<bool>,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        if self.shown.fid() != Some(fid) {
            return;
        }
        match result {
            // It is read anew, and then the words are there.
            Ok(true) => {
                self.sought = Some(Sought::Words(message, words));
                if let Some(bridge) = &self.bridge {
                    bridge.open(fid.clone(), PAGE);
                }
            }
            Ok(false) => view.find.open_at(&words, message),
            Err(error) => {
                tell(sender, note(&error));
                view.find.open_at(&words, message);
            }
        }
    }

    /// Asks which replies of the chat stand beside each other.
    pub(in super::super) fn ask_siblings(&self, sender: &ComponentSender<Self>) {
        let (Some(manager), Some(fid)) = (self.manager.clone(), self.shown.fid().cloned()) else {
            return;
        };
        sender.oneshot_command(async move {
            let result = manager.sessions().siblings(&fid).await;
            done(Done::Siblings { fid, result })
        });
    }

    /// Goes to what is sought in the chat, once it is there.
    pub(in super::super) fn show_sought(&mut self, view: &View, sender: &ComponentSender<Self>) {
        if matches!(self.shown, Shown::Opening(_)) {
            return;
        }
        match self.sought.take() {
            Some(Sought::Words(message, words)) if view.conversation.has(message) => {
                view.find.open_at(&words, message);
            }
            Some(Sought::Words(message, words)) => self.seek_branch(message, words, sender),
            Some(Sought::Ask) if !view.conversation.focus_ask() => {
                tell(sender, Output::NothingAsked);
            }
            Some(Sought::Ask) | None => {}
        }
    }
}
