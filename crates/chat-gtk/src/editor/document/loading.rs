//! Brings a file's text from the disk, and back what was not saved in an earlier run.

use std::rc::Rc;

use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::gtk::prelude::*;
use sourceview5::prelude::*;

use super::super::disk::{self, Loaded, Refusal};
use super::super::fill::fill;
use super::super::look;
use super::super::unsaved::Draft;
use super::{Document, Stand, Told};

/// Longer texts are shown without colours, which take time and memory, in bytes.
const COLOURED: usize = 1 << 20;

impl Document {
    /// Reads the file, and shows what it says.
    pub(super) fn load(self: &Rc<Self>) {
        let (project, path) = (self.project.clone(), self.path.clone());
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            let read = gio::spawn_blocking(move || disk::read(&project, &path)).await;
            if let (Some(document), Ok(read)) = (weak.upgrade(), read) {
                document.loaded(read);
            }
        });
    }

    fn loaded(self: &Rc<Self>, read: Result<Loaded, Refusal>) {
        let loaded = match read {
            Ok(loaded) => loaded,
            Err(refusal) => return self.refuse(&refusal),
        };
        self.format.set(loaded.format);
        self.seen.replace(loaded.seen);
        let part = loaded.part;
        self.show_status();
        let coloured = loaded.text.len() <= COLOURED;
        self.buffer.set_highlight_syntax(false);
        if coloured {
            self.buffer.set_language(look::language(&self.path, &loaded.text).as_ref());
        }
        look::indent_as(&self.view, &loaded.text);
        self.setting.set(true);
        let weak = Rc::downgrade(self);
        let filling = fill(&self.buffer, loaded.text, move || {
            if let Some(document) = weak.upgrade() {
                document.buffer.set_highlight_syntax(coloured);
                document.filled(part.is_some());
            }
        });
        self.filling.replace(Some(filling));
        if let Some(part) = part {
            self.notice.say(&part.sentence(), Vec::new());
        }
    }

    /// All of the text is there.
    fn filled(self: &Rc<Self>, part: bool) {
        self.setting.set(false);
        self.buffer.set_modified(false);
        self.stand.set(if part { Stand::Part } else { Stand::Open });
        self.view.set_editable(!part);
        self.buffer.place_cursor(&self.buffer.start_iter());
        self.watch();
        if let Some(draft) = self.draft.take().filter(|_| !part) {
            self.bring_back(&draft);
        }
        if let Some(place) = self.aim.take() {
            self.go(place);
        }
        self.show_position();
        (self.told)(Told::Title);
        (self.told)(Told::Cursor);
    }

    /// There is no text to show; what was not saved is shown all the same.
    fn refuse(self: &Rc<Self>, refusal: &Refusal) {
        let draft = self.draft.take();
        if let (Some(draft), Refusal::Gone) = (draft, refusal) {
            self.stand.set(Stand::Open);
            self.view.set_editable(true);
            self.watch();
            self.bring_back(&draft);
            return;
        }
        self.stand.set(Stand::Refused);
        self.view.set_sensitive(false);
        self.notice.say(&refusal.sentence(), Vec::new());
        (self.told)(Told::Title);
    }

    /// What was not saved in an earlier run is there, for a file that was opened already.
    pub(in super::super) fn offer(self: &Rc<Self>, draft: Draft) {
        match self.stand.get() {
            Stand::Loading => drop(self.draft.replace(Some(draft))),
            Stand::Open if !self.buffer.is_modified() => self.bring_back(&draft),
            Stand::Open | Stand::Part | Stand::Refused => {}
        }
    }

    /// What was not saved in an earlier run comes back, as a change that can be undone.
    fn bring_back(self: &Rc<Self>, draft: &Draft) {
        if draft.text == self.text() {
            return;
        }
        self.replace_text(&draft.text);
        self.buffer.set_modified(true);
        let cursor = self.buffer.iter_at_offset(draft.cursor);
        self.buffer.place_cursor(&cursor);
        let sum = self.seen.borrow().as_ref().map(|seen| seen.sum.clone());
        let changed = sum != draft.base;
        // Saving asks before it overwrites what came to the file since.
        self.outdated.set(changed);
        let words = if changed {
            gettext("What you had not saved is back. The file has changed on disk since.")
        } else {
            gettext("What you had not saved is back.")
        };
        let discard = self.choice(gettext("Discard"), |document| document.take_disk(true));
        let keep = self.choice(gettext("Keep"), |document| {
            document.notice.close();
            document.focus();
        });
        self.notice.say(&words, vec![discard, keep]);
    }
}
