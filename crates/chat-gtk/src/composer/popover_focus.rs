//! Returns the keyboard focus to the message when the popover of a button near it closes.

use std::cell::Cell;
use std::rc::Rc;

use gtk::{gdk, glib};
use relm4::gtk::prelude::*;

/// How a popover was opened.
#[derive(Debug, Default)]
struct Opening {
    by_pointer: Cell<bool>,
    /// The widget that had the focus before.
    focus: glib::WeakRef<gtk::Widget>,
}

/// Moves the focus to `text` whenever the popover of a menu button or dropdown closes. It goes back to where it was
/// if that is the button itself, reached by keyboard, or another text in which a shortcut was pressed.
///
/// Letters typed on the button go to `text`, too: they mean nothing there.
pub(super) fn connect(button: &gtk::Widget, text: &gtk::TextView) {
    let parts = || std::iter::successors(button.first_child(), WidgetExt::next_sibling);
    let toggle = parts().find_map(|part| part.downcast::<gtk::ToggleButton>().ok());
    let popover = parts().find_map(|part| part.downcast::<gtk::Popover>().ok());
    let (Some(toggle), Some(popover)) = (toggle, popover) else { return };

    let opening = Rc::new(Opening::default());
    remember_opening(&toggle, &opening);
    let (weak, home) = (button.downgrade(), text.downgrade());
    popover.connect_closed(move |_| {
        if let (Some(button), Some(home)) = (weak.upgrade(), home.upgrade()) {
            opening.return_focus(&button, &home);
        }
    });
    pass_letters_on(&toggle, text);
}

/// Remembers how the popover is opened, and what has the focus then.
fn remember_opening(toggle: &gtk::ToggleButton, opening: &Rc<Opening>) {
    let click =
        gtk::GestureClick::builder().propagation_phase(gtk::PropagationPhase::Capture).build();
    let pointed = Rc::new(Cell::new(false));
    let released = Rc::clone(&pointed);
    click.connect_released(move |click, _, x, y| {
        released.set(click.widget().is_some_and(|toggle| toggle.contains(x, y)));
    });
    toggle.add_controller(click);

    // The state changes before the popover opens and takes the focus.
    let opening = Rc::clone(opening);
    toggle.connect_state_flags_changed(move |toggle, before| {
        let checked = gtk::StateFlags::CHECKED;
        if toggle.state_flags().contains(checked) && !before.contains(checked) {
            opening.by_pointer.set(pointed.replace(false));
            opening.focus.set(toggle.root().and_then(|root| root.focus()).as_ref());
        }
    });
}

/// Types letters that are pressed on the closed button into the text. Space and Enter press the
/// button.
fn pass_letters_on(toggle: &gtk::ToggleButton, text: &gtk::TextView) {
    let keys = gtk::EventControllerKey::new();
    let (weak, text) = (toggle.downgrade(), text.downgrade());
    keys.connect_key_pressed(move |keys, key, _, modifiers| {
        let (Some(toggle), Some(text)) = (weak.upgrade(), text.upgrade()) else {
            return glib::Propagation::Proceed;
        };
        let is_letter =
            key.to_unicode().is_some_and(|letter| !letter.is_control() && !letter.is_whitespace());
        let commands = gdk::ModifierType::CONTROL_MASK
            | gdk::ModifierType::ALT_MASK
            | gdk::ModifierType::SUPER_MASK
            | gdk::ModifierType::META_MASK;
        if toggle.is_active() || !is_letter || modifiers.intersects(commands) {
            return glib::Propagation::Proceed;
        }
        text.grab_focus();
        if keys.forward(&text) { glib::Propagation::Stop } else { glib::Propagation::Proceed }
    });
    toggle.add_controller(keys);
}

impl Opening {
    fn return_focus(&self, button: &gtk::Widget, text: &gtk::TextView) {
        let focus = button.root().and_then(|root| root.focus());
        if focus.is_some_and(|focus| !focus.is_ancestor(button)) {
            // The focus was moved elsewhere while the popover was open.
            return;
        }
        let before = self.focus.upgrade().filter(|before| {
            !self.by_pointer.get()
                && before.is_mapped()
                && (before.is_ancestor(button) || takes_text(before))
        });
        match before {
            // Typing continues where it was, and does not replace the selection.
            Some(before) => match before.downcast_ref::<gtk::Text>() {
                Some(entry) => entry.grab_focus_without_selecting(),
                None => before.grab_focus(),
            },
            None => text.grab_focus(),
        };
    }
}

fn takes_text(widget: &gtk::Widget) -> bool {
    let is_editable = |view: &gtk::TextView| view.is_editable();
    widget.downcast_ref().is_some_and(is_editable) || widget.is::<gtk::Text>()
}
