//! Handles Enter and the keys that scroll. The input method sees them first: in many languages
//! Enter completes a word.

use std::cell::Cell;
use std::rc::Rc;

use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

use super::{Inner, Output};

/// What a key press means to the composer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Send,
    /// During a reply: with the other delivery.
    SendOtherwise,
    Break,
    Other,
}

const NONE: gdk::ModifierType = gdk::ModifierType::empty();
const CONTROL: gdk::ModifierType = gdk::ModifierType::CONTROL_MASK;

/// Lets Page Up, Page Down, Ctrl+Home and Ctrl+End scroll the conversation if the field has no text
/// to move in. Returns whether the key was handled.
pub(super) fn scroll(inner: &Inner, key: gdk::Key, modifiers: gdk::ModifierType) -> bool {
    let (output, with) = match key {
        gdk::Key::Page_Up | gdk::Key::KP_Page_Up => (Output::ScrollUp, NONE),
        gdk::Key::Page_Down | gdk::Key::KP_Page_Down => (Output::ScrollDown, NONE),
        gdk::Key::Home | gdk::Key::KP_Home => (Output::ScrollToStart, CONTROL),
        gdk::Key::End | gdk::Key::KP_End => (Output::ScrollToEnd, CONTROL),
        _ => return false,
    };
    let held = modifiers & gtk::accelerator_get_default_mod_mask();
    let scrolls = held == with && inner.text.buffer().char_count() == 0;
    if scrolls {
        inner.tell(output);
    }
    scrolls
}

/// Lets Enter send or break the line; Shift reverses that, and Control always sends, otherwise than
/// usual during a reply. `first` sees each key before, and returns whether it handled it.
pub(crate) fn connect(
    text: &gtk::TextView,
    enter_sends: impl Fn() -> bool + 'static,
    first: impl Fn(gdk::Key, gdk::ModifierType) -> bool + 'static,
    send: impl Fn(bool) + 'static,
) {
    let keys = gtk::EventControllerKey::new();
    keys.set_propagation_phase(gtk::PropagationPhase::Capture);
    let view = text.downgrade();
    let composing = Rc::new(Cell::new(false));
    let composes = Rc::clone(&composing);
    text.connect_preedit_changed(move |_, preedit| composes.set(!preedit.is_empty()));
    keys.connect_key_pressed(move |controller, key, _, modifiers| {
        if !composing.get() && first(key, modifiers) {
            return glib::Propagation::Stop;
        }
        let meaning = meaning(key, modifiers, enter_sends());
        let Some(view) = view.upgrade().filter(|_| meaning != Meaning::Other) else {
            return glib::Propagation::Proceed;
        };
        if controller.current_event().is_some_and(|event| view.im_context_filter_keypress(event)) {
            return glib::Propagation::Stop;
        }
        match meaning {
            Meaning::Send => send(false),
            Meaning::SendOtherwise => send(true),
            Meaning::Break | Meaning::Other => view.emit_insert_at_cursor("\n"),
        }
        glib::Propagation::Stop
    });
    text.add_controller(keys);
}

fn meaning(key: gdk::Key, modifiers: gdk::ModifierType, enter_sends: bool) -> Meaning {
    if !matches!(key, gdk::Key::Return | gdk::Key::KP_Enter | gdk::Key::ISO_Enter) {
        return Meaning::Other;
    }
    if modifiers.contains(gdk::ModifierType::ALT_MASK) {
        return Meaning::Other;
    }
    let shift = modifiers.contains(gdk::ModifierType::SHIFT_MASK);
    if modifiers.contains(gdk::ModifierType::CONTROL_MASK) {
        Meaning::SendOtherwise
    } else if enter_sends != shift {
        Meaning::Send
    } else {
        Meaning::Break
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_setting_turns_enter_and_shift_enter_round() {
        let enter = gdk::Key::Return;
        let none = gdk::ModifierType::empty();
        let shift = gdk::ModifierType::SHIFT_MASK;
        assert_eq!(meaning(enter, none, true), Meaning::Send);
        assert_eq!(meaning(enter, shift, true), Meaning::Break);
        assert_eq!(meaning(enter, none, false), Meaning::Break);
        assert_eq!(meaning(enter, shift, false), Meaning::Send);
        assert_eq!(meaning(gdk::Key::KP_Enter, none, true), Meaning::Send);
    }

    #[test]
    fn control_always_sends_and_letters_are_left_alone() {
        let control = gdk::ModifierType::CONTROL_MASK;
        assert_eq!(meaning(gdk::Key::Return, control, false), Meaning::SendOtherwise);
        assert_eq!(meaning(gdk::Key::Return, control, true), Meaning::SendOtherwise);
        assert_eq!(meaning(gdk::Key::a, control, true), Meaning::Other);
    }
}
