//! A long text that is pasted goes along as a file: the message stays one that can be read.

use std::rc::Rc;

use chat_edge::words::fill;
use gettextrs::ngettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use super::Inner;
use super::written::{Pin, Pinned};

/// A text is long from so many characters on.
const LONG: usize = 4_000;
/// Or from so many lines on.
const LONG_LINES: usize = 80;

impl Inner {
    pub(super) fn connect_pasting(self: &Rc<Self>) {
        let weak = Rc::downgrade(self);
        self.text.connect_paste_clipboard(move |text| {
            if let Some(inner) = weak.upgrade() {
                // Where there is no text to paste, GTK never says that it is done.
                let formats = text.clipboard().formats().union_deserialize_types();
                inner.pasting.set(formats.contains_type(glib::Type::STRING));
            }
        });
        let weak = Rc::downgrade(self);
        self.text.buffer().connect_paste_done(move |_, _| {
            if let Some(inner) = weak.upgrade() {
                inner.pasting.set(false);
            }
        });
        // What comes back was in the text before.
        for signal in ["undo", "redo"] {
            let weak = Rc::downgrade(self);
            self.text.buffer().connect_local(signal, false, move |_| {
                if let Some(inner) = weak.upgrade() {
                    inner.pasting.set(false);
                }
                None
            });
        }
        let weak = Rc::downgrade(self);
        self.text.buffer().connect_insert_text(move |buffer, _, text| {
            let Some(inner) = weak.upgrade() else { return };
            if inner.pasting.get() && !inner.setting_text.get() && is_long(text) {
                glib::signal::signal_stop_emission_by_name(buffer, "insert-text");
                inner.pin(Pin {
                    label: inner.free_label(text),
                    word: None,
                    what: Pinned::Text(text.to_owned()),
                });
            }
        });
    }

    /// What a pasted text is called, for person and model.
    fn free_label(&self, text: &str) -> String {
        let lines = text.lines().count();
        let words = ngettext(
            "Pasted text, {count} line",
            "Pasted text, {count} lines",
            u32::try_from(lines).unwrap_or(u32::MAX),
        );
        let label = fill(&words, &[("count", &lines.to_string())]);
        let pins = self.pins.borrow();
        let is_free = |label: &String| pins.iter().all(|pin| pin.label != *label);
        let numbered = (2..).map(|number| format!("{label} ({number})"));
        std::iter::once(label.clone()).chain(numbered).find(is_free).unwrap_or(label.clone())
    }
}

fn is_long(text: &str) -> bool {
    text.chars().nth(LONG).is_some() || text.lines().nth(LONG_LINES).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_at_a_glance_is_not_long() {
        assert!(!is_long(&"a line of some words\n".repeat(LONG_LINES)));
        assert!(is_long(&"a\n".repeat(LONG_LINES + 1)));
        assert!(!is_long(&"ä".repeat(LONG)));
        assert!(is_long(&"ä".repeat(LONG + 1)));
    }
}
