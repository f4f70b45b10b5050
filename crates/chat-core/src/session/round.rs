//! The round of tools that runs: how far each call is, and results that come before others.
//!
//! A result is stored as soon as it is there, so that neither a stop nor the end of the program takes
//! it along: its message follows the one before it in the order in which they came. What goes to a
//! model is in the order of the calls ([`outgoing`](crate::agent::outgoing)).

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::Session;
use super::state::State;
use super::turn::TurnId;
use crate::error::{Kind, Result};
use crate::event::{CallState, OpenCall, SessionEvent};
use crate::message::{Ask, Message, MessageId, ModelRef, Part, ToolCall, ToolCallId, ToolResult};

/// The calls of a reply whose tools run.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// The calls, in order; none between two rounds.
    calls: Vec<Call>,
    /// Results that are to be stored with the next write.
    reached: Vec<Arc<Message>>,
}

/// A call, and how long it runs.
#[derive(Debug)]
struct Call {
    open: OpenCall,
    clock: Clock,
}

/// Counts how long a call runs while it does not wait for the person.
#[derive(Debug, Default)]
struct Clock {
    /// What was counted before it stood still last.
    ran: Duration,
    /// Since when it counts again.
    since: Option<Instant>,
}

impl Clock {
    /// It counts from now on, or stands still.
    fn set(&mut self, counts: bool, now: Instant) {
        match self.since {
            None if counts => self.since = Some(now),
            Some(since) if !counts => {
                self.ran += now.saturating_duration_since(since);
                self.since = None;
            }
            _ => {}
        }
    }

    fn read(&self, now: Instant) -> Duration {
        let since = self.since.map(|since| now.saturating_duration_since(since));
        self.ran + since.unwrap_or_default()
    }
}

impl Round {
    /// The calls of a reply that has ended are to run.
    pub(super) fn of(reply: &Message) -> Self {
        let calls = reply.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call.id.clone()),
            _ => None,
        });
        let open = |call| {
            let open = OpenCall { message: reply.id, call, state: CallState::Waiting };
            Call { open, clock: Clock::default() }
        };
        Self { calls: calls.map(open).collect(), reached: Vec::new() }
    }

    /// The calls, in order.
    pub(super) fn calls(&self) -> Vec<OpenCall> {
        let now = Instant::now();
        let open = |call: &Call| {
            let mut open = call.open.clone();
            if let CallState::Running { ran, .. } = &mut open.state {
                *ran = call.clock.read(now);
            }
            open
        };
        self.calls.iter().map(open).collect()
    }

    /// These wait for the person, and no others.
    pub(super) fn wait_for(&mut self, asks: &[Arc<Ask>]) {
        let now = Instant::now();
        for Call { open, clock } in &mut self.calls {
            if matches!(open.state, CallState::Running { .. }) {
                clock.set(asks.iter().all(|ask| ask.call != open.call), now);
            }
        }
    }

    /// Notes how far a call is, and gives the message that holds it.
    fn note(&mut self, id: &ToolCallId, state: CallState) -> Option<MessageId> {
        // Of two calls with one id the first that has not ended is meant.
        let is_open = |call: &&mut Call| {
            call.open.call == *id && !matches!(call.open.state, CallState::Done(_))
        };
        let Call { open, clock } = self.calls.iter_mut().find(is_open)?;
        if matches!((&open.state, &state), (CallState::Waiting, CallState::Running { .. })) {
            clock.set(true, Instant::now());
        }
        open.state = state;
        Some(open.message)
    }
}

/// A call runs; how long, its clock tells.
fn running(tail: Arc<str>, bytes: u64) -> CallState {
    CallState::Running { tail, bytes, ran: Duration::ZERO }
}

impl Session {
    /// A call begins.
    pub(super) fn tool_started(&self, turn: TurnId, call: &ToolCall) {
        self.tell_call(turn, call, running(Arc::default(), 0), None);
    }

    /// A call has ended with the result in this message.
    pub(super) fn tool_finished(&self, turn: TurnId, call: &ToolCall, message: &Message) {
        let results = message.parts.iter().filter_map(|part| match part {
            Part::ToolResult(result) => Some(Arc::new(result.clone())),
            _ => None,
        });
        for result in results {
            self.tell_call(turn, call, CallState::Done(Arc::clone(&result)), Some(result));
        }
    }

    fn tell_call(
        &self,
        turn: TurnId,
        call: &ToolCall,
        call_state: CallState,
        result: Option<Arc<ToolResult>>,
    ) {
        let Some(mut state) = self.lock_turn(turn) else { return };
        let Some(message) = state.round.note(&call.id, call_state) else { return };
        let (call, running) = (call.id.clone(), result.is_none());
        state.tell(SessionEvent::ToolCallChanged { message, call, running, result });
    }

    /// A running command wrote more.
    pub(super) fn on_output(&self, turn: TurnId, call: &ToolCall, tail: &str, bytes: u64) {
        let tail: Arc<str> = Arc::from(tail);
        let Some(mut state) = self.lock_turn(turn) else { return };
        let now = running(Arc::clone(&tail), bytes);
        let Some(message) = state.round.note(&call.id, now) else { return };
        let call = call.id.clone();
        state.tell(SessionEvent::ToolOutput { message, call, tail, bytes });
    }

