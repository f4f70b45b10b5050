//! Handles what the chat and the panel tell.

use std::rc::Rc;

use adw::prelude::*;
use gettextrs::gettext;
use relm4::{ComponentController, ComponentSender};

use super::keys::Action;
use super::view::View;
use super::{Window, deletions};
use crate::{chat_list, chat_widget, panel, preferences};

impl Window {
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
                // The next start finds no temporary chat.
                let lasts = fid.as_ref().is_none_or(|fid| !fid.is_temporary());
                if lasts && self.state.last_session != fid {
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
            Told::Folder(folder) => view.offer_folder(folder, sender),
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
            Told::MessagesDeleted(deleted) => view.deletions.add_messages(deleted),
            Told::MessagesNotRestored { deleted, why } => view.deletions.put_back(deleted, &why),
            Told::MessagesRestored(deleted) => {
                let fid = deleted.fid();
                // In the shown chat they are in sight.
                let title = self.list.model().full_title(fid);
                if let Some(title) = title.filter(|_| self.shown.as_ref() != Some(fid)) {
                    view.note(&deletions::back_in(&deleted, &title));
                }
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
