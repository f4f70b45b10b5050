//! Notices when the user undoes a change that came from disk: the text lacks that change again, and
//! saving must not silently overwrite it.

mod merges;

use std::rc::Rc;

use gettextrs::gettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use super::super::disk::Version;
use super::Document;
pub(super) use merges::Merges;

impl Document {
    pub(super) fn connect_undo(self: &Rc<Self>) {
        // Connect after the buffer's default handlers, which change the text.
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

    /// Changes the text as one undo step that contains nothing else: `change` returns where its
    /// last change ends.
    pub(super) fn as_one_step(&self, change: impl FnOnce() -> gtk::TextIter) {
        let buffer = &self.buffer;
        // GTK would append to a redone step: an empty step ends it.
        buffer.begin_user_action();
        buffer.end_user_action();
        buffer.begin_user_action();
        let mut end = change();
        // A lone insertion would be merged with what was typed before it.
        buffer.insert(&mut end, " ");
        let mut start = end;
        start.backward_char();
        buffer.delete(&mut start, &mut end);
        buffer.end_user_action();
    }

    /// Remembers a change from disk that was just merged into the text.
    pub(super) fn remember_merge(&self, before: Version, again: fn(&Rc<Self>)) {
        let after = self.version();
        let mut merges = self.merges.borrow_mut();
        merges.settle();
        if before.text != after.text {
            merges.push(before, after, again);
        }
    }

    /// Accepts the text as the user wants it, whatever was undone in it.
    pub(super) fn settle_merges(&self) {
        self.merges.borrow_mut().settle();
    }

    /// Forgets the changes from disk, since the text no longer has anything to do with them.
    pub(super) fn forget_merges(&self) {
        self.merges.take();
    }

    /// Whether the text lacks a change from disk because the user undid it.
    pub(super) fn is_merge_undone(&self) -> bool {
        self.merges.borrow().has_undone()
    }

    /// Records a save that was made while the user had undone changes from disk.
    pub(super) fn written_before_undo(&self, written: &Version) {
        self.merges.borrow_mut().written(written);
    }

    pub(super) fn say_undone(self: &Rc<Self>) {
        let words = gettext("Changes from disk were undone here. Natter asks before saving.");
        let again = self.choice(gettext("Merge Again"), |document| {
            let again = document.merges.borrow().again();
            document.notice.close();
            document.focus();
            if let Some(again) = again {
                again(document);
            }
        });
        self.notice.say(&words, vec![again]);
    }

    fn undone(self: &Rc<Self>) {
        let before = self.merges.borrow_mut().undo(&self.version());
        if let Some(before) = before {
            self.come_from(&before);
            self.show_status();
            self.say_undone();
        }
        if self.is_merge_undone() {
            self.outdated.set(true);
        }
        self.mark_modified();
    }

    fn redone(self: &Rc<Self>) {
        let after = self.merges.borrow_mut().redo(&self.text());
        if let Some(after) = &after {
            self.come_from(after);
            self.show_status();
            self.outdated.set(self.is_merge_undone());
        }
        self.mark_modified();
        if after.is_some() && !self.is_merge_undone() {
            self.notice.close();
            // The file may have changed again meanwhile.
            self.check_disk();
        }
    }

    /// The buffer remembers which step was saved, but that is wrong once the file has changed. A
    /// step that lacks changes on disk is not saved, even if it once was.
    fn mark_modified(&self) {
        let is_on_disk = self.common.borrow().as_deref().map(|common| *common == *self.text());
        if self.outdated.get() {
            self.buffer.set_modified(true);
        } else if let Some(is_on_disk) = is_on_disk {
            self.buffer.set_modified(!is_on_disk || self.disk_state.borrow().is_none());
        }
    }
}

#[cfg(test)]
mod tests;
