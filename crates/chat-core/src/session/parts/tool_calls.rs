//! Follows the running calls of a reply: how far each is, and which results are to be stored next.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chat_permission::Action;

use crate::event::{CallState, OpenCall, SessionEvent};
use crate::message::{
    ApprovalRequest, Fid, Message, MessageId, Part, ToolCall, ToolCallId, ToolResult,
};

/// The running calls of a reply.
#[derive(Debug, Default)]
pub(crate) struct ToolCalls {
    /// The calls, in order; none between two rounds.
    calls: Vec<RunningCall>,
    /// Results that are to be stored with the next write.
    reached: Vec<Arc<Message>>,
}

/// A call, and how long it runs.
#[derive(Debug)]
struct RunningCall {
    call: Arc<ToolCall>,
    open: OpenCall,
    clock: Clock,
    /// The agents that it has started, or waits for.
    agents: Vec<Fid>,
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

impl ToolCalls {
    /// The calls of a reply that has ended are to run.
    pub(crate) fn of(reply: &Message) -> Self {
        let calls = reply.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(Arc::new(call.clone())),
            _ => None,
        });
        let open = |call: Arc<ToolCall>| {
            let state = CallState::Waiting;
            let open = OpenCall { message: reply.id, call: call.id.clone(), state };
            RunningCall { call, open, clock: Clock::default(), agents: Vec::new() }
        };
        Self { calls: calls.map(open).collect(), reached: Vec::new() }
    }

    /// The calls, in order.
    pub(crate) fn calls(&self) -> Vec<OpenCall> {
        let now = Instant::now();
        let open = |call: &RunningCall| {
            let mut open = call.open.clone();
            if let CallState::Running { ran, agents, .. } = &mut open.state {
                *ran = call.clock.read(now);
                agents.clone_from(&call.agents);
            }
            open
        };
        self.calls.iter().map(open).collect()
    }

    /// The call that runs; of several the last one in order.
    pub(crate) fn current(&self) -> Option<Arc<ToolCall>> {
        let runs = |call: &&RunningCall| matches!(call.open.state, CallState::Running { .. });
        self.calls.iter().rfind(runs).map(|call| Arc::clone(&call.call))
    }

    /// These wait for the person, and no others.
    pub(crate) fn wait_for(&mut self, asks: &[Arc<ApprovalRequest>]) {
        let now = Instant::now();
        for RunningCall { open, clock, .. } in &mut self.calls {
            if matches!(open.state, CallState::Running { .. }) {
                clock.set(asks.iter().all(|ask| ask.call != open.call), now);
            }
        }
    }

    /// A call begins.
    pub(crate) fn start(&mut self, call: &ToolCallId) -> Option<SessionEvent> {
        let message = self.note(call, running(Arc::default(), 0))?;
        let call = call.clone();
        Some(SessionEvent::ToolCallChanged { message, call, running: true, result: None })
    }

    /// What a call does is permitted.
    pub(crate) fn permitted(&self, call: &ToolCallId, action: Action) -> Option<SessionEvent> {
        let is_running = |known: &&RunningCall| {
            known.open.call == *call && matches!(known.open.state, CallState::Running { .. })
        };
        let message = self.calls.iter().find(is_running)?.open.message;
        Some(SessionEvent::ToolCallPermitted { message, call: call.clone(), action })
    }

    /// The command of a call wrote more: this is the end of it, of so many bytes.
    pub(crate) fn output(
        &mut self,
        call: &ToolCallId,
        tail: &str,
        bytes: u64,
    ) -> Option<SessionEvent> {
        let tail: Arc<str> = Arc::from(tail);
        let message = self.note(call, running(Arc::clone(&tail), bytes))?;
        Some(SessionEvent::ToolOutput { message, call: call.clone(), tail, bytes })
    }

    /// A call has started these agents, or waits for them.
    pub(crate) fn agents(&mut self, call: &ToolCallId, agents: Vec<Fid>) -> Option<SessionEvent> {
        let runs = |known: &&mut RunningCall| {
            known.open.call == *call && matches!(known.open.state, CallState::Running { .. })
        };
        let known = self.calls.iter_mut().find(runs)?;
        known.agents.clone_from(&agents);
        let message = known.open.message;
        Some(SessionEvent::AgentsAtWork { message, call: call.clone(), agents })
    }

    /// A call has ended.
    pub(crate) fn finish(
        &mut self,
        call: &ToolCallId,
        result: &Arc<ToolResult>,
    ) -> Option<SessionEvent> {
        let message = self.note(call, CallState::Done(Arc::clone(result)))?;
        let (call, result) = (call.clone(), Some(Arc::clone(result)));
        Some(SessionEvent::ToolCallChanged { message, call, running: false, result })
    }

    /// This result is to be stored with the next write.
    pub(crate) fn reached(&mut self, result: Arc<Message>) {
        self.reached.push(result);
    }

    /// Takes the results that are to be stored now.
    pub(crate) fn take_reached(&mut self) -> Vec<Arc<Message>> {
        std::mem::take(&mut self.reached)
    }

    /// Notes how far a call is, and gives the message that holds it.
    fn note(&mut self, id: &ToolCallId, state: CallState) -> Option<MessageId> {
        // Of two calls with one id the first that has not ended is meant.
        let is_open = |call: &&mut RunningCall| {
            call.open.call == *id && !matches!(call.open.state, CallState::Done(_))
        };
        let RunningCall { open, clock, .. } = self.calls.iter_mut().find(is_open)?;
        if matches!((&open.state, &state), (CallState::Waiting, CallState::Running { .. })) {
            clock.set(true, Instant::now());
        }
        open.state = state;
        Some(open.message)
    }
}

