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
    /// Moves chats to the trash. If the current one is among them, its neighbor or a new chat takes its place.
    pub(super) fn delete(&mut self, chats: Vec<Fid>, view: &View, sender: &ComponentSender<Self>) {
        let shown = self.shown.clone().filter(|shown| chats.contains(shown));
        self.keep_keyboard(&chats, view, sender);
        if let Some(fid) = shown {
            let successor = self.shown.clone().filter(|shown| *shown != fid);
            self.reopening = Some(Reopening { fid, successor });
        }
        for fid in chats {
            let (Some(manager), Some(title)) = (self.manager.clone(), self.model.title(&fid))
            else {
                continue;
            };
            sender.oneshot_command(async move {
                let result = delete(&manager, &fid).await;
                Command::Deleted { fid, title, result }
            });
        }
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

    /// If the current chat is among those that are deleted or archived with a key in the list, the focus moves to
    /// the next row that stays.
    pub(super) fn keep_keyboard(
        &mut self,
        going: &[Fid],
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        let shown = self.shown.as_ref().filter(|fid| view.has_keyboard() && going.contains(fid));
        let Some(beside) = shown.and_then(|fid| self.model.beside(fid, going)) else { return };
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
