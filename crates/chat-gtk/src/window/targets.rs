//! Collects what the switcher can go to: chats, commands, models and settings.

use adw::prelude::*;
use gettextrs::gettext;
use relm4::ComponentController;

use super::Window;
use super::keys::Action;
use super::switcher::{Entry, Target};
use crate::preferences;

impl Window {
    /// All that can be gone to now, chats newest first.
    pub(super) fn everything_to_go_to(&self, root: &adw::ApplicationWindow) -> Vec<Entry> {
        let titles = self.list.model().titles().into_iter();
        let chats = titles.map(|(fid, name)| entry(Target::Chat(fid), name, String::new()));
        let mut entries: Vec<Entry> = chats.collect();
        let actions = commands().into_iter().filter(|(action, _)| {
            root.lookup_action(action.name()).is_some_and(|action| action.is_enabled())
        });
        entries.extend(actions.map(|(action, name)| {
            let key = action.keys().first().and_then(|key| gtk::accelerator_parse(*key));
            let key = key.map(|(key, held)| gtk::accelerator_get_label(key, held).to_string());
            entry(Target::Action(action), name, key.unwrap_or_default())
        }));
        let chat = self.chat.model();
        entries.extend(chat.slash_commands().iter().map(|command| {
            let name = format!("/{}", command.name);
            entry(Target::Command(command.name.clone()), name, command.description.clone())
        }));
        if let Some(manager) = &self.manager {
            let models = manager.models().list().into_iter();
            let models = models.filter(|it| it.info.capabilities.chat != Some(false));
            entries.extend(models.map(|it| {
                let (name, aside) = (it.model.model.clone(), it.model.connection.clone());
                entry(Target::Model(it.model), name, aside)
            }));
        }
        entries.extend(
            settings().map(|(page, name)| entry(Target::Setting(page), name, String::new())),
        );
        entries
    }
}

fn entry(target: Target, name: String, aside: String) -> Entry {
    Entry { target, name, aside }
}

/// The actions of the window that are worth looking for.
fn commands() -> Vec<(Action, String)> {
    vec![
        (Action::NewChat, gettext("New chat")),
        (Action::NewTemporaryChat, gettext("New temporary chat")),
        (Action::NewWorktreeChat, gettext("New chat in a worktree")),
        (Action::Search, gettext("Search chats")),
        (Action::Find, gettext("Find in the chat")),
        (Action::Rename, gettext("Rename the chat")),
        (Action::Pin, gettext("Pin or unpin the chat")),
        (Action::Archive, gettext("Archive the chat, or move it back to the list")),
        (Action::Duplicate, gettext("Duplicate the chat")),
        (Action::Export, gettext("Export the chat")),
        (Action::Delete, gettext("Move the chat to the trash")),
        (Action::SelectChats, gettext("Select chats")),
        (Action::GroupByProject, gettext("Group chats by project, or by date")),
        (Action::ArchivedChats, gettext("Archived chats")),
        (Action::Trash, gettext("Trash")),
        (Action::Import, gettext("Import chats")),
        (Action::ToggleList, gettext("Show or hide the chat list")),
        (Action::TogglePanel, gettext("Show or hide the files and editor")),
        (Action::FindFile, gettext("Find a file")),
        (Action::Review, gettext("Review changes")),
        (Action::ChooseModel, gettext("Choose a model")),
        (Action::ChooseProject, gettext("Choose a folder to work in")),
        (Action::AttachFiles, gettext("Attach files")),
        (Action::CopyReply, gettext("Copy the last reply")),
        (Action::FocusAsk, gettext("Go to the next pending question")),
        (Action::Worktrees, gettext("Worktrees")),
        (Action::ReviewDefinitions, gettext("Agents and skills of the project")),
        (Action::ZoomIn, gettext("Larger text")),
        (Action::ZoomOut, gettext("Smaller text")),
        (Action::ZoomReset, gettext("Normal text size")),
        (Action::Shortcuts, gettext("Keyboard shortcuts")),
        (Action::About, gettext("About Natter")),
        (Action::Quit, gettext("Quit")),
    ]
}

/// The pages of the preferences.
fn settings() -> impl Iterator<Item = (preferences::Page, String)> {
    use preferences::Page;
    [
        (Page::General, gettext("Preferences: General")),
        (Page::Connections(None), gettext("Preferences: Connections")),
        (Page::Models, gettext("Preferences: Models")),
        (Page::Tools, gettext("Preferences: Tools")),
        (Page::Servers, gettext("Preferences: Servers")),
        (Page::Permissions, gettext("Preferences: Permissions")),
    ]
    .into_iter()
}
