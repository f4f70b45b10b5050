//! Saves a file in its original encoding and line endings, and never over other programs' changes.
//! Those are merged and saved with the same key press.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use chat_core::manager::Manager;
use chat_presentation::words::fill;
use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::gtk::prelude::*;
use sourceview5::prelude::*;

use super::super::disk::{self, DiskState, Format, NotSaved, Version};
use super::super::notice::Choice;
use super::super::source_view;
use super::{Document, DocumentEvent, LoadState};
use crate::accessible;

/// How many characters are used to detect a file's language.
const BEGINNING: i32 = 512;

/// Where to write a text.
#[derive(Clone, Debug)]
enum Target {
    /// To its own file, if that has not changed.
    Same,
    /// To this file, even if it has changed.
    Other(PathBuf),
}

/// The outcome of writing a text.
type Written = Result<DiskState, NotSaved>;

/// Whether a text gets another encoding than its file has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recode {
    /// It keeps its encoding.
    Never,
    /// It gets an encoding that has all characters.
    AsUtf8,
}

impl Recode {
    fn of(self, format: Format) -> Format {
        match self {
            Self::Never => format,
            Self::AsUtf8 => disk::as_utf8(format),
        }
    }
}

impl Document {
    /// Saves the text in the background. `done` is called with whether it succeeded.
    pub(in super::super) fn save(self: &Rc<Self>, done: impl FnOnce(bool) + 'static) {
        if self.load_state.get() != LoadState::Open {
            return done(false);
        }
        if self.saving.get() {
            // What was typed meanwhile is saved afterwards.
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
        if !self.buffer.is_modified() && self.disk_state.borrow().is_some() {
            return done(true);
        }
        if self.outdated.get() {
            self.say_changed();
            return done(false);
        }
        self.write(Target::Same, Recode::Never, done);
    }

    /// Whether the whole text is loaded, so that it can be saved under another name.
    pub(in super::super) fn is_whole(&self) -> bool {
        self.load_state.get() == LoadState::Open && self.has_text()
    }

    /// Saves the text to another file, even an existing one, and becomes that file.
    pub(in super::super) fn save_as(self: &Rc<Self>, path: PathBuf) {
        if self.is_whole() && !self.saving.get() {
            self.write(Target::Other(path), Recode::Never, |_| {});
        }
    }

    fn write(self: &Rc<Self>, target: Target, recode: Recode, done: impl FnOnce(bool) + 'static) {
        self.saving.set(true);
        let (project, path) = (self.project.clone(), self.path());
        let (ours, changes) = (self.version(), self.changes.get());
        let engine = self.engine.borrow().clone();
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            let (to, version) = (target.clone(), ours.clone());
            let put = move || put(engine.as_ref(), (&project, &path), &to, &version, recode);
            let saved = gio::spawn_blocking(put).await;
            let (Some(document), Ok((merged, result))) = (weak.upgrade(), saved) else {
                return done(false);
            };
            document.saving.set(false);
            let is_saved = result.is_ok();
            let is_same = document.changes.get() == changes;
            let is_other = merged.as_ref().is_some_and(|merged| merged.text != ours.text);
            if let Some(merged) = merged.as_ref().filter(|_| is_same) {
                document.take_merged(merged);
            }
            match result {
                Ok(_) if merged.is_some() && !is_same => {
                    document.check_disk_again.set(true);
                    document.buffer.set_modified(true);
                    // What was typed meanwhile and what is on disk have the same base, so they are
                    // merged next. If a merge was undone meanwhile, ask first.
                    if !document.is_merge_undone() {
                        document.common.replace(Some(ours.text));
                        document.overwrites.take();
                    }
                }
                Ok(disk_state) => {
                    if matches!(target, Target::Other(_)) {
                        document.forget_merges();
                    }
                    document.saved(disk_state, merged.unwrap_or(ours), recode);
                    if let Target::Other(path) = target {
                        document.become_file(path);
                    }
                    document.show_status();
                    // What was typed or undone meanwhile is not on disk.
                    document.buffer.set_modified(!is_same);
                    document.tell(DocumentEvent::Title);
                }
                Err(not) => document.say_not_saved(target, not),
            }
            if is_saved && is_other {
                let words = gettext("Changes from disk were merged with yours, and saved.");
                document.tell(DocumentEvent::Note(words));
            }
            done(is_saved);
            if let Some(next) = document.save_next.take() {
                document.save(next);
            }
            if document.check_disk_again.get() {
                document.check_disk();
            }
        });
    }

    /// The text has been saved.
    fn saved(&self, disk_state: DiskState, written: Version, recode: Recode) {
        let written = Version {
            format: recode.of(written.format),
            disk_state: Some(disk_state),
            common: Some(written.text.clone()),
            overwrites: None,
            ..written
        };
        if self.is_merge_undone() {
            return self.written_before_undo(&written);
        }
        self.come_from(&written);
        self.notice.close();
    }

    /// Becomes another file.
    fn become_file(self: &Rc<Self>, path: PathBuf) {
        let before = self.path.replace(path);
        accessible::set_label(&self.view, &self.name());
        self.view.set_editable(true);
        if self.buffer.is_highlight_syntax() {
            let (start, mut end) = (self.buffer.start_iter(), self.buffer.start_iter());
            end.forward_chars(BEGINNING);
            let text = self.buffer.text(&start, &end, true);
            self.colour(source_view::language(&self.path(), &text));
        }
        self.watch();
        self.tell(DocumentEvent::Became(before));
    }

    fn say_not_saved(self: &Rc<Self>, target: Target, not: NotSaved) {
        match not {
            // It is merged if possible; otherwise the user is asked.
            NotSaved::Changed => self.check_disk(),
            NotSaved::KeepsChanging => self.say_changed(),
            NotSaved::Lacks(letter) => {
                let text = gettext(
                    "The file’s encoding doesn’t support “{letter}”, so nothing was saved.",
                );
                let words = fill(&text, &[("letter", &letter.to_string())]);
                let as_utf8 = self.choice(gettext("Save as UTF-8"), move |document| {
                    document.write(target.clone(), Recode::AsUtf8, |_| {});
                });
                self.notice.say(&words, vec![as_utf8]);
            }
            NotSaved::Failed(reason) => {
                let text = gettext("Couldn’t save “{name}”: {reason}");
                let name = match &target {
                    Target::Same => self.name(),
                    Target::Other(path) => path.display().to_string(),
                };
                let fields = [("name", &*name), ("reason", &*reason)];
                self.notice.say(&fill(&text, &fields), vec![self.save_as_choice()]);
            }
        }
    }

    /// Saves the text under another name.
    pub(super) fn save_as_choice(self: &Rc<Self>) -> Choice {
        self.choice(gettext("Save As…"), |document| document.tell(DocumentEvent::SaveAs))
    }
}

