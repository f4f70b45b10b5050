//! Handles the window's actions and the messages of its parts.

use std::path::PathBuf;
use std::rc::Rc;

use adw::prelude::*;
use chat_core::message::Fid;
use chat_presentation::words;
use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::{ComponentController, ComponentSender};

use super::keys::Action;
use super::view::View;
use super::{Input, Window, about, deletions, export, keys, state, switcher, view};
use crate::chat_list::{self, FoundIn};
use crate::chat_widget::{self, Find};
use crate::conversation::move_focused_waiting;
use crate::models::adding;
use crate::{panel, preferences};

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
            Action::NewChat => {
                self.list.emit(List::EndSearch);
                self.chat.emit(Chat::ShowBeside);
                self.chat.emit(Chat::FocusMessage);
                view.forward();
            }
            Action::Switcher => {
                let chats = self.list.model().titles();
                switcher::open(root, chats, sender.input_sender().clone());
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
            Action::Delete => {
                if let Some(fid) = self.shown.clone() {
                    self.list.emit(List::Delete(fid));
                }
            }
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
    fn show_panel_of(&mut self, fid: Option<&Fid>, view: &View) {
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
    fn review(&self, view: &View, root: &adw::ApplicationWindow) {
        view.show_panel();
        self.panel.review();
        view::mark_after_frame(root, &self.launch.diagnostics, "changes");
    }

    pub(super) fn hear_panel(&mut self, output: panel::Output, view: &View) {
        use panel::Output as Told;
        match output {
            Told::Moved(outline) => self.chat.emit(chat_widget::Input::Open(outline)),
            Told::Files => {
                let known = self.panel.project().map(|project| {
                    let (folder, files) = (project.folder().to_owned(), Rc::clone(&project));
                    chat_widget::KnownFiles::new(folder, move |path| files.has_file(path))
                        .with_finder(project)
                });
                self.chat.emit(chat_widget::Input::KnownFiles(known.unwrap_or_default()));
            }
            Told::Gone(folder) => self.explain_gone(folder),
            Told::DraftsRestored(words) => {
                view.side.offer_panel();
                view.note(&words);
            }
            Told::Note(words) => view.note(&words),
            Told::Answer(action) => {
                let answer = chat_widget::ToChanges(action);
                self.chat.emit(chat_widget::Input::Answer(answer));
            }
            Told::Undo => self.chat.emit(chat_widget::Input::UndoAnswer(None)),
            Told::SideBySide(side_by_side) => self.state.review_side_by_side = side_by_side,
            Told::Back => {
                view.forward();
                self.chat.emit(chat_widget::Input::FocusMessage);
            }
        }
    }

    fn find(&self, find: Find, view: &View) {
        view.forward();
        self.chat.emit(chat_widget::Input::Find(find));
    }

    fn reveal_list(&mut self, view: &View) {
        self.state.list_hidden = false;
        view.reveal_list();
    }

    fn open_preferences(&self, page: preferences::Page, root: &adw::ApplicationWindow) {
        if let Some(manager) = &self.manager {
            preferences::open(root, manager, page);
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
            Told::Deleted(chat) => view.offer_undo(&chat, sender),
            Told::InUse(title) => view.toasts.say(&deletions::in_use(&title)),
            Told::Export { fid, title } => self.export(fid, &title, sender, root),
            Told::Failed(error) => view.note(&words::sentence(&error)),
            Told::Loaded(chats) => {
                self.chat.emit(chat_widget::Input::HasChats(!chats.is_empty()));
                state::prune_drafts(&self.launch.state_folder, chats);
                view::mark_after_frame(root, &self.launch.diagnostics, "ready");
            }
            Told::Stirred(news) => {
                self.hear_news(&news, view, sender, root);
                self.end_if_done(sender, root);
            }
        }
    }

    pub(super) fn hear_chat(
        &mut self,
        output: chat_widget::Output,
        view: &mut View,
        sender: &ComponentSender<Self>,
        root: &adw::ApplicationWindow,
    ) {
        use chat_widget::Output as Told;
        match output {
            Told::Shown(fid) => {
                // If the user is working on a file or came for one, the focus stays or goes there
                // when the engine starts.
                let edits = self.shown == fid && self.panel.has_keyboard();
                let edits = edits || self.located.is_some();
                self.show_panel_of(fid.as_ref(), view);
                self.shown.clone_from(&fid);
                if self.state.last_session != fid {
                    self.state.last_session.clone_from(&fid);
                    self.write_state();
                }
                self.list.emit(chat_list::Input::Shown(fid));
                // While the user walks through the list, the focus stays there.
                let walks =
                    self.list.widget().state_flags().contains(gtk::StateFlags::FOCUS_WITHIN);
                if std::mem::take(&mut self.seeks_ask) {
                    self.chat.emit(chat_widget::Input::FocusAsk(self.sought));
                } else if !walks && !edits {
                    self.chat.emit(chat_widget::Input::FocusMessage);
                }
            }
            Told::Titled(title) => {
                root.set_title(Some(&title));
                view.set_title(&title);
                self.title = title;
            }
            Told::Stored(fid) => self.panel_memory.store(fid, view.side.has_panel()),
            Told::Project(folder) => {
                self.panel.set_project(folder.as_deref());
                self.look_for_repository(sender);
                if let Some(shown) = self.panel_memory.change_folder(folder.is_some()) {
                    view.side.set_panel(shown);
                }
                if let Some(folder) = folder {
                    self.open_waiting(&folder, view);
                }
            }
            // There is one panel, whichever page an agent means.
            Told::Panel(_) => view.side.offer_panel(),
            Told::OpenFile { path, place } => {
                view.show_panel();
                self.panel.open(&path, place);
            }
            Told::Changes(review) => {
                self.panel.changes().set_undo(review.undo);
                self.panel.changes().show(review.fid.as_ref(), review.listing);
            }
            Told::Answered(it) => {
                self.panel.changes().tell(&it.fid, &it.action, &it.answer);
                if let (Some(words), Some(answer)) = (it.words, it.answer.undo) {
                    let chat = self.chat.sender().clone();
                    view.offer_answer(answer, &words, move || {
                        let which = Some((it.fid.clone(), answer));
                        chat.emit(chat_widget::Input::UndoAnswer(which));
                    });
                }
            }
            Told::AnswerUndone(answer) => view.answer_undone(answer),
            Told::Review => self.review(view, root),
            Told::Export => self.act(Action::Export, view, sender, root),
            Told::Restored(it) => {
                view.answer_passed();
                let chat = self.chat.sender().clone();
                view.offer(&it.words, &gettext("Undo"), move || {
                    chat.emit(chat_widget::Input::UndoRestore(it.fid.clone(), it.seq));
                });
            }
            Told::MessageRemoved(removed) => {
                let chat = self.chat.sender().clone();
                view.offer(&gettext("Message removed"), &gettext("Undo"), move || {
                    chat.emit(chat_widget::Input::PutBack(removed.clone()));
                });
            }
            Told::NothingAsked => {
                let Some(fid) = self.list.model().asking(self.shown.as_ref()) else {
                    return view.toasts.nothing_waits(true);
                };
                (self.seeks_ask, self.sought) = (true, None);
                self.chat.emit(chat_widget::Input::Show(Some(fid)));
            }
            Told::Note(words) => view.note(&words),
            Told::ChatNote(words) => view.note_of_chat(&words),
            Told::ChatNoteOver => view.end_note_of_chat(),
            Told::EscapeAgain(asked) => view.ask_escape(asked),
            Told::Escaped => self.list.emit(chat_list::Input::EndSearch),
            Told::Connections(name) => {
                self.open_preferences(preferences::Page::Connections(name), root);
            }
            Told::Models => self.open_preferences(preferences::Page::Models, root),
            Told::AddConnection => {
                if let Some(manager) = &self.manager {
                    preferences::add_connection(root.upcast_ref(), manager);
                }
            }
        }
    }
}

/// Separates dropped folders from files. Done in the background, since a disk may be slow.
pub(super) fn sort_dropped(dropped: Vec<PathBuf>, sender: &ComponentSender<Window>) {
    let input = sender.input_sender().clone();
    glib::spawn_future_local(async move {
        let sort = || dropped.into_iter().partition::<Vec<_>, _>(|path| path.is_dir());
        let Ok((folders, files)) = gio::spawn_blocking(sort).await else { return };
        if !files.is_empty() {
            input.emit(Input::AddModels(files));
        }
        // A chat works in only one.
        if let Some(folder) = folders.into_iter().next() {
            input.emit(Input::OfferFolder(folder));
        }
    });
}
