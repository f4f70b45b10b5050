//! Goes from one of the user's own messages to the next.

use std::rc::Rc;

use gtk::prelude::*;

use super::{Inner, State};
use crate::conversation::model::row_kind::RowKind;
use crate::conversation::rows::Rows;
use crate::conversation::widgets::context::Output;

impl Inner {
    /// Edits the message of the user's that has the keyboard, unless that is on a link. Whether it does.
    pub(super) fn edit_at_focus(&self) -> bool {
        let Some(focus) = self.column.root().and_then(|root| root.focus()) else { return false };
        let label = focus.downcast_ref::<gtk::Label>();
        let is_text = label.is_some() || focus.is::<gtk::TextView>();
        if !is_text || label.is_some_and(|label| label.current_uri().is_some()) {
            return false;
        }
        let message = self.state.try_borrow().ok().and_then(|state| {
            let row = state.rows.index_of(&focus).filter(|row| state.rows.is_own(*row))?;
            if state.rows.is_on_link(row, &focus) {
                return None;
            }
            let entry = &state.transcript.entries[Rows::entry_of(row, &state.transcript.entries)];
            entry.message.is_of_user().then(|| entry.id())
        });
        message.is_some_and(|message| {
            (self.output)(Output::Edit(message));
            true
        })
    }

    /// Goes to the user's next message, or the one before: it is put at the top and gets the keyboard. Behind the
    /// last one is the end; before the first that is loaded, the start.
    pub fn step_message(self: &Rc<Self>, forward: bool) {
        // What was reported and is not drawn yet has no rows.
        self.paint();
        let focused = self.column.root().and_then(|root| root.focus());
        let mut state = self.state.borrow_mut();
        let current = focused.and_then(|focus| state.rows.index_of(&focus));
        // With the keyboard elsewhere, the reader is at what they see first.
        let current = current.filter(|row| state.rows.is_own(*row));
        // From the end, the last one is the one before.
        let from_end = (!forward && self.column.follows()).then(|| state.rows.len());
        let from = current.or(from_end).or_else(|| state.rows.first_in_sight()).unwrap_or(0);
        let is_cut = current.is_none() && state.rows.top_of(from).is_some_and(|top| top < -1.0);
        let is_target = |row: usize| {
            if forward { row > from } else { row < from || (row == from && is_cut) }
        };
        let mut found = own_row(&state, forward, is_target);
        if found.is_none() && !forward {
            let State { transcript, rows, .. } = &mut *state;
            let unread = transcript.unread();
            let before = rows.len();
            // Back to the nearest message of the user that has no rows yet.
            rows.prepend_to_own(&mut transcript.entries[..unread]);
            let added = rows.len() - before;
            found = own_row(&state, false, |row| row < from + added);
        }
        match found {
            Some(row) => {
                let State { transcript, rows, .. } = &mut *state;
                rows.make_near(row, &transcript.entries, transcript.last());
                rows.put_at(row, 12);
                rows.focus_own(row);
                drop(state);
                self.schedule();
            }
            None if forward => self.column.follow(),
            None => {
                drop(state);
                self.go_to_start();
            }
        }
    }
}

/// The nearest row with a message of the user for which this holds.
fn own_row(state: &State, forward: bool, is_target: impl Fn(usize) -> bool) -> Option<usize> {
    let mut row = 0;
    let mut found = None;
    for entry in &state.transcript.entries {
        let is_own = entry.rows > 0 && entry.shown_kinds().first() == Some(&RowKind::User);
        if is_own && is_target(row) {
            found = Some(row);
            if forward {
                break;
            }
        }
        row += entry.rows;
    }
    found
}
