//! Tracks which parts of a chat were shown, so that each byte and each event is shown once.

use std::collections::{HashMap, HashSet};

use chat_core::error::Kind;
use chat_core::event::{
    Event, Failure, SessionEvent, SessionPlaceholder, Snapshot, StopReason, TextKind,
};
use chat_core::message::{
    Ending, Fid, Message, MessageId, Part, Role, ToolCall, ToolCallId, Usage,
};
use chat_core::permission::Action;
use chat_core::tool::{ToolKind, Toolbox};

use crate::output::{Calls, Done, Sink};

use super::asks::Asks;
use super::beginning::{Begun, Follows};

/// The effect of an event.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Followed {
    Well,
    /// The session must be opened again: events were lost, or a request ended while the message waits.
    Lost,
}

/// Tracks what was already shown, so that each byte and each event is shown once.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about the request")]
pub struct Follower {
    /// The messages that were there before it, which are not shown.
    earlier: HashSet<MessageId>,
    /// How much of each part was shown.
    shown: HashMap<(MessageId, usize), usize>,
    /// The calls that were shown, with the message that holds them, since servers restart their ids
    /// with each reply.
    called: HashSet<(MessageId, ToolCallId)>,
    calls: Calls,
    /// Whether the request called a tool.
    has_called: bool,
    ended: HashSet<MessageId>,
    /// The questions that wait for the user.
    pub(super) asks: Asks,
    /// Whether a command was to be run.
    pub(super) runs_commands: bool,
    /// How much text was shown in total.
    pub(super) text_bytes: usize,
    pub(super) done: Option<Done>,
    /// A limit because of which the chat does not go on by itself.
    pub(super) limit: Option<Failure>,
    /// Whether the session itself is at work: it may only wait for its agents.
    pub(super) is_at_work: bool,
    finished: Option<Done>,
    /// The message whose end is awaited.
    awaited: Option<MessageId>,
    /// Whether that message waits until the session is free.
    waits: bool,
    /// Whether that message was taken back: nothing was sent.
    pub(super) is_back: bool,
    /// How the request ended for which the message waited.
    pub(super) passed: Option<Done>,
    /// The place of the last snapshot among the events.
    seq: u64,
    /// Whether a request was at work at the last snapshot, of which nothing was heard since: if an end
    /// comes now, it is that of an earlier request.
    is_unheard: bool,
    /// A reply that ended but is not reported yet: the end of the request says whether all of it is
    /// stored.
    last: Option<Message>,
}

impl Follower {
    /// Shows what follows in a request that has begun.
    pub(super) fn after(begun: &Begun, snapshot: &Snapshot, tools: Toolbox) -> Self {
        let place = |id| snapshot.messages.iter().rposition(|message| message.id == id);
        let earlier = match &begun.follows {
            Follows::All(earlier) => earlier.clone(),
            Follows::Message(sent) => match place(*sent) {
                Some(at) => snapshot.messages[..=at].iter().map(|message| message.id).collect(),
                // It waits until the reply that is being written has ended.
                None => ended(snapshot),
            },
        };
        Self::new(begun.fid.clone(), earlier, tools)
    }

    /// Shows what follows in a chat, whoever makes it go on.
    pub(super) fn of_chat(snapshot: &Snapshot, tools: Toolbox) -> Self {
        Self::new(snapshot.session.fid.clone(), ended(snapshot), tools)
    }

    fn new(fid: Fid, earlier: HashSet<MessageId>, tools: Toolbox) -> Self {
        Self {
            earlier,
            shown: HashMap::new(),
            called: HashSet::new(),
            calls: Calls::new(tools),
            has_called: false,
            ended: HashSet::new(),
            asks: Asks::new(fid),
            runs_commands: false,
            text_bytes: 0,
            done: None,
            limit: None,
            is_at_work: true,
            finished: None,
            awaited: None,
            waits: false,
            is_back: false,
            passed: None,
            seq: 0,
            is_unheard: false,
            last: None,
        }
    }

    /// The session that is followed.
    pub fn fid(&self) -> &Fid {
        self.asks.fid()
    }

    /// Another request begins in the session, with this message if one was sent. Its end is awaited.
    pub(super) fn begin(&mut self, message: Option<MessageId>) {
        (self.done, self.finished, self.last, self.limit) = (None, None, None, None);
        (self.awaited, self.waits) = (message, message.is_some());
        (self.is_back, self.passed) = (false, None);
        (self.runs_commands, self.has_called) = (false, false);
        (self.text_bytes, self.is_at_work) = (0, true);
    }

