//! Notices that the user undid a merge: the text is without the changes from disk again, and saving it must not
//! overwrite them unnoticed.

use std::rc::Rc;

use gettextrs::gettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use super::super::disk::Version;
use super::Document;

/// A merge as one step to undo.
pub(super) struct Merge {
    /// The text before it, and the file that this text comes from.
    before: Version,
    /// The same with the merge.
    after: Version,
    is_undone: bool,
    /// Merges again.
    again: fn(&Rc<Document>),
}

impl Document {
    pub(super) fn connect_undo(self: &Rc<Self>) {
        // The text has changed only behind the buffer's own handlers.
        let connect = |signal, react: fn(&Rc<Self>)| {
            let weak = Rc::downgrade(self);
            self.buffer.connect_local(signal, true, move |_| {
                if let Some(document) = weak.upgrade() {
                    react(&document);
                }
                None::<glib::Value>
            });
        };
        connect("undo", Self::undone);
        connect("redo", Self::redone);
    }

    /// Remembers a merge that has just been put into the text.
    pub(super) fn remember_merge(&self, before: Version, again: fn(&Rc<Self>)) {
        let after = self.version();
        let merge =
            (before.text != after.text).then_some(Merge { before, after, is_undone: false, again });
        self.merge.replace(merge);
    }

    /// The text and its file no longer differ by a merge.
    pub(super) fn forget_merge(&self) {
        self.merge.take();
    }

    /// Whether the text is without a merge that the user undid.
    pub(super) fn is_merge_undone(&self) -> bool {
        self.merge.borrow().as_ref().is_some_and(|merge| merge.is_undone)
    }

    /// What was written while the user undid a merge: redoing it comes back to this file.
    pub(super) fn written_before_undo(&self, written: Version) {
        if let Some(merge) = self.merge.borrow_mut().as_mut() {
            let text = merge.after.text.clone();
            merge.after = Version { text, ..written };
        }
    }

    pub(super) fn say_merge_undone(self: &Rc<Self>) {
        let words = gettext(
            "The merge was undone, so the changes on disk are missing here. Saving asks you first.",
        );
        let again = self.choice(gettext("Merge Again"), |document| {
            let merge = document.merge.take();
            document.outdated.set(false);
            document.notice.close();
            document.focus();
            if let Some(merge) = merge {
                (merge.again)(document);
            }
        });
        self.notice.say(&words, vec![again]);
    }

    fn undone(self: &Rc<Self>) {
        if self.is_merge_undone() {
            // The text before it may once have been saved; it still lacks the changes on disk.
            return self.buffer.set_modified(true);
        }
        let Some(before) = self.merge.borrow().as_ref().map(|merge| merge.before.clone()) else {
            return;
        };
        let now = self.version();
        // The user may have removed the changes by hand, and saved that.
        if now.text != before.text || now.common.as_ref() == Some(&now.text) {
            return;
        }
        if let Some(merge) = self.merge.borrow_mut().as_mut() {
            // The merged text may have been saved since.
            merge.after = Version { text: merge.after.text.clone(), ..now };
            merge.is_undone = true;
        }
        self.come_from(&before);
        self.outdated.set(true);
        self.buffer.set_modified(true);
        self.show_status();
        self.say_merge_undone();
    }

    fn redone(self: &Rc<Self>) {
        if !self.is_merge_undone() {
            return;
        }
        let after = self.merge.borrow().as_ref().map(|merge| merge.after.clone());
        let Some(after) = after.filter(|after| *after.text == *self.text()) else {
            return self.buffer.set_modified(true);
        };
        if let Some(merge) = self.merge.borrow_mut().as_mut() {
            merge.is_undone = false;
        }
        self.come_from(&after);
        self.buffer.set_modified(after.common.as_ref() != Some(&after.text));
        self.notice.close();
        self.show_status();
        // The file may have changed again meanwhile.
        self.look();
    }
}

#[cfg(test)]
mod tests;
