//! Asks for a line to go to, as `12` or `12:5`.

use std::rc::Rc;

use gettextrs::gettext;
use gtk::glib;
use relm4::gtk::prelude::*;

use super::TextPosition;
use crate::accessible;

/// The popover.
pub(super) struct GoTo {
    popover: gtk::Popover,
    entry: gtk::Entry,
}

impl GoTo {
    /// A closed one, above a widget. `done` gets the place that was asked for.
    pub(super) fn new(
        above: &impl IsA<gtk::Widget>,
        done: impl Fn(TextPosition) + 'static,
    ) -> Rc<Self> {
        let entry = gtk::Entry::builder()
            .placeholder_text(gettext("Line"))
            .width_chars(10)
            .input_purpose(gtk::InputPurpose::Digits)
            .build();
        accessible::set_label(&entry, &gettext("Go to Line"));
        let button =
            gtk::Button::builder().label(gettext("Go")).css_classes(["suggested-action"]).build();
        let line = gtk::Box::builder().spacing(6).build();
        line.append(&entry);
        line.append(&button);
        let popover = gtk::Popover::builder().child(&line).position(gtk::PositionType::Top).build();
        popover.set_parent(above);
        // GTK does not destroy a popover together with its parent.
        let weak = popover.downgrade();
        above.connect_destroy(move |_| {
            if let Some(popover) = weak.upgrade() {
                popover.unparent();
            }
        });
        let weak = popover.downgrade();
        entry.connect_activate(move |entry| {
            let Some(place) = place(&entry.text()) else {
                entry.error_bell();
                return;
            };
            if let Some(popover) = weak.upgrade() {
                popover.popdown();
            }
            done(place);
        });
        let weak = entry.downgrade();
        button.connect_clicked(move |_| {
            if let Some(entry) = weak.upgrade() {
                entry.emit_activate();
            }
        });
        Rc::new(Self { popover, entry })
    }

    /// Asks for a line, out of this many.
    pub(super) fn open(&self, lines: i32) {
        self.entry.set_text("");
        self.entry.set_placeholder_text(Some(&format!("1–{lines}")));
        self.popover.popup();
        let entry = self.entry.downgrade();
        glib::idle_add_local_once(move || {
            if let Some(entry) = entry.upgrade() {
                entry.grab_focus();
            }
        });
    }
}

/// Parses a typed position.
fn place(typed: &str) -> Option<TextPosition> {
    let (line, column) = typed.trim().split_once([':', ',']).unwrap_or((typed.trim(), "1"));
    let line = line.trim().parse().ok()?;
    let column = column.trim().parse().ok()?;
    Some(TextPosition { line, column })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_are_read() {
        assert_eq!(place(" 12"), Some(TextPosition { line: 12, column: 1 }));
        assert_eq!(place("12:5"), Some(TextPosition { line: 12, column: 5 }));
        assert_eq!(place(""), None);
        assert_eq!(place("x"), None);
    }
}