    /// Whether there is something to show or to ask while no request is followed.
    pub(super) fn is_news(&self) -> bool {
        self.is_at_work || self.finished.is_some() || self.asks.first().is_some()
    }

    /// Shows what is new in the session.
    pub(super) fn open(&mut self, snapshot: &Snapshot, sink: &mut dyn Sink) {
        for message in &snapshot.messages {
            if !self.earlier.contains(&message.id) {
                self.message(message, sink);
            }
        }
        sink.stage(&snapshot.stage);
        self.asks.set_own(snapshot.asks.clone());
        let is_in_branch = || snapshot.messages.iter().any(|it| Some(it.id) == self.awaited);
        let is_queued = snapshot.queue.iter().any(|it| Some(it.id) == self.awaited);
        self.waits = is_queued || (self.waits && !is_in_branch());
        self.is_at_work = snapshot.session.status.is_busy();
        (self.seq, self.is_unheard) = (snapshot.seq, self.is_at_work);
    }

    /// Shows an agent's row, where it is news.
    fn show_row(&mut self, row: &SessionPlaceholder, sink: &mut dyn Sink) {
        if self.asks.set_row(row) {
            sink.agent(row);
        }
    }

    /// Shows an event of this session.
    pub(super) fn event(&mut self, fid: &Fid, event: Event, sink: &mut dyn Sink) -> Followed {
        match event {
            Event::Session { fid: of, seq, event } if of == *fid => {
                self.is_unheard &= seq <= self.seq;
                return self.hear_session(event, sink);
            }
            Event::SessionChanged(row) if row.fid == *fid => {
                self.is_at_work = row.status.is_busy();
            }
            Event::SessionAdded(row) | Event::SessionChanged(row) => self.show_row(&row, sink),
            Event::ApprovalsChanged { asks } => self.asks.set_all(asks),
            Event::RequestFinished { fid: of, reason, usage, error } if of == *fid => {
                let done = Done { reason, usage, error };
                if self.waits {
                    self.passed = Some(done);
                    return Followed::Lost;
                }
                if !self.is_unheard {
                    self.is_at_work = false;
                    self.finished = Some(done);
                }
            }
            Event::SessionRemoved { fid: of } if of == *fid => {
                self.finished = Some(Done {
                    reason: StopReason::Stopped,
                    usage: Usage::default(),
                    error: None,
                });
            }
            Event::Notice(failure) if failure.session.as_ref().is_none_or(|of| of == fid) => {
                if matches!(failure.error.kind, Kind::AgentBudget { .. }) {
                    self.limit = Some(failure);
                } else {
                    sink.notice(&failure);
                }
            }
            _ => {}
        }
        Followed::Well
    }

    /// Shows an event within the session.
    fn hear_session(&mut self, event: SessionEvent, sink: &mut dyn Sink) -> Followed {
        match event {
            SessionEvent::MessageAdded { message } | SessionEvent::MessageChanged { message }
                if !self.earlier.contains(&message.id) =>
            {
                self.waits &= Some(message.id) != self.awaited;
                self.message(&message, sink);
            }
            SessionEvent::TextAdded { message, part, kind, range, text } => {
                let shown = self.shown.entry((message, part)).or_default();
                let Some(new) = shown.checked_sub(range.start).and_then(|at| text.get(at..)) else {
                    return if *shown < range.start { Followed::Lost } else { Followed::Well };
                };
                *shown = range.end.max(*shown);
                self.text_bytes += new.len();
                sink.text(kind, new);
            }
            SessionEvent::ToolCallChanged { call, running: true, .. }
                if self.permissions_of(&call).is_empty() =>
            {
                self.tool_runs(&call, sink);
            }
            // Reading first what is to be changed is no change yet.
            SessionEvent::ToolCallPermitted { call, action, .. } => {
                let only_reads = || self.permissions_of(&call).iter().all(|it| *it == Action::Read);
                if action != Action::Read || only_reads() {
                    self.tool_runs(&call, sink);
                }
            }
            SessionEvent::ToolOutput { tail, .. } => sink.tool_output(&tail),
            SessionEvent::ApprovalsChanged { asks } => self.asks.set_own(asks),
            SessionEvent::TodosChanged { todos } => sink.todos(&todos),
            SessionEvent::Reset => return Followed::Lost,
            SessionEvent::StageChanged { stage } => sink.stage(&stage),
            _ => {}
        }
        Followed::Well
    }

