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
            let clipboard = text.clipboard();
            let formats = clipboard.formats().union_deserialize_types();
            if !formats.contains_type(glib::Type::STRING) {
                return;
            }
            // Text from one of the program's own editors would come in many coloured pieces.
            glib::signal::signal_stop_emission_by_name(text, "paste-clipboard");
            let weak = weak.clone();
            glib::spawn_future_local(async move {
                let pasted = clipboard.read_text_future().await.ok().flatten();
                if let (Some(inner), Some(pasted)) = (weak.upgrade(), pasted) {
                    inner.paste(&pasted);
                }
            });
        });
    }

    /// Puts a text where the cursor is, in the place of what is selected; a long one is pinned.
    fn paste(&self, text: &str) {
        let buffer = self.text.buffer();
        buffer.begin_user_action();
        buffer.delete_selection(true, true);
        if is_long(text) {
            self.pin(Pin {
                label: self.free_label(text),
                word: None,
                what: Pinned::Text(text.to_owned()),
            });
        } else {
            buffer.insert_interactive_at_cursor(text, true);
        }
        buffer.end_user_action();
        self.text.scroll_mark_onscreen(&buffer.get_insert());
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
