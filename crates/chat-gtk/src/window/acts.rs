//! Handles the window's actions and the messages of its parts.

use std::path::PathBuf;

use chat_core::message::Fid;
use chat_core::settings::Zoom;
use chat_presentation::words;
use gettextrs::gettext;
use relm4::{ComponentController, ComponentSender};

use super::arranging::{self, ARCHIVED};
use super::keys::Action;
use super::view::View;
use super::{Input, Window, about, deletions, export, keys, state, switcher, view};
use crate::chat_list::{self, Act, FoundIn};
use crate::chat_widget::{self, Find};
use crate::conversation::move_focused_waiting;
use crate::models::adding;
use crate::preferences;

impl Window {
    /// Shows a chat and moves to it.
    pub(super) fn show(&self, fid: Option<Fid>, view: &View) {
        self.chat.emit(chat_widget::Input::Show(fid));
        self.chat.emit(chat_widget::Input::FocusMessage);
        view.forward();
    }

    pub(super) fn act(
        &mut self,
        action: Action,
        view: &View,
        sender: &ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        use chat_list::Input as List;
        use chat_widget::Input as Chat;
        match action {
            Action::NewChat | Action::NewTemporaryChat => {
                self.list.emit(List::EndSearch);
                self.chat.emit(match action {
                    Action::NewTemporaryChat => Chat::ShowTemporary,
                    _ => Chat::ShowBeside,
                });
                self.chat.emit(Chat::FocusMessage);
                view.forward();
            }
            Action::Switcher => {
                let entries = self.everything_to_go_to(root);
                switcher::open(root, entries, sender.input_sender().clone());
            }
            Action::Search => {
                self.reveal_list(view);
                self.list.emit(List::Search);
            }
            Action::Find if self.panel.edits() => self.panel.editor().find(false),
            Action::FindNext if self.panel.edits() => self.panel.editor().find_next(true),
            Action::FindPrevious if self.panel.edits() => self.panel.editor().find_next(false),
            Action::Find => self.find(Find::Open, view),
            Action::FindNext => self.find(Find::Next, view),
            Action::FindPrevious => self.find(Find::Previous, view),
            Action::TogglePanel => self.toggle_panel(view),
            Action::FindFile => {
                view.show_panel();
                self.panel.find_file();
            }
            Action::Review => self.review(view, root),
            Action::SaveAs => self.panel.editor().save_as(),
            Action::ToggleList => {
                self.state.list_hidden = !self.state.list_hidden && !view.is_folded();
                view.toggle_list(self.state.list_hidden);
            }
            // With the keyboard on a message that waits, the keys move that one.
            Action::Previous if move_focused_waiting(root, true) => {}
            Action::Next if move_focused_waiting(root, false) => {}
            Action::Previous => self.list.emit(List::Step(-1)),
            Action::Next => self.list.emit(List::Step(1)),
            Action::FocusAsk => self.go_to_next_ask(view),
            Action::FocusMessage => {
                view.forward();
                self.chat.emit(Chat::FocusMessage);
            }
            Action::ChooseModel => {
                view.forward();
                self.chat.emit(Chat::ChooseModel);
            }
            Action::ChooseProject => {
                view.forward();
                self.chat.emit(Chat::ChooseProject);
            }
            Action::AttachFiles => {
                view.forward();
                self.chat.emit(Chat::AttachFiles);
            }
            Action::ReviewDefinitions => {
                view.forward();
                self.chat.emit(Chat::ReviewDefinitions);
            }
            Action::CopyReply => self.chat.emit(Chat::CopyLastReply),
            Action::PreviousMessage => self.chat.emit(Chat::StepMessage { forward: false }),
            Action::NextMessage => self.chat.emit(Chat::StepMessage { forward: true }),
            Action::Rename => {
                if let Some(fid) = self.shown.clone() {
                    if view.shows_list_alone() {
                        self.list.emit(List::Rename(fid));
                    } else {
                        view.ask_title(fid, &self.title, sender);
                    }
                }
            }
            Action::Export => {
                if let Some(fid) = self.shown.clone() {
                    self.export(fid, &self.title, sender, root);
                }
            }
            Action::Delete => self.arrange(Act::Delete),
            Action::Pin => self.arrange(Act::Pin),
            Action::Archive => self.arrange(Act::Archive),
            Action::Duplicate => {
                if let Some(fid) = self.shown.clone() {
                    self.list.emit(List::Duplicate(fid));
                }
            }
            Action::SelectChats => {
                self.reveal_list(view);
                self.list.emit(List::StartMarking);
            }
            Action::ArchivedChats => {
                self.reveal_list(view);
                self.list.emit(List::SearchFor(ARCHIVED.to_owned()));
            }
            Action::Trash => self.open_trash(sender, root),
            Action::Import => self.open_import(root),
            Action::GroupByProject => self.change_settings(sender, |settings| {
                settings.ui.group_by_project = !settings.ui.group_by_project;
            }),
            Action::ZoomIn => self.change_settings(sender, |settings| {
                settings.ui.zoom = settings.ui.zoom.larger();
            }),
            Action::ZoomOut => self.change_settings(sender, |settings| {
                settings.ui.zoom = settings.ui.zoom.smaller();
            }),
            Action::ZoomReset => self.change_settings(sender, |settings| {
                settings.ui.zoom = Zoom::default();
            }),
            Action::NewWorktreeChat => self.ask_for_worktree(sender, root),
            Action::Worktrees => self.open_worktrees(sender, root),
            Action::Preferences => self.open_preferences(preferences::Page::General, root),
            Action::Shortcuts => keys::show_window(root),
            Action::About => about::show(root, self.launch.version, self.launch.id),
            Action::Close if self.panel.edits() && !self.panel.editor().is_empty() => {
                self.panel.editor().close_file();
            }
            Action::Close | Action::Quit => self.close(sender, root),
            Action::Back => view.back(),
        }
    }

