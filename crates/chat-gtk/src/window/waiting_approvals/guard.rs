//! Ignores clicks and keys for a moment after what they would hit has changed.

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use gtk::prelude::*;
use gtk::{gdk, glib};

/// How long they are ignored. A click or key in this time begins it again: a key that is held down
/// presses no other button.
pub(super) const HOLD: Duration = Duration::from_millis(500);

/// Until when clicks and keys are ignored.
#[derive(Debug, Default)]
pub(super) struct InputGuard {
    clicks: Cell<Option<Instant>>,
    keys: Cell<Option<Instant>>,
}

impl InputGuard {
    /// Guards everything in this widget.
    pub(super) fn install(widget: &impl IsA<gtk::Widget>) -> Rc<Self> {
        let guard = Rc::<Self>::default();
        let clicks = gtk::GestureClick::new();
        clicks.set_button(0);
        clicks.set_propagation_phase(gtk::PropagationPhase::Capture);
        let guarding = Rc::clone(&guard);
        clicks.connect_pressed(move |click, _, _, _| {
            if stops(&guarding.clicks) {
                click.set_state(gtk::EventSequenceState::Claimed);
            }
        });
        widget.add_controller(clicks);
        let keys = gtk::EventControllerKey::new();
        keys.set_propagation_phase(gtk::PropagationPhase::Capture);
        let guarding = Rc::clone(&guard);
        keys.connect_key_pressed(move |_, key, _, _| {
            if presses(key) && stops(&guarding.keys) {
                glib::Propagation::Stop
            } else {
                glib::Propagation::Proceed
            }
        });
        widget.add_controller(keys);
        guard
    }

    /// Something has moved.
    pub(super) fn hold_clicks(&self) {
        self.clicks.set(Some(Instant::now() + HOLD));
    }

    /// The focus has moved to another button.
    pub(super) fn hold_keys(&self) {
        self.keys.set(Some(Instant::now() + HOLD));
    }
}

/// Whether it is still guarded, which then begins again.
fn stops(until: &Cell<Option<Instant>>) -> bool {
    let now = Instant::now();
    let held = until.get().is_some_and(|until| now < until);
    until.set(held.then(|| now + HOLD));
    held
}

/// Whether a key presses the button that has the focus.
fn presses(key: gdk::Key) -> bool {
    matches!(
        key,
        gdk::Key::Return
            | gdk::Key::KP_Enter
            | gdk::Key::ISO_Enter
            | gdk::Key::space
            | gdk::Key::KP_Space
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_too_early_is_ignored_and_begins_it_again() {
        let guard = InputGuard::default();
        assert!(!stops(&guard.clicks));
        guard.hold_clicks();
        let first = guard.clicks.get();
        assert!(stops(&guard.clicks) && guard.clicks.get() > first);
        assert!(!stops(&guard.keys), "only the mouse was held up");
        guard.clicks.set(Some(Instant::now()));
        assert!(!stops(&guard.clicks));
        assert_eq!(guard.clicks.get(), None);
    }
}
