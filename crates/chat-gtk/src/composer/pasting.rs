//! Attaches a long pasted or dropped text as a file, so that the message stays readable.

use std::rc::Rc;

use chat_presentation::words::fill;
use gettextrs::ngettext;
use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

use super::copied_files::has_files;
use super::joining::labels;
use super::plain_words::PlainWords;
use super::written::{Pin, Pinned};
use super::{Inner, room};

/// A text with this many characters is long.
const LONG: usize = 4_000;
/// So is a text with this many lines.
const LONG_LINES: usize = 80;

/// A letter is at least this wide, in pixels.
const STEP: usize = 4;

impl Inner {
    /// Handles text from elsewhere in one way, whether it is pasted by keyboard or middle button,
    /// or dropped.
    pub(super) fn connect_pasting(self: &Rc<Self>) {
        let weak = Rc::downgrade(self);
        self.text.connect_paste_clipboard(move |text| {
            let Some(inner) = weak.upgrade() else { return };
            if inner.paste_files(&text.clipboard()) {
                glib::signal::signal_stop_emission_by_name(text, "paste-clipboard");
            } else if has_text(&text.clipboard().formats()) {
                // Text from one of the program's own editors would arrive in many coloured pieces.
                glib::signal::signal_stop_emission_by_name(text, "paste-clipboard");
                inner.paste_from(&text.clipboard(), None);
            }
        });
        self.connect_middle_button();
        self.connect_drops();
        self.connect_typing();
    }

    /// A pasted word that is then typed by hand counts as a mention.
    fn connect_typing(self: &Rc<Self>) {
        let weak = Rc::downgrade(self);
        // Runs after the buffer's handler, so that the letter is there.
        self.text.buffer().connect_local("insert-text", true, move |values| {
            let inner = weak.upgrade()?;
            let text = values.get(2)?.get::<String>().ok()?;
            // Undo inserts more than one letter.
            let is_typed = text.chars().count() == 1 && text.chars().all(char::is_alphanumeric);
            if is_typed && !inner.putting_in.get() && !inner.setting_text.get() {
                inner.mean_word_before_cursor();
            }
            None
        });
    }

    fn connect_middle_button(self: &Rc<Self>) {
        let click = gtk::GestureClick::builder()
            .button(gdk::BUTTON_MIDDLE)
            .propagation_phase(gtk::PropagationPhase::Capture)
            .build();
        let weak = Rc::downgrade(self);
        click.connect_pressed(move |click, _, x, y| {
            let Some(inner) = weak.upgrade() else { return };
            let clipboard = inner.text.primary_clipboard();
            let is_wanted = inner.text.settings().is_gtk_enable_primary_paste();
            if is_wanted && has_text(&clipboard.formats()) {
                click.set_state(gtk::EventSequenceState::Claimed);
                let place = inner.place_at(x, y);
                let mark = inner.text.buffer().create_mark(None, &place, true);
                inner.text.grab_focus();
                inner.paste_from(&clipboard, Some(mark));
            }
        });
        self.text.add_controller(click);
    }

    fn connect_drops(self: &Rc<Self>) {
        let target = gtk::DropTarget::new(glib::Type::INVALID, gdk::DragAction::COPY);
        // Who offers files offers their names, too.
        target.set_types(&[gdk::FileList::static_type(), glib::Type::STRING]);
        target.set_propagation_phase(gtk::PropagationPhase::Capture);
        let weak = Rc::downgrade(self);
        target.connect_accept(move |_, drop| {
            let is_wanted = |inner: &Rc<Self>| {
                has_files(&drop.formats()) || has_text(&drop.formats()) && !inner.is_own(drop)
            };
            weak.upgrade().is_some_and(|inner| is_wanted(&inner))
        });
        let weak = Rc::downgrade(self);
        target.connect_drop(move |_, value, x, y| {
            let Some(inner) = weak.upgrade() else { return false };
            if let Ok(files) = value.get::<gdk::FileList>() {
                inner.attach_list(&files);
                inner.text.grab_focus();
                return true;
            }
            let Ok(text) = value.get::<String>() else { return false };
            inner.text.buffer().place_cursor(&inner.place_at(x, y));
            inner.paste(&text);
            inner.text.grab_focus();
            true
        });
        self.text.add_controller(target);
    }

