//! Switches to another version of a message: what is seen of the message stays where it is, and so does the keyboard.

use gtk::prelude::*;

use chat_core::event::Snapshot;
use chat_core::message::MessageId;

use super::{Inner, State};
use crate::conversation::model::transcript::Transcript;
use crate::conversation::rows::Rows;
use crate::conversation::widgets::context::Side;

/// A switch to another version that is on its way.
#[derive(Clone, Copy)]
pub(super) struct Switch {
    /// The version.
    message: MessageId,
    /// The button that gets the keyboard once it is drawn.
    keyboard: Option<Side>,
    /// What stays where it is; none once that has its place.
    place: Option<Place>,
    /// How many messages there were from the one that was shown instead.
    below: usize,
}

/// What of a message stays where it is, and where that is: in pixels from the top of the sight.
#[derive(Clone, Copy)]
enum Place {
    /// Where the message begins.
    Top(i32),
    /// The buttons that go to other versions: the message begins above what is seen.
    Buttons(i32),
}

impl Inner {
    /// This version of a message is shown next, which has these buttons beside it.
    pub fn begin_switch(&self, message: MessageId, keyboard: Option<Side>) {
        let (place, below) = place_before(&self.state.borrow(), message);
        self.switch.set(Some(Switch { message, keyboard, place, below }));
        if keyboard.is_some() {
            self.root.set_focusable(true);
            self.root.grab_focus();
        }
    }

    /// How many messages there were from the one on whose version is shown next.
    pub fn below_switch(&self) -> usize {
        self.switch.get().map_or(0, |switch| switch.below)
    }

    /// Whether a snapshot begins after the version that is shown next.
    pub fn begins_after_version(&self, snapshot: &Snapshot) -> bool {
        let has = |switch: Switch| snapshot.messages.iter().any(|it| it.id == switch.message);
        let waits = |switch: &Switch| switch.place.is_some();
        snapshot.more && self.switch.get().filter(waits).is_some_and(|switch| !has(switch))
    }

    /// Whether the version that is shown next is here and waits for its place.
    pub(super) fn places_version(&self) -> bool {
        self.switch.get().filter(|switch| switch.place.is_some()).is_some_and(|switch| {
            self.state.borrow().transcript.entries.iter().any(|it| it.id() == switch.message)
        })
    }

    /// Puts the version where the one before it was, once it is here.
    pub(super) fn place_version(
        &self,
        transcript: &mut Transcript,
        rows: &mut Rows,
        last: Option<usize>,
    ) {
        let Some(switch) = self.switch.get() else { return };
        let Some(place) = switch.place else { return };
        let first = transcript.entries.iter().position(|entry| entry.id() == switch.message);
        let Some(first) = first else { return };
        let unread = transcript.unread();
        rows.prepend_to(&mut transcript.entries[..unread], first);
        rows.read_above(&mut transcript.entries, first);
        let of_message = Rows::of_message(&transcript.entries, first);
        if of_message.is_empty() {
            return;
        }
        let (row, at) = match place {
            Place::Top(at) => (of_message.start, at),
            Place::Buttons(at) => match rows.switch_row(of_message.clone()) {
                Some(row) => (row, at),
                None => (of_message.start, 0),
            },
        };
        rows.make_from(row, of_message.end, &transcript.entries, last);
        rows.put_at(row, at);
        let waits = switch.keyboard.is_some();
        self.switch.set(waits.then_some(Switch { place: None, ..switch }));
    }

    /// The version that was switched to is not among what was read, though there is more to read: once that is, the
    /// reader must not be taken there.
    pub(super) fn forget_missing_version(&self) {
        let Some(switch) = self.switch.get() else { return };
        if self.state.borrow().transcript.more {
            self.switch.set(Some(Switch { place: None, ..switch }));
        }
    }

    /// The button that gets the keyboard, once it is drawn.
    pub(super) fn version_button(&self, state: &State) -> Option<gtk::Button> {
        let Switch { message, keyboard, .. } = self.switch.get()?;
        state.rows.step(&state.transcript.entries, message, keyboard?)
    }

    /// The version is shown: its button gets the keyboard, if nothing else has it by now.
    pub(super) fn return_keyboard(&self, button: &gtk::Button) {
        if self.root.is_focus() {
            button.grab_focus();
        }
        self.end_switch();
    }

    /// The version is not shown after all. Whether the keyboard waited for its button.
    pub fn give_up_switch(&self) -> bool {
        let waited = self.switch.get().is_some_and(|switch| switch.keyboard.is_some());
        let waited = waited && self.root.is_focus();
        self.end_switch();
        waited
    }

    /// Nothing is on its way any more.
    pub(super) fn end_switch(&self) {
        self.switch.take();
        self.root.set_focusable(false);
    }
}

/// Where the message is seen in place of which another version is shown next, and how many there are from it on.
fn place_before(state: &State, version: MessageId) -> (Option<Place>, usize) {
    let State { transcript, rows, .. } = state;
    let entries = &transcript.entries;
    let first = entries.iter().position(|entry| {
        entry.siblings.is_some_and(|it| [it.before, it.behind].contains(&Some(version)))
    });
    let Some(first) = first else { return (None, 0) };
    let of_message = Rows::of_message(entries, first);
    let top_of = |row| rows.top_of(row).map(|top: f64| top.round() as i32);
    let top = top_of(of_message.start);
    let buttons = rows.switch_row(of_message).and_then(top_of);
    let place = match (top, buttons) {
        (Some(top), _) if top >= 0 => Some(Place::Top(top)),
        (_, Some(buttons)) => Some(Place::Buttons(buttons)),
        (top, None) => top.map(Place::Top),
    };
    (place, entries.len() - first)
}