    /// F8: shows and focuses the panel, and returns the focus when it closes.
    fn toggle_panel(&self, view: &View) {
        if view.side.is_seen() && !view.shows_list_alone() {
            let had_keyboard = self.panel.has_keyboard();
            view.side.hide_panel();
            if had_keyboard {
                self.chat.emit(chat_widget::Input::FocusMessage);
            }
        } else {
            view.show_panel();
            self.panel.focus();
        }
    }

    /// Shows or hides the panel as it was in this chat, which is shown from now on.
    pub(super) fn show_panel_of(&mut self, fid: Option<&Fid>, view: &View) {
        // A new chat in place of another new one is the same to the user.
        if self.shown.as_ref() == fid {
            return;
        }
        self.panel_memory.leave(self.shown.as_ref(), view.side.has_panel());
        let session = fid.and_then(|fid| self.list.model().session(fid));
        let has_folder = session
            .map_or_else(|| self.panel.project().is_some(), |session| session.project.is_some());
        view.side.set_panel(self.panel_memory.enter(fid, has_folder));
        self.remember_panel(view);
    }

    /// Stores what is remembered about the panel.
    pub(super) fn remember_panel(&mut self, view: &View) {
        view.side.remember(&mut self.state);
        self.panel_memory.remember(&mut self.state, view.side.has_panel());
    }

    /// Shows the review.
    pub(super) fn review(&self, view: &View, root: &adw::ApplicationWindow) {
        view.show_panel();
        self.panel.review();
        view::mark_after_frame(root, &self.launch.diagnostics, "changes");
    }

    fn find(&self, find: Find, view: &View) {
        view.forward();
        self.chat.emit(chat_widget::Input::Find(find));
    }

    fn reveal_list(&mut self, view: &View) {
        self.state.list_hidden = false;
        view.reveal_list();
    }

    pub(super) fn open_preferences(&self, page: preferences::Page, root: &adw::ApplicationWindow) {
        if let Some(manager) = &self.manager {
            preferences::open(root, manager, &self.launch.tool_servers(), page);
        }
    }

    /// Makes the current chat work in a folder.
    pub(super) fn work_in(&self, folder: PathBuf, view: &View) {
        self.chat.emit(chat_widget::Input::Work(folder));
        view.forward();
    }

    /// Adds dropped files to the models on this computer, and shows the outcome.
    pub(super) fn add_models(&self, files: Vec<PathBuf>, sender: &ComponentSender<Self>) {
        if let Some(manager) = &self.manager {
            let input = sender.input_sender().clone();
            adding::add_then(manager, files, move |words, _| input.emit(Input::Note(words)));
        }
    }

    fn export(
        &self,
        fid: Fid,
        title: &str,
        sender: &ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        if let Some(manager) = self.manager.clone() {
            export::ask(root, manager, fid, title, sender.input_sender().clone());
        }
    }

    pub(super) fn hear_list(
        &mut self,
        output: chat_list::Output,
        view: &mut View,
        sender: &ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        use chat_list::Output as Told;
        match output {
            Told::Open { fid, found, forward } => {
                if forward {
                    self.show(Some(fid.clone()), view);
                } else {
                    self.chat.emit(chat_widget::Input::Show(Some(fid.clone())));
                }
                if let Some(FoundIn { message, words, .. }) = found {
                    self.chat.emit(chat_widget::Input::ShowFound { fid, message, words });
                }
            }
            Told::Deleted(chat) => view.deletions.add_chat(&chat),
            Told::GoneForGood => view.note(&deletions::chat_gone()),
            Told::InUse(title) => view.toasts.say(&deletions::in_use(&title)),
            Told::Archived { chats, title, archived } => {
                let input = self.list.sender().clone();
                view.offer(
                    &arranging::archived(&chats, &title, archived),
                    &gettext("Undo"),
                    move || {
                        let chats = chats.clone();
                        input.emit(chat_list::Input::SetArchived { chats, archived: !archived });
                    },
                );
            }
            Told::Export { fid, title } => self.export(fid, &title, sender, root),
            Told::ExportTogether(chats) => {
                if let Some(manager) = self.manager.clone() {
                    export::ask_together(root, manager, chats, sender.input_sender().clone());
                }
            }
            Told::Failed(error) => view.note(&words::sentence(&error)),
            Told::Loaded { has_chats, stored } => {
                self.chat.emit(chat_widget::Input::HasChats(has_chats));
                state::prune_drafts(&self.launch.state_folder, stored);
                view::mark_after_frame(root, &self.launch.diagnostics, "ready");
            }
            Told::Stirred(news) => {
                self.hear_news(&news, view, sender, root);
                self.end_if_done(sender, root);
            }
        }
    }
}
