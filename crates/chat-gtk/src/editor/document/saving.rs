//! Saves a file: exactly as it was written before, and never over what somebody else changed.

use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;

use chat_edge::words::fill;
use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::gtk::prelude::*;
use sourceview5::prelude::*;

use super::super::disk::{self, Format, NotSaved};
use super::super::look;
use super::super::notice::Choice;
use super::{Document, Stand, Told};
use crate::accessible;

/// How many characters may tell a file's language.
const BEGINNING: i32 = 512;

/// Where a text is to be written.
#[derive(Clone, Debug)]
enum Target {
    /// To the file that it came from, as long as that is what it was.
    Same,
    /// To this one, whatever it was.
    Other(PathBuf),
}

impl Document {
    /// Writes the text to disk in the background. `done` learns whether it is there.
    pub(in super::super) fn save(self: &Rc<Self>, done: impl FnOnce(bool) + 'static) {
        if self.stand.get() != Stand::Open {
            return done(false);
        }
        if self.saving.get() {
            // What was typed meanwhile is saved behind it.
            let before = self.save_next.take();
            let both = move |saved| {
                if let Some(before) = before {
                    before(saved);
                }
                done(saved);
            };
            self.save_next.replace(Some(Box::new(both)));
            return;
        }
        if !self.buffer.is_modified() && self.seen.borrow().is_some() {
            return done(true);
        }
        if self.outdated.get() {
            self.say_changed();
            return done(false);
        }
        self.write(Target::Same, self.format.get(), done);
    }

    /// Whether the whole text is there, so that it can be written somewhere else.
    pub(in super::super) fn is_whole(&self) -> bool {
        self.stand.get() == Stand::Open && self.has_text()
    }

    /// Writes the text to another file, whatever that was before, and is that file from then on.
    pub(in super::super) fn save_as(self: &Rc<Self>, path: PathBuf) {
        if self.is_whole() && !self.saving.get() {
            self.write(Target::Other(path), self.format.get(), |_| {});
        }
    }

    fn write(self: &Rc<Self>, target: Target, format: Format, done: impl FnOnce(bool) + 'static) {
        self.saving.set(true);
        let (project, path) = (self.project.clone(), self.path());
        let (text, seen) = (self.text(), self.seen.borrow().clone());
        let (changes, engine) = (self.changes.get(), self.engine.borrow().clone());
        let written: Arc<str> = text.as_str().into();
        // What came to the file since then is replaced, and not taken for something that the person left alone.
        let overwrites =
            self.overwrites.borrow().clone().filter(|_| matches!(target, Target::Same));
        let overwrites = overwrites.and_then(|seen| disk::bytes(&seen, format));
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            let to = target.clone();
            let write = move || {
                let target = match &to {
                    Target::Same => &path,
                    Target::Other(path) => path,
                };
                let write = || match &to {
                    Target::Same => disk::write(&project, &path, &text, format, seen.as_ref()),
                    Target::Other(path) => disk::put(&project, path, &text, format),
                };
                match (engine, overwrites) {
                    (Some(engine), Some(seen)) => {
                        engine.overwritten_by_person(&project, target, &seen, write)
                    }
                    (Some(engine), None) => engine.saved_by_person(&project, target, write),
                    (None, _) => write(),
                }
            };
            let result = gio::spawn_blocking(write).await;
            let (Some(document), Ok(result)) = (weak.upgrade(), result) else {
                return done(false);
            };
            document.saving.set(false);
            let saved = result.is_ok();
            match result {
                Ok(seen) => {
                    document.seen.replace(Some(seen));
                    document.common.replace(Some(written));
                    document.overwrites.take();
                    document.format.set(format);
                    document.outdated.set(false);
                    document.notice.close();
                    if let Target::Other(path) = target {
                        document.become_file(path);
                    }
                    document.show_status();
                    // What was typed meanwhile is not on disk.
                    if document.changes.get() == changes {
                        document.buffer.set_modified(false);
                    }
                    document.tell(Told::Title);
                }
                Err(not) => document.say_not_saved(target, not),
            }
            done(saved);
            if let Some(next) = document.save_next.take() {
                document.save(next);
            }
            if document.look_again.get() {
                document.look();
            }
        });
    }

    /// It is another file from now on.
    fn become_file(self: &Rc<Self>, path: PathBuf) {
        let before = self.path.replace(path);
        accessible::set_label(&self.view, &self.name());
        self.view.set_editable(true);
        if self.buffer.is_highlight_syntax() {
            let (start, mut end) = (self.buffer.start_iter(), self.buffer.start_iter());
            end.forward_chars(BEGINNING);
            let text = self.buffer.text(&start, &end, true);
            self.colour(look::language(&self.path(), &text));
        }
        self.watch();
        self.tell(Told::Became(before));
    }

    fn say_not_saved(self: &Rc<Self>, target: Target, not: NotSaved) {
        match not {
            // It is merged where that can be, and asked about where it cannot.
            NotSaved::Changed => self.look(),
            NotSaved::Lacks(letter) => {
                let text = gettext("The file’s encoding has no “{letter}”. Nothing was saved.");
                let words = fill(&text, &[("letter", &letter.to_string())]);
                let as_utf8 = self.choice(gettext("Save as UTF-8"), move |document| {
                    let format = disk::as_utf8(document.format.get());
                    document.write(target.clone(), format, |_| {});
                });
                self.notice.say(&words, vec![as_utf8]);
            }
            NotSaved::Failed(reason) => {
                let text = gettext("“{name}” could not be saved: {reason}");
                let name = match &target {
                    Target::Same => self.name(),
                    Target::Other(path) => path.display().to_string(),
                };
                let fields = [("name", &*name), ("reason", &*reason)];
                self.notice.say(&fill(&text, &fields), vec![self.save_as_choice()]);
            }
        }
    }

    /// To write the text somewhere else.
    pub(super) fn save_as_choice(self: &Rc<Self>) -> Choice {
        self.choice(gettext("Save As…"), |document| document.tell(Told::SaveAs))
    }
}