    /// Shows what is new in a message.
    fn message(&mut self, message: &Message, sink: &mut dyn Sink) {
        if let Some(last) = self.last.take_if(|last| last.id != message.id) {
            sink.message(&last);
        }
        for (index, part) in message.parts.iter().enumerate() {
            match part {
                // Text that was already shown turned out to be thinking: it is not shown again.
                Part::Text(_) | Part::Thinking { .. } if self.was_sorted(message) => {}
                Part::Text(text) if message.role == Role::Assistant => {
                    self.part(message.id, index, TextKind::Text, text, sink);
                }
                Part::Thinking { text, .. } => {
                    self.part(message.id, index, TextKind::Thinking, text, sink);
                }
                Part::ToolCall(call) if !self.ended.contains(&message.id) => {
                    self.call(message.id, call, sink);
                }
                Part::ToolResult(result) if !self.ended.contains(&message.id) => {
                    sink.tool_result(self.calls.get(&result.call), result);
                }
                _ => {}
            }
        }
        if message.ended.is_none() {
            return;
        }
        if self.ended.insert(message.id) && message.role == Role::Assistant {
            if message.tool_calls().next().is_some() {
                sink.message(message);
            } else {
                self.last = Some(message.clone());
            }
        }
    }

    /// Shows the reply that ended last, while its request goes on.
    pub(super) fn show_last(&mut self, sink: &mut dyn Sink) {
        if let Some(last) = self.last.take() {
            sink.message(&last);
        }
    }

    /// Whether the end of a request was not taken yet.
    pub(super) fn is_finished(&self) -> bool {
        self.finished.is_some()
    }

    /// Reports the end of the request, and its last reply as it is stored.
    pub(super) fn end(&mut self, done: Done, sink: &mut dyn Sink) {
        if let Some(mut last) = self.last.take() {
            if done.reason == StopReason::Interrupted {
                last.ended = Some(Ending::Interrupted);
            }
            sink.message(&last);
        }
        sink.done(&done);
        self.done = Some(done);
    }

    /// The message whose end is awaited.
    pub(super) fn awaited(&self) -> Option<MessageId> {
        self.awaited
    }

    /// Whether the message waits, and nothing is at work after which it would go out.
    pub(super) fn is_stuck(&self) -> bool {
        self.waits && !self.is_at_work
    }

    /// The message does not go out: the request ends like this.
    pub(super) fn give_up_waiting(&mut self, done: Done) {
        (self.waits, self.is_back) = (false, true);
        self.finished = Some(done);
    }

    /// What a call's tool asks permission for; nothing if it is unknown.
    fn permissions_of(&self, call: &ToolCallId) -> &'static [Action] {
        let name = self.calls.get(call).map(|call| call.name.as_str());
        let tool = name.and_then(|name| self.calls.tools().get(name));
        tool.map(|tool| tool.permissions).unwrap_or_default()
    }

    fn tool_runs(&self, call: &ToolCallId, sink: &mut dyn Sink) {
        if let Some(call) = self.calls.get(call) {
            sink.tool_runs(call);
        }
    }

    fn call(&mut self, message: MessageId, call: &ToolCall, sink: &mut dyn Sink) {
        if self.called.insert((message, call.id.clone())) {
            self.calls.add(call);
            self.has_called = true;
            let tool = self.calls.tools().get(&call.name);
            self.runs_commands |= tool.is_some_and(|tool| tool.kind == ToolKind::Runs);
            sink.tool_call(call);
        }
    }

    /// Whether its parts differ from those that were streamed.
    fn was_sorted(&self, message: &Message) -> bool {
        let shown = self.shown.get(&(message.id, 0)).copied().unwrap_or_default();
        let first = message.parts.first();
        matches!(first, Some(Part::Thinking { text, .. }) if shown > text.len())
    }

    fn part(
        &mut self,
        message: MessageId,
        part: usize,
        kind: TextKind,
        text: &str,
        sink: &mut dyn Sink,
    ) {
        let shown = self.shown.entry((message, part)).or_default();
        if let Some(new) = text.get(*shown..).filter(|new| !new.is_empty()) {
            *shown = text.len();
            self.text_bytes += new.len();
            sink.text(kind, new);
        }
    }

    /// Whether the request ended successfully and no tool was called.
    pub(super) fn ended_without_calls(&self) -> bool {
        let well = |done: &Done| done.reason == StopReason::Complete;
        self.finished.as_ref().is_some_and(well) && !self.has_called
    }

    /// Returns how the request ended, once.
    pub(super) fn finished(&mut self) -> Option<Done> {
        self.finished.take()
    }
}

/// The messages of a session that are complete.
fn ended(snapshot: &Snapshot) -> HashSet<MessageId> {
    let messages = snapshot.messages.iter();
    messages.filter(|message| message.ended.is_some()).map(|message| message.id).collect()
}
