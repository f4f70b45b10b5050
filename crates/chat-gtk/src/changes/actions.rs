//! Carries out what the user does with the shown changes, and keeps the place of what is gone.

use std::rc::Rc;
use std::sync::Arc;

use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

use super::item::{Gap, Item};
use super::row::Act;
use super::{Inner, Output, ReviewAction, Verdict};

impl Inner {
    pub(super) fn act(&self, item: &Item, act: Act) {
        let file = item.file();
        let path = file.change.path.clone();
        match act {
            Act::Toggle => {
                let mut state = self.state.borrow_mut();
                let open = state.options.open.entry(path).or_default();
                *open = !*open;
                drop(state);
                self.renew();
            }
            Act::Answer(verdict) => {
                if self.list.begin_answer() {
                    self.leave_gap(item, verdict);
                }
                let action = if let Some(hunk) = item.hunk() {
                    ReviewAction::hunk(verdict, path, hunk)
                } else {
                    let part = self.state.borrow().listing.part(file);
                    ReviewAction::file(verdict, path, part)
                };
                (self.output)(Output::Answer(action));
            }
            Act::Open => {
                let number = match item {
                    Item::Hunk { number, .. } => Some(*number),
                    _ => None,
                };
                let line = file.line_on_disk(number);
                (self.output)(Output::Open { path, line });
            }
        }
    }

    /// Ctrl+Z undoes the last answer.
    pub(super) fn connect_undo(self: &Rc<Self>) {
        let keys = gtk::EventControllerKey::new();
        let weak = Rc::downgrade(self);
        keys.connect_key_pressed(move |_, key, _, modifiers| {
            let modifiers = modifiers & gtk::accelerator_get_default_mod_mask();
            let is_undo = key == gdk::Key::z && modifiers == gdk::ModifierType::CONTROL_MASK;
            match weak.upgrade().filter(|_| is_undo) {
                Some(inner) => {
                    (inner.output)(Output::Undo);
                    glib::Propagation::Stop
                }
                None => glib::Propagation::Proceed,
            }
        });
        self.root.add_controller(keys);
    }

    /// Leaves a gap where answered rows disappear, since the user may click again at the same
    /// position.
    fn leave_gap(&self, item: &Item, verdict: Verdict) {
        let (height, head) = self.list.heights(item);
        let (file, hunk) = (Arc::clone(item.file()), item.hunk());
        let mut state = self.state.borrow_mut();
        let ids = file.change.hunks.iter().map(|one| one.id);
        let hunks = ids.skip_while(|id| Some(*id) != hunk).skip(1).collect();
        let others = state.listing.files().iter();
        let files = others.skip_while(|other| other.key() != file.key()).skip(1).cloned().collect();
        let head = if hunk.is_some() { head } else { 0 };
        state.options.leave_gap(Gap { file, hunk, verdict, height, head, hunks, files });
    }

    /// Closes the gaps when no click is expected any more.
    pub(super) fn close_gaps(&self) {
        let closed = std::mem::take(&mut self.state.borrow_mut().options.gaps);
        if !closed.is_empty() {
            self.renew();
        }
    }
}