    /// Whether this is a part of the text itself that is being moved.
    fn is_own(&self, drop: &gdk::Drop) -> bool {
        let dragged = drop.drag().map(|drag| drag.content());
        let buffer = dragged.and_then(|content| content.value(gtk::TextBuffer::static_type()).ok());
        let buffer = buffer.and_then(|value| value.get::<gtk::TextBuffer>().ok());
        buffer.is_some_and(|buffer| buffer == self.text.buffer())
    }

    /// The text position at a point of the field.
    fn place_at(&self, x: f64, y: f64) -> gtk::TextIter {
        let widget = gtk::TextWindowType::Widget;
        let (x, y) = self.text.window_to_buffer_coords(widget, x as i32, y as i32);
        let end = self.text.buffer().end_iter();
        let last = self.text.iter_location(&end);
        if y >= last.y() + last.height() {
            return end;
        }
        let at = |x| self.text.iter_at_location(x, y);
        // To the right of a line, its end counts.
        let left = || (0..x).rev().step_by(STEP).find_map(at);
        let after = || {
            let mut letter = left()?;
            // A letter may consist of several characters.
            letter.forward_cursor_position();
            Some(letter)
        };
        at(x).or_else(after).unwrap_or_else(|| self.text.line_at_y(y).0)
    }

    /// Inserts a clipboard's content, at this position or where the cursor is by then.
    fn paste_from(self: &Rc<Self>, clipboard: &gdk::Clipboard, at: Option<gtk::TextMark>) {
        let (weak, clipboard) = (Rc::downgrade(self), clipboard.clone());
        glib::spawn_future_local(async move {
            let pasted = clipboard.read_text_future().await.ok().flatten();
            let Some(inner) = weak.upgrade() else { return };
            let buffer = inner.text.buffer();
            // The selection was read by now, and may be lost.
            if let Some(mark) = at {
                buffer.place_cursor(&buffer.iter_at_mark(&mark));
                buffer.delete_mark(&mark);
            }
            if let Some(pasted) = pasted {
                inner.paste(&pasted);
            }
        });
    }

    /// Inserts a text at the cursor, replacing the selection; a long one becomes a pin.
    pub(super) fn paste(&self, text: &str) {
        let buffer = self.text.buffer();
        buffer.begin_user_action();
        buffer.delete_selection(true, true);
        if is_long(text) {
            self.pin(Pin {
                label: self.free_label(&label_of(text)),
                word: None,
                what: Pinned::Text(text.to_owned()),
            });
        } else {
            self.put_in(|| buffer.insert_interactive_at_cursor(text, true), text);
        }
        buffer.end_user_action();
        room::follow_cursor(&self.scroller, &self.text);
    }

    /// Inserts a text that was not typed: it mentions nothing and starts no suggestions.
    pub(super) fn put_in<T>(&self, insert: impl FnOnce() -> T, text: &str) {
        self.plain.borrow_mut().add_but(PlainWords::of(text), &self.meant.borrow());
        self.putting_in.set(true);
        insert();
        self.putting_in.set(false);
        self.pins_changed();
    }

    /// This label, or a numbered one where it is taken: the user and the model tell by it what is what.
    pub(super) fn free_label(&self, wanted: &str) -> String {
        let pins = self.pins.borrow();
        let is_free = |label: &String| pins.iter().all(|pin| pin.label != *label);
        labels(wanted).find(is_free).unwrap_or_default()
    }
}

/// The label of a pasted text.
fn label_of(text: &str) -> String {
    let lines = text.lines().count();
    let words = ngettext(
        "Pasted text, {count} line",
        "Pasted text, {count} lines",
        u32::try_from(lines).unwrap_or(u32::MAX),
    );
    fill(&words, &[("count", &lines.to_string())])
}

fn has_text(formats: &gdk::ContentFormats) -> bool {
    formats.clone().union_deserialize_types().contains_type(glib::Type::STRING)
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
