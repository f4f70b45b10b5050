//! Brings deleted messages of a chat back.

use chat_core::error::{Kind, Result};
use chat_core::manager::Manager;
use chat_core::message::{DeletedMessages, Fid};
use chat_presentation::words;
use gettextrs::gettext;

use super::messages::Output;
use super::requests::is_gone;

/// Messages that were deleted in a chat.
#[derive(Clone, Debug)]
pub struct DeletedInChat {
    fid: Fid,
    deleted: DeletedMessages,
}

/// What came of bringing messages back.
#[derive(Debug)]
pub(super) enum Undeleted {
    Back,
    /// Not now, and what to do about that.
    NotNow(String),
    /// Never.
    Gone,
}

impl DeletedInChat {
    pub(super) fn new(fid: Fid, deleted: DeletedMessages) -> Self {
        Self { fid, deleted }
    }

    /// The chat.
    pub fn fid(&self) -> &Fid {
        &self.fid
    }

    /// How many, as the conversation shows them.
    pub fn count(&self) -> usize {
        self.deleted.shown
    }

    /// Whether they are these.
    pub(crate) fn are(&self, messages: &DeletedMessages) -> bool {
        self.deleted.messages.first() == messages.messages.first()
    }

    pub(super) async fn restore(&self, manager: &Manager) -> Undeleted {
        let Err(error) = manager.messages().restore(&self.fid, self.deleted.clone()).await else {
            return Undeleted::Back;
        };
        if is_gone(&error) {
            return self.without_chat(manager).await.unwrap_or(Undeleted::Gone);
        }
        match error.kind {
            // There are no such messages any more.
            Kind::NothingToSend => Undeleted::Gone,
            _ => Undeleted::NotNow(words::sentence(&error)),
        }
    }

    /// The chat is not there: it may be in the trash.
    async fn without_chat(&self, manager: &Manager) -> Result<Undeleted> {
        let trash = manager.sessions().trash().await?;
        Ok(if trash.iter().any(|chat| chat.meta.fid == self.fid) {
            Undeleted::NotNow(gettext("Their chat is in the trash. Restore it first."))
        } else {
            Undeleted::Gone
        })
    }

    /// What the window is told of that.
    pub(super) fn told(self, outcome: Undeleted) -> Output {
        match outcome {
            Undeleted::Back => Output::MessagesRestored(self),
            Undeleted::NotNow(why) => Output::MessagesNotRestored { deleted: self, why },
            Undeleted::Gone => Output::Note(gettext(
                "Couldn’t bring the messages back: they were deleted for good.",
            )),
        }
    }
}
