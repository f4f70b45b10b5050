//! One turn of a session, as the task that runs it sees it.

use std::sync::{Arc, MutexGuard};

use super::Session;
use super::parts::turns::TurnId;
use super::state::State;
use crate::client::Delta;
use crate::event::Stage;
use crate::message::{Part, Usage};

/// A turn from its beginning to its end. What it does once another one is at work is ignored.
#[derive(Clone)]
pub(super) struct RunningTurn {
    pub session: Arc<Session>,
    pub id: TurnId,
}

impl RunningTurn {
    /// The session's state, where this turn is at work.
    pub(super) fn lock(&self) -> Option<MutexGuard<'_, State>> {
        let state = self.session.lock();
        state.turns.is_active(self.id).then_some(state)
    }

    /// Adds what arrived to the open reply, and notifies watchers where text grew.
    pub(super) fn apply(&self, delta: &Delta) {
        let Some(mut state) = self.lock() else { return };
        if !state.apply(delta) {
            return;
        }
        let turned = *state.turns.stage() != Stage::Looping && state.set_stage(Stage::Streaming);
        drop(state);
        if turned {
            self.session.tell_changed();
        }
        self.session.unwritten.notify_one();
    }

    /// The parts of the open reply, tool calls last, and what it cost.
    pub(super) fn open_reply(&self) -> (Vec<Part>, Usage) {
        self.lock().map(|mut state| state.transcript.reply()).unwrap_or_default()
    }

    /// Notes what the turn does while no text comes, and notifies watchers.
    pub(super) fn set_stage(&self, stage: Stage) {
        let turned = self.lock().is_some_and(|mut state| state.set_stage(stage));
        if turned {
            self.session.tell_changed();
        }
    }
}
