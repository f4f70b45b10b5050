//! Brings together what the user typed and what came to the file meanwhile, of which neither is saved over the other.

use std::rc::Rc;

use chat_core::review::diff::{changed, split};
use chat_core::review::{merge_texts, merge_texts_marked};
use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::gtk::prelude::*;

use super::super::disk::{self, Loaded};
use super::Document;

/// What begins the first place where both sides stand.
const FIRST_MARK: &str = "<<<<<<< ";

impl Document {
    /// The file changed, and so did the text here: both are merged where they have no lines in common, as one step
    /// to undo. Elsewhere the person decides.
    pub(super) fn merge(self: &Rc<Self>, loaded: Loaded) {
        let Some(common) = self.common.borrow().clone() else { return self.say_changed() };
        let (ours, changes) = (self.text(), self.changes.get());
        let overwrites = self.overwrites.borrow().clone();
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            let theirs = loaded.text.clone();
            let merge = move || {
                let merged = merge_texts(&common, &ours, &theirs);
                // What comes now is not among what will be overwritten.
                let overwrites = overwrites.map(|seen| {
                    merge_texts(&common, &seen, &theirs).map_or(seen, |seen| seen.as_str().into())
                });
                (merged, overwrites)
            };
            let merged = gio::spawn_blocking(merge).await;
            let (Some(document), Ok((merged, overwrites))) = (weak.upgrade(), merged) else {
                return;
            };
            if document.changes.get() != changes {
                // Somebody went on typing.
                return document.look();
            }
            let Some(merged) = merged else { return document.say_changed() };
            document.know(&loaded);
            document.overwrites.replace(overwrites);
            document.put_merged(&merged);
            document.buffer.set_modified(merged != loaded.text);
            let words = gettext("Changes from disk were merged with yours.");
            let close = document.choice(gettext("Close"), |document| {
                document.notice.close();
                document.focus();
            });
            document.notice.say(&words, vec![close]);
            document.show_status();
        });
    }

    /// Puts both sides into the text wherever they differ, for the person to choose.
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
                loaded.part.is_none().then_some((loaded, both))
            };
            let joined = gio::spawn_blocking(join).await;
            let (Some(document), Ok(joined)) = (weak.upgrade(), joined) else { return };
            let joined = joined.filter(|_| document.changes.get() == changes);
            // It cannot be read any more, or somebody typed: that is asked about anew.
            let Some((loaded, both)) = joined else { return document.look() };
            document.know(&loaded);
            document.put_merged(&both);
            document.buffer.set_modified(true);
            document.notice.close();
            if let Some(line) = both.lines().position(|line| line.starts_with(FIRST_MARK)) {
                document.buffer.place_cursor(&document.iter_at(line as i32, 0));
                document.reveal();
            }
            document.focus();
        });
    }

    /// Replaces the lines that differ, one by one, so that cursor and selection stay where they are.
    fn put_merged(&self, new: &str) {
        let old = self.text();
        let (old, new) = (split(old.as_bytes()), split(new.as_bytes()));
        let buffer = &self.buffer;
        // The buffer knows more ends of lines than these.
        let characters = |line: &&[u8]| String::from_utf8_lossy(line).chars().count();
        let at = |line: usize| {
            let before: usize = old[..line].iter().map(characters).sum();
            buffer.iter_at_offset(before as i32)
        };
        buffer.begin_user_action();
        // From the end, so that the lines before stay where they are.
        for part in changed(&old, &new).into_iter().rev() {
            let (mut start, mut end) = (at(part.old.start), at(part.old.end));
            buffer.delete(&mut start, &mut end);
            buffer.insert(&mut start, &String::from_utf8_lossy(&new[part.new].concat()));
        }
        buffer.end_user_action();
    }
}
