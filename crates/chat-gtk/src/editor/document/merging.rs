//! Merges what the user typed with what changed in the file meanwhile, so that neither overwrites
//! the other.

use std::rc::Rc;

use chat_core::review::diff::{changed, split};
use chat_core::review::merge_texts_marked;
use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::gtk::prelude::*;

use super::super::disk::{self, Loaded, Version};
use super::Document;

/// The line that begins the first conflict.
const FIRST_MARK: &str = "<<<<<<< ";

impl Document {
    /// The file changed, and so did the text here: both are merged as one undo step if their
    /// changes do not overlap. Otherwise the user decides.
    pub(super) fn merge(self: &Rc<Self>, loaded: Loaded) {
        let (ours, changes) = (self.version(), self.changes.get());
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            let merged = gio::spawn_blocking(move || ours.merged_with(loaded)).await;
            let (Some(document), Ok(merged)) = (weak.upgrade(), merged) else { return };
            if document.changes.get() != changes || document.saving.get() {
                // The user kept typing, or saving merges it.
                return document.check_disk();
            }
            let Some(merged) = merged else { return document.say_changed() };
            document.take_merged(&merged);
            let words = gettext("Changes from disk were merged with yours.");
            let close = document.choice(gettext("Close"), |document| {
                document.notice.close();
                document.focus();
            });
            document.notice.say(&words, vec![close]);
        });
    }

    /// The text and what is known about its file, to be merged or written.
    pub(super) fn version(&self) -> Version {
        Version {
            text: self.text().into(),
            format: self.format.get(),
            disk_state: self.disk_state.borrow().clone(),
            common: self.common.borrow().clone(),
            overwrites: self.overwrites.borrow().clone(),
        }
    }

    /// The text is now based on this version's file.
    pub(super) fn come_from(&self, version: &Version) {
        self.format.set(version.format);
        self.disk_state.replace(version.disk_state.clone());
        self.common.replace(version.common.clone());
        self.overwrites.replace(version.overwrites.clone());
        self.outdated.set(false);
    }

    /// Inserts what was merged into the text, as one undo step.
    pub(super) fn take_merged(&self, merged: &Version) {
        let before = self.version();
        self.come_from(merged);
        self.put_merged(&merged.text);
        self.remember_merge(before, Self::merge_again);
        self.buffer.set_modified(merged.common.as_ref() != Some(&merged.text));
        self.show_status();
    }

    /// Inserts both sides wherever they differ, for the user to choose.
    pub(super) fn keep_both(self: &Rc<Self>) {
        let Some(common) = self.common.borrow().clone() else { return };
        let (project, path) = (self.project.clone(), self.path());
        let (ours, changes) = (self.text(), self.changes.get());
        let names = (gettext("Yours"), gettext("On disk"));
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            let join = move || {
                let loaded = disk::read(&project, &path).ok()?;
                let (ours, theirs) = ((&*names.0, &*ours), (&*names.1, &*loaded.text));
                let both = merge_texts_marked(&common, ours, theirs);
                loaded.partial.is_none().then_some((loaded, both))
            };
            let joined = gio::spawn_blocking(join).await;
            let (Some(document), Ok(joined)) = (weak.upgrade(), joined) else { return };
            let joined = joined.filter(|_| document.changes.get() == changes);
            // The file can no longer be read, or the user typed something: ask again.
            let Some((loaded, both)) = joined else { return document.check_disk() };
            let before = document.version();
            document.know(&loaded);
            document.put_merged(&both);
            document.remember_merge(before, Self::keep_both);
            document.buffer.set_modified(true);
            document.notice.close();
            if let Some(line) = both.lines().position(|line| line.starts_with(FIRST_MARK)) {
                document.buffer.place_cursor(&document.iter_at(line as i32, 0));
                document.reveal();
            }
            document.focus();
        });
    }

    /// Replaces the lines that differ, one by one, so that cursor and selection stay where they
    /// are.
    fn put_merged(&self, new: &str) {
        let old = self.text();
        if old == new {
            return;
        }
        let (old, new) = (split(old.as_bytes()), split(new.as_bytes()));
        let buffer = &self.buffer;
        // The buffer knows more line endings than these.
        let characters = |line: &&[u8]| String::from_utf8_lossy(line).chars().count();
        let at = |line: usize| {
            let before: usize = old[..line].iter().map(characters).sum();
            buffer.iter_at_offset(before as i32)
        };
        self.as_one_step(|| {
            let mut last = buffer.end_iter();
            // From the end, so that earlier lines stay where they are.
            for part in changed(&old, &new).into_iter().rev() {
                let (mut start, mut end) = (at(part.old.start), at(part.old.end));
                buffer.delete(&mut start, &mut end);
                buffer.insert(&mut start, &String::from_utf8_lossy(&new[part.new].concat()));
                last = start;
            }
            last
        });
    }
}
