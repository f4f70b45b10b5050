//! What the turn at work does to its session. Whatever comes from an earlier one is ignored.

use std::sync::MutexGuard;

use super::Session;
use super::parts::turns::TurnId;
use super::state::State;
use crate::client::Delta;
use crate::event::Stage;
use crate::message::{Part, Usage};

impl Session {
    /// The session's state, where this turn is at work.
    pub(super) fn lock_turn(&self, turn: TurnId) -> Option<MutexGuard<'_, State>> {
        let state = self.lock();
        state.turns.is_active(turn).then_some(state)
    }

    /// Adds what arrived to the open reply, and tells those who watch where text grew.
    pub(super) fn apply(&self, turn: TurnId, delta: &Delta) {
        let Some(mut state) = self.lock_turn(turn) else { return };
        if !state.apply(delta) {
            return;
        }
        let turned = *state.turns.stage() != Stage::Looping && state.set_stage(Stage::Streaming);
        drop(state);
        if turned {
            self.tell_changed();
        }
        self.unwritten.notify_one();
    }

    /// The parts of the open reply, tool calls last, and what it cost.
    pub(super) fn open_reply(&self, turn: TurnId) -> (Vec<Part>, Usage) {
        self.lock_turn(turn).map(|mut state| state.transcript.reply()).unwrap_or_default()
    }

    /// Notes what the turn does while no text comes, and tells.
    pub(super) fn set_stage(&self, turn: TurnId, stage: Stage) {
        let turned = self.lock_turn(turn).is_some_and(|mut state| state.set_stage(stage));
        if turned {
            self.tell_changed();
        }
    }
}