/// A call runs; its clock says for how long, and with which agents is kept apart.
fn running(tail: Arc<str>, bytes: u64) -> CallState {
    CallState::Running { tail, bytes, ran: Duration::ZERO, agents: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{ApprovalId, ApprovalKind, Role};

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
    fn the_call_at_work_is_the_last_that_runs() {
        let call =
            |id: &str| ToolCall::new(ToolCallId::new(id), "read_file", serde_json::json!({}));
        let calls = [call("c1"), call("c2")];
        let parts = calls.iter().cloned().map(Part::ToolCall).collect();
        let mut running =
            ToolCalls::of(&Message { parts, ..Message::text(Role::Assistant, None, "") });
        assert_eq!(running.current(), None);
        for call in &calls {
            running.start(&call.id);
            assert_eq!(running.current().as_deref(), Some(call));
        }
        running.finish(&calls[1].id, &Arc::new(ToolResult::to(&calls[1], "", false)));
        assert_eq!(running.current().as_deref(), Some(&calls[0]));
    }

    #[test]
    fn whoever_looks_at_calls_is_told_how_long_they_run() {
        let call =
            |id: &str| ToolCall::new(ToolCallId::new(id), "run_command", serde_json::json!({}));
        let calls = [call("c1"), call("c2"), call("c3")];
        let parts = calls.iter().cloned().map(Part::ToolCall).collect();
        let reply = Message { parts, ..Message::text(Role::Assistant, None, "") };
        let mut running = ToolCalls::of(&reply);
        for call in &calls[..2] {
            assert!(running.start(&call.id).is_some());
        }
        let what = ApprovalKind::GoOn { rounds: 1 };
        let (id, call) = (ApprovalId::generate(), calls[0].id.clone());
        let ask =
            Arc::new(ApprovalRequest { id, call, tool: "run_command".to_owned(), kind: what });
        let counts = |running: &ToolCalls| {
            let counts = |call: &RunningCall| call.clock.since.is_some();
            running.calls.iter().map(counts).collect::<Vec<_>>()
        };
        running.wait_for(&[Arc::clone(&ask)]);
        assert_eq!(counts(&running), [false, true, false], "one waits, one's turn is to come");
        running.wait_for(&[]);
        assert_eq!(counts(&running), [true, true, false]);
        let since = running.calls[0].clock.since.unwrap();
        running.output(&calls[0].id, "text", 4);
        assert_eq!(
            running.calls[0].clock.since,
            Some(since),
            "its output does not restart the clock"
        );
        let read = || running.calls.iter().map(|call| call.clock.read(Instant::now()));
        let before: Vec<_> = read().collect();
        for (call, before) in running.calls().iter().zip(before) {
            if let CallState::Running { ran, .. } = &call.state {
                assert!(*ran >= before && !before.is_zero());
            }
        }
    }
}