    /// Stores a result while others of its round are still to come. Where the store refuses it, it
    /// is kept in memory, and the next write takes it along.
    pub(super) async fn keep_result(&self, result: Arc<Message>) {
        self.lock().round.reached.push(result);
        let _one = self.keeping.lock().await;
        // Those that came while the store was busy are written at once, by the first who may.
        let results = std::mem::take(&mut self.lock().round.reached);
        if results.is_empty() {
            return;
        }
        let was_stored = self.lock().transcript.with_unsaved([]).is_empty();
        if let Err(error) = self.store_results(&results, None).await
            && was_stored
        {
            self.notice(error);
        }
    }

    /// Stores what is not stored yet of a round's results, and begins another reply after them.
    pub(super) async fn add_results(
        self: &Arc<Self>,
        results: &[Arc<Message>],
        reply: Option<ModelRef>,
    ) -> Result<()> {
        let _one = self.keeping.lock().await;
        let new: Vec<_> = {
            let mut state = self.lock();
            state.round.reached.clear();
            let is_new = |result: &&Arc<Message>| state.transcript.get(result.id).is_none();
            results.iter().filter(is_new).cloned().collect()
        };
        let stored = self.store_results(&new, reply).await;
        self.lock().round = Round::default();
        if stored.is_err() {
            self.save_later();
        }
        stored
    }

    /// Appends results to the transcript, also where the store refuses them: then they wait for it.
    /// One at a time.
    async fn store_results(&self, results: &[Arc<Message>], reply: Option<ModelRef>) -> Result<()> {
        let head = self.lock().transcript.head();
        let mut parent = head.ok_or(Kind::Internal)?;
        let mut chained = Vec::with_capacity(results.len());
        for result in results {
            let result = Message { parent: Some(parent), ..Message::clone(result) };
            parent = result.id;
            chained.push(Arc::new(result));
        }
        let reply = reply.map(|model| Arc::new(Message::reply(Some(parent), model)));
        let messages = self.lock().transcript.with_unsaved(chained.iter().chain(&reply));
        let stored = match messages.last().map(|message| message.id) {
            Some(head) => self.world.store.append(&self.fid, messages, head).await,
            None => Ok(()),
        };
        let mut state = self.lock();
        state.add_results(&chained);
        match (&stored, &reply) {
            (Ok(()), Some(reply)) => {
                state.transcript.all_saved();
                state.begin_reply(reply);
            }
            (Ok(()), None) => state.transcript.all_saved(),
            (Err(_), _) => state.transcript.keep_unsaved(chained),
        }
        stored
    }
}

impl State {
    /// Results of tools stand in the transcript, the last at its head.
    fn add_results(&mut self, results: &[Arc<Message>]) {
        for result in results {
            self.transcript.append(Arc::clone(result));
            self.record.head = Some(result.id);
            self.tell_added(result);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{AskId, Asked, Role};

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_clock_stands_still_while_the_person_is_waited_for() {
        let start = Instant::now();
        let mut clock = Clock::default();
        assert_eq!(clock.read(start), Duration::ZERO);
        clock.set(true, start);
        clock.set(true, start + SECOND);
        assert_eq!(clock.read(start + 2 * SECOND), 2 * SECOND);
        clock.set(false, start + 2 * SECOND);
        clock.set(false, start + 5 * SECOND);
        assert_eq!(clock.read(start + 9 * SECOND), 2 * SECOND);
        clock.set(true, start + 9 * SECOND);
        assert_eq!(clock.read(start + 10 * SECOND), 3 * SECOND);
    }

    #[test]
    fn whoever_looks_at_a_round_is_told_how_long_its_calls_run() {
        let call =
            |id: &str| ToolCall::new(ToolCallId::new(id), "run_command", serde_json::json!({}));
        let calls = [call("c1"), call("c2"), call("c3")];
        let parts = calls.iter().cloned().map(Part::ToolCall).collect();
        let reply = Message { parts, ..Message::text(Role::Assistant, None, "") };
        let mut round = Round::of(&reply);
        for call in &calls[..2] {
            round.note(&call.id, running(Arc::default(), 0));
        }
        let what = Asked::GoOn { rounds: 1 };
        let (id, call) = (AskId::generate(), calls[0].id.clone());
        let ask = Arc::new(Ask { id, call, tool: "run_command".to_owned(), what });
        let counts = |round: &Round| {
            let counts = |call: &Call| call.clock.since.is_some();
            round.calls.iter().map(counts).collect::<Vec<_>>()
        };
        round.wait_for(&[Arc::clone(&ask)]);
        assert_eq!(counts(&round), [false, true, false], "one waits, one's turn is to come");
        round.wait_for(&[]);
        assert_eq!(counts(&round), [true, true, false]);
        let since = round.calls[0].clock.since.unwrap();
        round.note(&calls[0].id, running(Arc::from("text"), 4));
        assert_eq!(round.calls[0].clock.since, Some(since), "what it writes begins nothing anew");
        let read = || round.calls.iter().map(|call| call.clock.read(Instant::now()));
        let before: Vec<_> = read().collect();
        for (call, before) in round.calls().iter().zip(before) {
            if let CallState::Running { ran, .. } = &call.state {
                assert!(*ran >= before && !before.is_zero());
            }
        }
    }
}