/// Writes a text to its target as an edit by the user, and returns what was merged into it. Blocks.
fn put(
    engine: Option<&Manager>,
    (project, path): (&Path, &Path),
    target: &Target,
    version: &Version,
    recode: Recode,
) -> (Option<Version>, Written) {
    let as_person = |path: &Path, overwrites: Option<Vec<u8>>, write: &dyn Fn() -> Written| match (
        engine, overwrites,
    ) {
        (Some(engine), Some(bytes)) => {
            engine.review().overwritten_by_person(project, path, &bytes, write)
        }
        (Some(engine), None) => engine.review().saved_by_person(project, path, write),
        (None, _) => write(),
    };
    match target {
        Target::Same => {
            let write = |version: &Version| {
                let format = recode.of(version.format);
                // Later changes in the file were replaced by the user's decision, so the journal
                // must not think that the user kept them.
                let overwrites = version.overwrites.as_deref();
                let overwrites = overwrites.and_then(|text| disk::bytes(text, format));
                let (text, disk_state) = (&*version.text, version.disk_state.as_ref());
                as_person(path, overwrites, &|| {
                    disk::write(project, path, text, format, disk_state)
                })
            };
            disk::save_merged(version, write, || disk::read(project, path))
        }
        Target::Other(path) => {
            let format = recode.of(version.format);
            let write = || disk::put(project, path, &version.text, format);
            (None, as_person(path, None, &write))
        }
    }
}

#[cfg(test)]
mod tests;
