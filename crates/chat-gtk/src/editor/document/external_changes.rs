//! Handles changes on disk to an open file: an unchanged text is reloaded; a changed one is never
//! overwritten, and never overwrites the file without asking.

use std::rc::Rc;

use chat_presentation::words::fill;
use gettextrs::gettext;
use gtk::{gio, glib};
use relm4::gtk::prelude::*;

use super::super::disk::{self, Loaded, Refusal};
use super::super::notice::Choice;
use super::{Document, LoadState};

/// How long to wait for further changes, in milliseconds.
const TOGETHER: i32 = 100;

impl Document {
    /// Checks the file whenever something happens to it.
    pub(super) fn watch(self: &Rc<Self>) {
        let file = gio::File::for_path(self.location());
        let flags = gio::FileMonitorFlags::WATCH_MOVES;
        // If nothing more can be watched, saving still notices changes.
        let Ok(monitor) = file.monitor_file(flags, gio::Cancellable::NONE) else { return };
        monitor.set_rate_limit(TOGETHER);
        let weak = Rc::downgrade(self);
        monitor.connect_changed(move |_, _, _, _| {
            if let Some(document) = weak.upgrade() {
                document.check_disk();
            }
        });
        self.monitor.replace(Some(monitor));
    }

    /// Checks the file on disk, and once more if that is requested meanwhile.
    pub(super) fn check_disk(self: &Rc<Self>) {
        self.check_disk_again.set(true);
        if self.load_state.get() != LoadState::Open || self.saving.get() || self.checking_disk.get()
        {
            return;
        }
        self.check_disk_again.set(false);
        self.checking_disk.set(true);
        let (project, path) = (self.project.clone(), self.path());
        let known = self.disk_state.borrow().clone();
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            let (checked, sum) = (path.clone(), known.as_ref().map(|known| known.sum.clone()));
            let read = move || disk::read_if_changed(&project, &path, known.as_ref());
            let read = gio::spawn_blocking(read).await;
            let Some(document) = weak.upgrade() else { return };
            document.checking_disk.set(false);
            // If the text was saved during the comparison, the file is checked again.
            let is_same = document.path() == checked
                && document.disk_state.borrow().as_ref().map(|disk_state| disk_state.sum.clone())
                    == sum;
            match read {
                Ok(Some(read)) if is_same && !document.saving.get() => document.disk_changed(read),
                Ok(Some(_)) => document.check_disk_again.set(true),
                Ok(None) | Err(_) => {}
            }
            if document.check_disk_again.get() {
                document.check_disk();
            }
        });
    }

    /// The file has changed.
    fn disk_changed(self: &Rc<Self>, read: Result<Loaded, Refusal>) {
        match read {
            Ok(loaded) if loaded.partial.is_none() => {
                if self.text() == loaded.text {
                    self.follow(&loaded);
                } else if self.is_merge_undone() {
                    // The user undid the merge, so ask before the next one, too.
                    self.say_undone();
                } else if self.buffer.is_modified() {
                    self.merge(loaded);
                } else {
                    self.take(&loaded);
                }
            }
            Err(Refusal::Gone) => {
                if self.disk_state.take().is_some() {
                    self.settle_merges();
                    self.buffer.set_modified(true);
                    self.outdated.set(false);
                    let text = gettext("“{name}” was deleted on disk. Saving creates it again.");
                    let words = fill(&text, &[("name", &self.name())]);
                    self.notice.say(&words, vec![self.save_as_choice()]);
                }
            }
            // It became too large, or is no longer text: the text here is not touched.
            Ok(_) | Err(_) => self.say_changed(),
        }
    }

    /// Merges the current file, even if the text was already based on it once.
    pub(super) fn merge_again(self: &Rc<Self>) {
        let (project, path) = (self.project.clone(), self.path());
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            let read = gio::spawn_blocking(move || disk::read(&project, &path)).await;
            let (Some(document), Ok(read)) = (weak.upgrade(), read) else { return };
            match read {
                Ok(loaded) if loaded.partial.is_none() && document.text() == loaded.text => {
                    document.follow(&loaded);
                }
                Ok(loaded) => document.merge(loaded),
                Err(_) => document.check_disk(),
            }
        });
    }

    /// The file now has the same text as the buffer.
    fn follow(&self, loaded: &Loaded) {
        self.know(loaded);
        self.buffer.set_modified(false);
        self.notice.close();
    }

    /// The file changed, and has another text than the buffer.
    pub(super) fn say_changed(self: &Rc<Self>) {
        let text = gettext("“{name}” was changed both on disk and here.");
        let mut choices = vec![
            self.choice(gettext("Reload"), |document| document.take_disk(true)),
            self.choice(gettext("Keep Mine"), |document| document.take_disk(false)),
        ];
        if self.common.borrow().is_some() {
            choices.push(self.choice(gettext("Keep Both"), Self::keep_both));
        }
        choices.push(self.save_as_choice());
        self.notice.say(&fill(&text, &[("name", &self.name())]), choices);
    }

    /// An action for this file.
    pub(super) fn choice(
        self: &Rc<Self>,
        label: String,
        act: impl Fn(&Rc<Self>) + 'static,
    ) -> Choice {
        let weak = Rc::downgrade(self);
        let act = move || {
            if let Some(document) = weak.upgrade() {
                act(&document);
            }
        };
        Choice { label, act: Rc::new(act) }
    }

    /// Accepts the current file on disk: its text, or only the fact that it changed, so that the
    /// next save overwrites it.
    pub(super) fn take_disk(self: &Rc<Self>, with_text: bool) {
        let (project, path) = (self.project.clone(), self.path());
        let weak = Rc::downgrade(self);
        glib::spawn_future_local(async move {
            let read = gio::spawn_blocking(move || disk::read(&project, &path)).await;
            let (Some(document), Ok(read)) = (weak.upgrade(), read) else { return };
            document.notice.close();
            document.view.grab_focus();
            match read {
                Ok(loaded) if with_text && loaded.partial.is_none() => document.take(&loaded),
                Ok(loaded) if !with_text && loaded.disk_state.is_some() => {
                    let common = document.common.borrow().clone();
                    document.know(&loaded);
                    // If this is requested twice, the first text is the common base.
                    let mut overwrites = document.overwrites.borrow_mut();
                    *overwrites = overwrites.take().or(common);
                }
                // It is too large now, or has lines that are too long.
                Ok(_) if with_text => document.read_again(),
                Ok(_) => document.say_changed(),
                Err(Refusal::Gone) => {
                    document.disk_state.replace(None);
                    document.outdated.set(false);
                    document.settle_merges();
                }
                Err(refusal) => {
                    document.notice.say(&refusal.sentence(), vec![document.save_as_choice()]);
                }
            }
        });
    }

    /// Replaces the text with that of the file. This can be undone, and the cursor stays where it
    /// is.
    fn take(&self, loaded: &Loaded) {
        let before = self.version();
        self.know(loaded);
        self.overwrites.take();
        self.replace_text(&loaded.text);
        self.remember_merge(before, Self::merge_again);
        self.buffer.set_modified(false);
        self.view.set_editable(!loaded.is_protected);
        self.notice.close();
        if loaded.is_protected {
            self.notice.say(&disk::protected(), Vec::new());
        }
        self.show_status();
    }

    /// Records that the text is based on this file.
    pub(super) fn know(&self, loaded: &Loaded) {
        self.settle_merges();
        let is_whole = loaded.partial.is_none();
        self.common.replace(is_whole.then(|| loaded.text.as_str().into()));
        self.format.set(loaded.format);
        self.disk_state.replace(loaded.disk_state.clone());
        self.outdated.set(false);
    }

    /// Replaces the part of the text that differs, which can be undone.
    pub(super) fn replace_text(&self, new: &str) {
        let old = self.text();
        if old == new {
            return;
        }
        let (start, end_old, end_new) = differing(&old, new);
        let from = old[..start].chars().count() as i32;
        let until = from + old[start..end_old].chars().count() as i32;
        let buffer = &self.buffer;
        // The reader's cursor stays in its line, even if that line changed.
        let cursor = buffer.iter_at_mark(&buffer.get_insert());
        let (line, column) = (cursor.line(), cursor.line_offset());
        let inside = (from..=until).contains(&cursor.offset());
        self.as_one_step(|| {
            let (mut a, mut b) = (buffer.iter_at_offset(from), buffer.iter_at_offset(until));
            buffer.delete(&mut a, &mut b);
            buffer.insert(&mut a, &new[start..end_new]);
            a
        });
        if inside {
            buffer.place_cursor(&self.iter_at(line, column));
        }
    }
}

/// Where two texts begin to differ, and where the difference ends in each. A line ending of two
/// characters is never split.
fn differing(old: &str, new: &str) -> (usize, usize, usize) {
    let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let mut start = old.floor_char_boundary(same).min(new.floor_char_boundary(same));
    if old[..start].ends_with('\r') {
        start -= 1;
    }
    let rest = old.as_bytes()[start..].iter().rev().zip(new.as_bytes()[start..].iter().rev());
    let mut tail = rest.take_while(|(a, b)| a == b).count();
    while !old.is_char_boundary(old.len() - tail) || !new.is_char_boundary(new.len() - tail) {
        tail -= 1;
    }
    if old[old.len() - tail..].starts_with('\n') {
        tail -= 1;
    }
    (start, old.len() - tail, new.len() - tail)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::differing;

    proptest! {
        #[test]
        fn what_differs_put_in_makes_the_new_text(
            old in "[aäö€\r\n]{0,12}",
            new in "[aäö€\r\n]{0,12}",
        ) {
            let (start, end_old, end_new) = differing(&old, &new);
            let made = format!("{}{}{}", &old[..start], &new[start..end_new], &old[end_old..]);
            prop_assert_eq!(made, new);
        }
    }
}
