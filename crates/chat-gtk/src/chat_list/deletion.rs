//! Deletes chats, and opens them again where that is undone.

use chat_core::error::{Error, Kind, Result};
use chat_core::manager::Manager;
use chat_core::message::Fid;
use relm4::ComponentSender;

use super::view::View;
use super::{ChatList, Command, Output, tell};

/// A chat that was deleted.
#[derive(Debug)]
pub(crate) struct DeletedChat {
    pub(crate) fid: Fid,
    pub(crate) title: String,
    /// How many agents were deleted with it.
    pub(crate) agents: u32,
}

/// A deleted chat that opens again when it is restored.
#[derive(Debug)]
pub(super) struct Reopening {
    fid: Fid,
    /// The chat that is shown in its place; none is a new one. If the user goes to yet another chat,
    /// they stay there.
    successor: Option<Fid>,
}

impl ChatList {
    /// Moves a chat to the trash. If it is the current one, its neighbor or a new chat takes its place.
    pub(super) fn delete(&mut self, fid: Fid, view: &View, sender: &ComponentSender<Self>) {
        let was_shown = self.shown.as_ref() == Some(&fid);
        self.keep_keyboard(&fid, view, sender);
        if was_shown {
            let successor = self.shown.clone().filter(|shown| *shown != fid);
            self.reopening = Some(Reopening { fid: fid.clone(), successor });
        }
        let (Some(manager), Some(title)) = (self.manager.clone(), self.model.title(&fid)) else {
            return;
        };
        sender.oneshot_command(async move {
            let result = delete(&manager, &fid).await;
            Command::Deleted { fid, title, result }
        });
    }

    /// A chat was not deleted: it is shown again if the list went on to its neighbor.
    pub(super) fn deletion_failed(
        &mut self,
        fid: Fid,
        title: String,
        error: Error,
        sender: &ComponentSender<Self>,
    ) {
        self.reopen(fid, sender);
        let is_in_use = error.kind == Kind::SessionInUse;
        tell(sender, if is_in_use { Output::InUse(title) } else { Output::Failed(error) });
    }

    /// Takes a deletion back.
    pub(super) fn restore(&self, fid: Fid, sender: &ComponentSender<Self>) {
        let Some(manager) = self.manager.clone() else { return };
        sender.oneshot_command(async move {
            let result = manager.sessions().restore(&fid).await;
            Command::Restored { fid, result }
        });
    }

    /// Opens a restored chat if it was the current one before it was deleted.
    pub(super) fn reopen(&mut self, fid: Fid, sender: &ComponentSender<Self>) {
        let reopening = self.reopening.take_if(|reopening| reopening.fid == fid);
        if reopening.is_some_and(|reopening| reopening.successor == self.shown) {
            tell(sender, Output::Open { fid, found: None, forward: false });
        }
    }

    /// If the current chat is deleted or archived with a key in the list, the focus moves to the next row.
    pub(super) fn keep_keyboard(&mut self, fid: &Fid, view: &View, sender: &ComponentSender<Self>) {
        if !view.has_keyboard() || self.shown.as_ref() != Some(fid) {
            return;
        }
        let beside = self.model.beside(fid);
        let Some(beside) = beside else { return };
        self.shown = Some(beside.clone());
        self.model.select(self.shown.as_ref());
        view.focus_row(&beside);
        tell(sender, Output::Open { fid: beside, found: None, forward: false });
    }
}

/// Deletes a chat with all its agents. Returns how many these were.
async fn delete(manager: &Manager, fid: &Fid) -> Result<u32> {
    // A damaged chat can be deleted all the same.
    let agents = manager.sessions().agents_below(fid).await.unwrap_or_default();
    manager.sessions().delete(fid).await?;
    Ok(u32::try_from(agents).unwrap_or(u32::MAX))
}
