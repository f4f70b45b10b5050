//! The turn at work in a session.

use std::sync::MutexGuard;

use tokio_util::sync::CancellationToken;

use super::Session;
use super::state::State;
use crate::client::Delta;
use crate::event::{Growth, Stage};
use crate::message::{Part, Usage};

/// The turn at work: a request, from its beginning to its end.
pub(super) struct ActiveTurn {
    pub id: TurnId,
    pub cancel: CancellationToken,
}

/// Which turn of its session this is, counted since the session was loaded. Whatever comes from one
/// that is not at work any more is ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TurnId(u64);

impl TurnId {
    /// The turn after this one.
    pub(super) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl Session {
    /// The session's state, where this turn is at work.
    pub(super) fn lock_turn(&self, turn: TurnId) -> Option<MutexGuard<'_, State>> {
        let state = self.lock();
        let is_active = state.turn.as_ref().is_some_and(|active| active.id == turn);
        is_active.then_some(state)
    }

    /// Adds what arrived to the open reply, and tells those who watch where text grew.
    pub(super) fn apply(&self, turn: TurnId, delta: &Delta) {
        let Some(mut state) = self.lock_turn(turn) else { return };
        let Some(message) = state.transcript.open_reply() else { return };
        let Some(grown) = state.transcript.apply(delta) else { return };
        let growth = Growth {
            fid: self.fid.clone(),
            seq: state.next_seq(),
            message,
            part: grown.part,
            kind: grown.kind,
            from: grown.from,
            to: grown.to,
            text: grown.text,
        };
        for mailbox in state.watchers() {
            mailbox.grow(&growth);
        }
        let turned = state.stage != Stage::Looping && state.set_stage(Stage::Streaming);
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
