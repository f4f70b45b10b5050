//! Saves a file: exactly as it was written before, and never over what somebody else changed.

use std::rc::Rc;

use chat_edge::words::fill;
use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::gtk::prelude::*;

use super::super::disk::{self, Format, NotSaved};
use super::{Document, Stand, Told};

impl Document {
    /// Writes the text to disk in the background. `done` learns whether it is there.
    pub(in super::super) fn save(self: &Rc<Self>, done: impl FnOnce(bool) + 'static) {
        if self.stand.get() != Stand::Open || self.saving.get() {
            return done(false);
        }
        if !self.buffer.is_modified() {
            return done(true);
        }
        if self.outdated.get() {
            self.say_changed();
            return done(false);
        }
        self.write(self.format.get(), done);
    }

    fn write(self: &Rc<Self>, format: Format, done: impl FnOnce(bool) + 'static) {
        self.saving.set(true);
        let (project, path) = (self.project.clone(), self.path.clone());
        let (text, seen) = (self.text(), self.seen.borrow().clone());
        let (changes, engine) = (self.changes.get(), self.engine.borrow().clone());
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            let write = move || {
                let write = || disk::write(&project, &path, &text, format, seen.as_ref());
                match engine {
                    Some(engine) => engine.saved_by_person(&project, &path, write),
                    None => write(),
                }
            };
            let written = gio::spawn_blocking(write).await;
            let (Some(document), Ok(written)) = (weak.upgrade(), written) else {
                return done(false);
            };
            document.saving.set(false);
            let saved = written.is_ok();
            match written {
                Ok(seen) => {
                    document.seen.replace(Some(seen));
                    document.format.set(format);
                    document.show_status();
                    document.notice.close();
                    // What was typed meanwhile is not on disk.
                    if document.changes.get() == changes {
                        document.buffer.set_modified(false);
                    }
                    (document.told)(Told::Title);
                }
                Err(not) => document.say_not_saved(not),
            }
            if document.look_again.get() {
                document.look();
            }
            done(saved);
        });
    }

    fn say_not_saved(self: &Rc<Self>, not: NotSaved) {
        match not {
            NotSaved::Changed => self.say_changed(),
            NotSaved::Lacks(letter) => {
                let text = gettext("The file’s encoding has no “{letter}”. Nothing was saved.");
                let words = fill(&text, &[("letter", &letter.to_string())]);
                let as_utf8 = self.choice(gettext("Save as UTF-8"), |document| {
                    document.write(disk::as_utf8(document.format.get()), |_| {});
                });
                self.notice.say(&words, vec![as_utf8]);
            }
            NotSaved::Failed(reason) => {
                let text = gettext("“{name}” could not be saved: {reason}");
                let fields = [("name", &*self.name()), ("reason", &*reason)];
                self.notice.say(&fill(&text, &fields), Vec::new());
            }
        }
    }
}
