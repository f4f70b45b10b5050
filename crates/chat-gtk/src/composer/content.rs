//! Reads, replaces and takes what is written in the field.

use gtk::glib;
use relm4::gtk::prelude::*;

use super::written::Written;
use super::{Inner, Read};

impl Inner {
    pub(super) fn content_text(&self) -> glib::GString {
        let buffer = self.text.buffer();
        let (start, end) = buffer.bounds();
        buffer.text(&start, &end, false)
    }

    /// Parses the field's content, and updates everything that depends on it.
    pub(super) fn look_again(&self) {
        let text = self.content_text();
        let live = self.live(&text, self.written_at());
        self.meant.borrow_mut().extend(live.iter().filter_map(|pin| pin.word.as_deref()));
        let is_blank = !self.goes_alone() && text.trim().is_empty();
        self.read.replace(Read { text, live, is_blank });
        self.show_chips();
        self.show_buttons();
        self.tell_pages();
        self.tell_files();
    }

    pub(super) fn content(&self) -> Written {
        let read = self.read.borrow();
        Written {
            text: read.text.to_string(),
            pins: read.live.clone(),
            plain: self.plain.borrow().clone(),
        }
    }

    pub(super) fn set_content(&self, written: &Written) {
        self.setting_text.set(true);
        self.set_pins(&written.pins);
        self.plain.replace(written.plain.clone());
        let buffer = self.text.buffer();
        // Undo must not remove a restored draft.
        buffer.begin_irreversible_action();
        buffer.set_text(&written.text);
        buffer.end_irreversible_action();
        buffer.place_cursor(&buffer.end_iter());
        self.setting_text.set(false);
        self.look_again();
    }

    pub(super) fn take(&self) -> Written {
        let text = self.content_text();
        let pins = self.live(&text, None);
        let written = Written { text: text.into(), pins, plain: self.plain.take() };
        self.set_content(&Written::default());
        written
    }

    pub(super) fn is_blank(&self) -> bool {
        self.read.borrow().is_blank
    }
}
