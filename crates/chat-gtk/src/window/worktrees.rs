//! Creates worktrees for new chats, opens the list of them, and tells at the start which ones no chat
//! uses.

use std::path::{Path, PathBuf};

use chat_core::manager::{Manager, WorktreeState};
use chat_core::worktree::Created;
use gettextrs::gettext;
use relm4::{ComponentController, ComponentSender};

use super::keys::Action;
use super::messages::Command;
use super::view::View;
use super::{Input, Window};
use crate::worktrees::NewChatOutcome;
use crate::{chat_list, chat_widget, worktrees};

/// Worktrees that no chat uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOver {
    folders: Vec<PathBuf>,
    /// On disk, in bytes.
    size: u64,
}

/// What the window knows about worktrees.
#[derive(Debug, Default)]
pub(super) struct WorktreeInfo {
    /// The project that a new worktree is made of, if the shown chat's can have some.
    project: Option<PathBuf>,
    /// What the user was last told of.
    told: LeftOver,
}

impl WorktreeInfo {
    /// Whether the shown chat's project can have worktrees.
    pub(super) fn is_possible(&self) -> bool {
        self.project.is_some()
    }
}

impl Window {
    /// Finds out whether the shown chat's project can have worktrees.
    pub(super) fn look_for_repository(&mut self, sender: &ComponentSender<Self>) {
        self.worktrees.project = None;
        let project = self.panel.project().map(|project| project.folder().to_owned());
        let (Some(manager), Some(project)) = (self.manager.clone(), project) else { return };
        sender.oneshot_command(async move {
            let worktrees = manager.worktrees();
            let worktree = worktrees.containing(&project).await.ok().flatten();
            // A worktree's chat gets another worktree of the same project.
            let whole = worktree.map_or(project.clone(), |it| it.parent_project().to_owned());
            let is_possible = worktrees.is_possible(&whole).await;
            Command::Repository(project, is_possible.then_some(whole))
        });
    }

    pub(super) fn repository_found(&mut self, project: &Path, whole: Option<PathBuf>) {
        // Another one may be shown by now.
        let is_shown = self.panel.project().is_some_and(|shown| shown.folder() == project);
        if is_shown {
            self.worktrees.project = whole;
        }
    }

    /// Asks how to create a worktree for a new chat.
    pub(super) fn ask_for_worktree(
        &self,
        sender: &ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        if let (Some(manager), Some(project)) = (&self.manager, &self.worktrees.project) {
            let input = sender.input_sender().clone();
            worktrees::ask_for_new_chat(root, manager, project.clone(), move |outcome| {
                input.emit(match outcome {
                    NewChatOutcome::Created(created) => Input::WorktreeCreated(Box::new(created)),
                    NewChatOutcome::Stays(words) => Input::Note(words),
                });
            });
        }
    }

    /// Shows a new chat that works in a new worktree.
    pub(super) fn worktree_created(&self, created: &Created, view: &View) {
        self.list.emit(chat_list::Input::EndSearch);
        self.chat.emit(chat_widget::Input::ShowBeside);
        self.work_in(created.worktree.project(), view);
        self.chat.emit(chat_widget::Input::FocusMessage);
        if !created.left_out.is_empty() {
            view.note(&worktrees::left_out(&created.left_out));
        }
    }

    /// Shows the list of worktrees.
    pub(super) fn open_worktrees(
        &self,
        sender: &ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        if let Some(manager) = &self.manager {
            let input = sender.input_sender().clone();
            worktrees::open(root, manager, move |fid| input.emit(Input::Show(fid)));
        }
    }

    /// Looks for worktrees that no chat uses.
    pub(super) fn look_for_left_over(manager: Manager, sender: &ComponentSender<Self>) {
        sender.oneshot_command(async move { Command::LeftOver(left_over(&manager).await) });
    }

    /// Tells the user about worktrees that no chat uses, once.
    pub(super) fn tell_left_over(
        &mut self,
        found: LeftOver,
        view: &View,
        sender: &ComponentSender<Self>,
    ) {
        if found.folders.is_empty() || found.folders == self.worktrees.told.folders {
            return;
        }
        let words = worktrees::left_over(found.folders.len(), found.size);
        let input = sender.input_sender().clone();
        view.offer(&words, &gettext("Show"), move || input.emit(Input::Do(Action::Worktrees)));
        self.worktrees.told = found;
    }
}

async fn left_over(manager: &Manager) -> LeftOver {
    let rows = manager.worktrees().left_over().await.unwrap_or_else(|error| {
        tracing::warn!(%error, "worktrees that are left over could not be listed");
        Vec::new()
    });
    // Those are being deleted.
    let rows = rows.into_iter().filter(|row| row.state != WorktreeState::Removed);
    rows.fold(LeftOver::default(), |mut all, row| {
        all.size += row.size;
        all.folders.push(row.path);
        all
    })
}
