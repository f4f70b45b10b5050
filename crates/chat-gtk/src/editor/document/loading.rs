//! Loads a file's text from disk, and restores what was not saved in an earlier run.

use std::rc::Rc;
use std::time::Duration;

use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::gtk::prelude::*;
use sourceview5::prelude::*;

use super::super::chunked_insert::insert_in_chunks;
use super::super::disk::{self, DiskState, Loaded, Refusal};
use super::super::source_view;
use super::super::unsaved_files::Draft;
use super::{Document, DocumentEvent, LoadState};
use crate::languages;

/// Larger texts are shown without syntax highlighting, which takes time and memory; in bytes.
const COLOURED: usize = 1 << 20;

impl Document {
    /// Loads the file and shows its text, unless that was done before. A file that could not be
    /// shown is tried again, since it may have changed.
    pub(in super::super) fn load(self: &Rc<Self>) {
        match self.load_state.get() {
            LoadState::Unread => self.read(),
            LoadState::Refused => self.read_again(),
            LoadState::Loading | LoadState::Open | LoadState::Partial => {}
        }
    }

    fn read(self: &Rc<Self>) {
        self.load_state.set(LoadState::Loading);
        let (project, path) = (self.project.clone(), self.path());
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            let read = gio::spawn_blocking(move || disk::read(&project, &path)).await;
            if let (Some(document), Ok(read)) = (weak.upgrade(), read) {
                document.loaded(read);
            }
        });
    }

    fn loaded(self: &Rc<Self>, read: Result<Loaded, Refusal>) {
        let mut loaded = match read {
            Ok(loaded) => loaded,
            Err(refusal) => return self.refuse(&refusal),
        };
        self.format.set(loaded.format);
        self.disk_state.replace(loaded.disk_state);
        self.show_status();
        let mut partial = loaded.partial;
        self.common.replace(partial.is_none().then(|| loaded.text.as_str().into()));
        if partial.is_some() && self.draft.borrow().is_some() {
            // The unsaved text is complete: it must not be mixed with a part of the file.
            loaded.text.clear();
            partial = None;
        }
        self.overwrites.take();
        self.forget_merges();
        let is_protected = loaded.is_protected;
        let coloured = loaded.text.len() <= COLOURED;
        let language = source_view::language(&self.path(), &loaded.text).filter(|_| coloured);
        self.buffer.set_highlight_syntax(false);
        source_view::indent_as(&self.view, &loaded.text);
        self.setting.set(true);
        let weak = Rc::downgrade(self);
        let insert = insert_in_chunks(&self.buffer, loaded.text, move || {
            if let Some(document) = weak.upgrade() {
                document.buffer.set_highlight_syntax(coloured);
                document.colour(language);
                let load_state =
                    if partial.is_some() { LoadState::Partial } else { LoadState::Open };
                document.filled(load_state, is_protected);
            }
        });
        self.pending_insert.replace(Some(insert));
        if let Some(partial) = partial {
            self.notice.say(&partial.sentence(), Vec::new());
        } else if is_protected {
            self.notice.say(&disk::protected(), Vec::new());
        }
    }

    /// Sets the text's language. If the language is not loaded yet, it is set when the text becomes
    /// visible.
    pub(super) fn colour(&self, language: Option<sourceview5::Language>) {
        if language.as_ref().is_none_or(languages::is_read) {
            return languages::give(&self.buffer, language.as_ref());
        }
        let buffer = self.buffer.downgrade();
        let later = async move {
            glib::timeout_future_with_priority(glib::Priority::LOW, Duration::ZERO).await;
            if let Some(buffer) = buffer.upgrade() {
                languages::give(&buffer, language.as_ref());
            }
        };
        glib::spawn_future_local(later);
    }

    /// The whole text is loaded.
    fn filled(self: &Rc<Self>, load_state: LoadState, is_protected: bool) {
        self.setting.set(false);
        self.buffer.set_modified(false);
        self.load_state.set(load_state);
        self.view.set_editable(load_state == LoadState::Open && !is_protected);
        self.buffer.place_cursor(&self.buffer.start_iter());
        self.watch();
        if let Some(draft) = self.draft.take() {
            self.restore_draft(&draft, None);
        }
        if let Some(place) = self.aim.take() {
            self.go(place);
        }
        self.show_position();
        self.tell(DocumentEvent::Title);
        self.tell(DocumentEvent::Cursor);
    }

    /// There is no text to show. Unsaved text is still shown, and a missing file can be created.
    fn refuse(self: &Rc<Self>, refusal: &Refusal) {
        let draft = self.draft.take();
        if draft.is_none() && *refusal != Refusal::Gone {
            self.setting.set(false);
            self.load_state.set(LoadState::Refused);
            self.view.set_sensitive(false);
            self.view.set_show_line_numbers(false);
            self.view.set_cursor_visible(false);
            let elsewhere = matches!(refusal, Refusal::Binary | Refusal::TooLarge(_))
                .then(|| self.choice(gettext("Open in Another App"), |it| it.open_elsewhere()));
            self.notice.say(&refusal.sentence(), elsewhere.into_iter().collect());
            self.tell(DocumentEvent::Cursor);
            return self.tell(DocumentEvent::Title);
        }
        self.disk_state.replace(None);
        self.common.take();
        self.forget_merges();
        self.colour(source_view::language(&self.path(), ""));
        self.filled(LoadState::Open, false);
        if let Some(draft) = draft {
            self.restore_draft(&draft, Some(refusal));
        } else {
            self.notice
                .say(&gettext("This file doesn’t exist yet. Saving creates it."), Vec::new());
        }
    }

    /// Opens it with the desktop's default application.
    fn open_elsewhere(&self) {
        let window = self.view.root().and_downcast::<gtk::Window>();
        let file = gio::File::for_path(self.location());
        gtk::show_uri(window.as_ref(), &file.uri(), gtk::gdk::CURRENT_TIME);
    }

    /// Unsaved text from an earlier run is available.
    pub(in super::super) fn set_draft(self: &Rc<Self>, draft: Draft) {
        match self.load_state.get() {
            LoadState::Unread | LoadState::Loading => {
                self.draft.replace(Some(draft));
                self.load();
            }
            // The user was faster, and typed something new.
            LoadState::Open if self.buffer.is_modified() => {}
            LoadState::Open => self.restore_draft(&draft, None),
            LoadState::Partial | LoadState::Refused => {
                self.draft.replace(Some(draft));
                self.read_again();
            }
        }
    }

    /// Loads the file as if it was just opened. The current text is lost for good.
    pub(super) fn read_again(self: &Rc<Self>) {
        if self.load_state.get() == LoadState::Loading {
            return;
        }
        self.aim.set(Some(self.place()));
        self.setting.set(true);
        self.buffer.begin_irreversible_action();
        self.buffer.set_text("");
        self.buffer.end_irreversible_action();
        self.view.set_sensitive(true);
        self.view.set_show_line_numbers(true);
        self.view.set_cursor_visible(true);
        self.view.set_editable(false);
        self.notice.close();
        self.outdated.set(false);
        self.read();
    }

    /// Restores unsaved text from an earlier run, even if the file can no longer be shown. This can
    /// be undone if it leads back to the text that the draft is based on.
    fn restore_draft(self: &Rc<Self>, draft: &Draft, refusal: Option<&Refusal>) {
        let is_shown = self.common.borrow().is_some();
        if is_shown && draft.text == self.text() {
            return;
        }
        self.view.set_editable(true);
        let sum = self.disk_state.borrow().as_ref().map(|disk_state| disk_state.sum.clone());
        let is_changed = refusal.is_none() && sum != draft.base;
        if is_shown && !is_changed {
            self.replace_text(&draft.text);
        } else {
            self.buffer.begin_irreversible_action();
            self.buffer.set_text(&draft.text);
            self.buffer.end_irreversible_action();
            self.forget_merges();
            self.common.replace(draft.common.as_deref().map(Into::into));
        }
        self.buffer.set_modified(true);
        let cursor = self.buffer.iter_at_offset(draft.cursor);
        self.buffer.place_cursor(&cursor);
        // Saving still asks before it overwrites newer changes to the file, even in a later run.
        self.outdated.set(is_changed);
        if is_changed {
            self.disk_state.replace(draft.base.clone().map(DiskState::earlier));
        }
        let words = if is_changed {
            gettext("Your unsaved changes were restored. The file has changed on disk since then.")
        } else {
            gettext("Your unsaved changes were restored.")
        };
        if let Some(refusal) = refusal {
            let words = format!("{} {words}", refusal.sentence());
            let discard = self.choice(gettext("Discard"), Self::read_again);
            return self.notice.say(&words, vec![discard, self.save_as_choice()]);
        }
        let discard = self.choice(gettext("Discard"), |document| document.take_disk(true));
        let keep = self.choice(gettext("Keep"), |document| {
            document.notice.close();
            document.focus();
        });
        self.notice.say(&words, vec![discard, keep]);
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use relm4::gtk::prelude::*;

    use super::super::scene::{LINES, Scene};
    use crate::main_loop::until;

    #[gtk::test]
    fn what_was_typed_before_a_restart_can_be_kept_beside_what_came_to_the_file_since() {
        let before = Scene::new();
        before.type_at(0, "my ");
        let draft = before.document.draft_to_save().expect("something unsaved");
        let scene = Scene::new();
        fs::write(scene.file(), LINES.replace("one", "eins")).unwrap();
        scene.document.read_again();
        until("the file", || scene.document.text().starts_with("eins"));
        scene.document.set_draft(draft);
        assert!(scene.document.text().starts_with("my one"));
        assert!(!scene.save(|| {}));
        scene.document.keep_both();
        until("both", || scene.document.text().starts_with("<<<<<<<"));
        assert!(scene.document.text().contains("my one") && scene.document.text().contains("eins"));
    }

    #[gtk::test]
    fn a_changed_file_is_not_forgotten_by_another_restart() {
        let scene = Scene::new();
        scene.type_at(0, "my ");
        let theirs = LINES.replace("five", "fünf");
        let scene = scene.restart(|file| fs::write(file, &theirs).unwrap()).restart(|_| {});
        assert!(!scene.save(|| {}));
        assert_eq!(scene.on_disk(), theirs);
        // Its base is still known, too.
        scene.document.check_disk();
        let both = theirs.replace("one", "my one");
        until("the merge", || scene.document.text() == both);
        assert!(scene.save(|| {}));
        assert_eq!(scene.on_disk(), both);
    }

    #[gtk::test]
    fn nothing_leads_from_a_changed_file_back_to_a_draft_that_is_taken_for_a_change_of_it() {
        let scene = Scene::new();
        scene.type_at(0, "my ");
        let theirs = LINES.replace("five", "fünf");
        let scene = scene.restart(|file| fs::write(file, &theirs).unwrap());
        let document = &scene.document;
        document.buffer.undo();
        document.check_disk();
        until("the file to be checked", || !document.checking_disk.get());
        while document.buffer.can_redo() {
            document.buffer.redo();
        }
        scene.save(|| {});
        assert!(scene.on_disk().contains("fünf"));
    }

    #[gtk::test]
    fn a_draft_shown_in_place_of_long_lines_is_not_undone_to_nothing() {
        let scene = Scene::new();
        let long = "long ".repeat(6000);
        scene.type_at(0, &long);
        assert!(scene.save(|| {}));
        scene.type_at(1, "my ");
        let text = scene.document.text();
        let scene = scene.restart(|_| {});
        assert_eq!(scene.document.text(), text);
        scene.document.buffer.undo();
        assert_eq!(scene.document.text(), text);
        assert!(scene.save(|| {}));
        assert_eq!(scene.on_disk(), text);
    }

    #[gtk::test]
    fn an_empty_draft_in_place_of_long_lines_is_unsaved() {
        let scene = Scene::new();
        scene.type_at(0, &"long ".repeat(6000));
        assert!(scene.save(|| {}));
        let (mut start, mut end) = scene.document.buffer.bounds();
        scene.document.buffer.delete(&mut start, &mut end);
        let scene = scene.restart(|_| {});
        assert!(scene.document.is_unsaved());
    }

    #[gtk::test]
    fn what_is_shown_of_long_lines_is_no_base_to_merge_with() {
        let scene = Scene::new();
        scene.type_at(0, "my ");
        let scene = scene.restart(|file| fs::write(file, "long ".repeat(6000)).unwrap());
        scene.document.take_disk(false);
        until("the decision", || !scene.document.notice.widget().is_visible());
        assert_eq!(scene.document.draft_to_save().expect("something unsaved").common, None);
    }
}
