//! What a session knows.

use std::path::PathBuf;
use std::sync::Arc;

use chat_permission::Mode;
use tokio_util::sync::CancellationToken;

use super::parts::last_usage::LastUsage;
use super::parts::pending_approvals::PendingApprovals;
use super::parts::queue::Queue;
use super::parts::steering::{Answering, Steered};
use super::parts::todos::Todos;
use super::parts::tool_calls::ToolCalls;
use super::parts::transcript::Transcript;
use super::parts::turns::Turns;
use super::parts::watchers::Watchers;
use crate::client::Delta;
use crate::error::Error;
use crate::event::{
    AgentActivity, Mailbox, SessionEvent, SessionPlaceholder, Snapshot, Stage, Status,
};
use crate::message::{
    AgentState, BackgroundCommand, Ending, Message, MessageId, Queued, ReplyFailure, Role,
    SessionMeta,
};
use crate::store::SessionRecord;

/// A session's state. Everything in it changes under the session's lock.
pub(super) struct State {
    pub record: SessionRecord,
    pub transcript: Transcript,
    /// What waits until the session is free.
    pub queue: Queue,
    pub turns: Turns,
    /// How the request at work answers.
    pub answering: Option<Answering>,
    /// What its agent lets its tools do unasked at most.
    pub agent_ceiling: Option<Mode>,
    /// What was delivered with the results of its last round.
    pub steered: Steered,
    /// The tools that run.
    pub tool_calls: ToolCalls,
    /// What waits for the person.
    pub pending_approvals: PendingApprovals,
    pub last_usage: LastUsage,
    pub todos: Todos,
    /// By how many nothing may begin any more: the session is being deleted, or the program ends.
    halts: u32,
    /// Whether it was deleted: where that is taken back, another one has its place.
    pub is_deleted: bool,
    /// Whether a request has ended and the next message of the queue is about to go out.
    pub begins_next: bool,
    /// Ends the asking for a better title.
    pub titling: CancellationToken,
    /// The message that began the request at work.
    pub begun_by: Option<MessageId>,
    /// Why a waiting message could not be sent.
    pub refused: Option<(MessageId, Error)>,
    /// Whether the last request was stopped: what waits does so until somebody sends it.
    pub stopped: bool,
    /// What became of the last reply, where it failed or was interrupted.
    pub trouble: Option<ReplyFailure>,
    /// How the last work ended, where it is an agent and that is known.
    pub ended: Option<AgentState>,
    /// The file that the person last worked on when they sent something.
    pub active_file: Option<PathBuf>,
    watchers: Watchers,
}

impl State {
    pub(super) fn new(record: SessionRecord, waiting: Vec<Queued>) -> Self {
        Self {
            trouble: record.trouble,
            ended: record.ended,
            record,
            transcript: Transcript::default(),
            queue: waiting.into_iter().collect(),
            turns: Turns::default(),
            answering: None,
            agent_ceiling: None,
            steered: Steered::default(),
            tool_calls: ToolCalls::default(),
            pending_approvals: PendingApprovals::default(),
            last_usage: LastUsage::default(),
            todos: Todos::default(),
            halts: 0,
            is_deleted: false,
            begins_next: false,
            titling: CancellationToken::new(),
            begun_by: None,
            refused: None,
            stopped: false,
            active_file: None,
            watchers: Watchers::default(),
        }
    }

    /// Nothing may begin any more, until [`go_on`](Self::go_on) takes it back.
    pub(super) fn halt(&mut self) {
        self.halts += 1;
    }

    /// Takes one halt back.
    pub(super) fn go_on(&mut self) {
        self.halts = self.halts.saturating_sub(1);
    }

    /// Whether nothing may begin any more.
    pub(super) fn is_halted(&self) -> bool {
        self.halts > 0
    }

    pub(super) fn status(&self) -> Status {
        self.turns.status(!self.pending_approvals.is_empty())
    }

    pub(super) fn placeholder(&self) -> SessionPlaceholder {
        let (trouble, ended) = (self.trouble, self.ended);
        let meta = SessionMeta { trouble, ended, ..self.record.meta.clone() };
        SessionPlaceholder { meta, status: self.status(), activity: self.activity() }
    }

    /// Notes how the work of an agent ended, by the last message that is loaded.
    pub(super) fn note_ending(&mut self) {
        let mut at = self.transcript.head();
        let mut last = None;
        while let Some(message) = at.and_then(|id| self.transcript.get(id)) {
            if message.role != Role::Ui {
                last = Some(message);
                break;
            }
            at = message.parent;
        }
        self.ended = last.filter(|_| self.is_agent()).map(|last| match (last.role, self.trouble) {
            (Role::Assistant, _) => AgentState::of_reply(last.ended, last.error.as_ref()),
            (_, Some(ReplyFailure::Failed)) => AgentState::Failed,
            (_, Some(ReplyFailure::Interrupted)) => AgentState::Interrupted,
            // What a command had printed before the program was killed.
            _ if last.ended == Some(Ending::Interrupted) => AgentState::Interrupted,
            (_, None) => AgentState::Stopped,
        });
    }

    /// What it works on, where it is an agent at work.
    fn activity(&self) -> Option<AgentActivity> {
        let (since, tokens) = self.turns.spent().filter(|_| self.is_agent())?;
        Some(AgentActivity { since, call: self.tool_calls.current(), tokens })
    }

    /// Whether it works for another session.
    pub(super) fn is_agent(&self) -> bool {
        self.record.parent.is_some()
    }

    pub(super) fn watch(&mut self, mailbox: &Arc<Mailbox>) {
        self.watchers.add(&self.record.meta.fid, mailbox);
    }

    pub(super) fn unwatch(&mut self, mailbox: &Arc<Mailbox>) {
        self.watchers.remove(&self.record.meta.fid, mailbox);
    }

    pub(super) fn is_watched(&mut self) -> bool {
        !self.watchers.is_empty()
    }

    /// Drops the transcript where the store has all of it and nobody needs it here. Behind the gate
    /// alone: whatever begins counts on it.
    pub(super) fn unload(&mut self) {
        if !self.turns.is_busy() && self.transcript.is_stored() && !self.is_watched() {
            self.transcript.unload();
        }
    }

    /// Sends an event to the watchers.
    pub(super) fn tell(&mut self, event: SessionEvent) {
        self.watchers.tell(&self.record.meta.fid, event);
    }

    pub(super) fn tell_added(&mut self, message: &Arc<Message>) {
        let message = Arc::clone(message);
        self.tell(SessionEvent::MessageAdded { message });
    }

    /// Another branch is shown: those who watch have to open the session again.
    pub(super) fn tell_reset(&mut self) {
        self.todos.forget();
        self.tell(SessionEvent::Reset);
    }

    /// Adds what arrived to the open reply, and notifies watchers where text grew. Returns whether it did.
    pub(super) fn apply(&mut self, delta: &Delta) -> bool {
        let Some(message) = self.transcript.open_reply() else { return false };
        let Some(grown) = self.transcript.apply(delta) else { return false };
        self.watchers.tell_grown(&self.record.meta.fid, message, grown);
        true
    }

    /// Shows what was held back of the open reply: nothing more comes.
    pub(super) fn flush_reply(&mut self) {
        if let Some(message) = self.transcript.open_reply()
            && let Some(grown) = self.transcript.flush()
        {
            self.watchers.tell_grown(&self.record.meta.fid, message, grown);
        }
    }

    /// A reply begins in the transcript.
    pub(super) fn begin_reply(&mut self, reply: &Arc<Message>) {
        self.transcript.begin_reply(Arc::clone(reply));
        self.record.head = Some(reply.id);
        self.tell_added(reply);
    }

    /// These messages stand in the transcript, the last at its head.
    pub(super) fn append(&mut self, messages: &[Arc<Message>]) {
        for message in messages {
            self.transcript.append(Arc::clone(message));
            self.record.head = Some(message.id);
            self.tell_added(message);
        }
    }

    /// Notes what the request does, and notifies watchers. Returns whether the status is another
    /// now, which all are to hear of.
    #[must_use]
    pub(super) fn set_stage(&mut self, stage: Stage) -> bool {
        let before = self.status();
        let Some(event) = self.turns.set_stage(stage) else { return false };
        self.tell(event);
        self.status() != before
    }

    /// The turn at work has ended.
    pub(super) fn end_turn(&mut self) {
        self.tool_calls = ToolCalls::default();
        self.answering = None;
        self.begun_by = None;
        self.agent_ceiling = None;
        self.steered = Steered::default();
        if let Some(event) = self.turns.end() {
            self.tell(event);
        }
    }

    pub(super) fn snapshot(
        &self,
        messages: Vec<Arc<Message>>,
        more: bool,
        commands: Vec<BackgroundCommand>,
    ) -> Snapshot {
        let todos = self.todos.with(&messages);
        Snapshot {
            session: self.placeholder(),
            messages,
            more,
            queue: self.queue.queued(),
            stage: self.turns.stage().clone(),
            asks: self.pending_approvals.asks(),
            calls: self.tool_calls.calls(),
            commands,
            todos,
            seq: self.watchers.seq(),
        }
    }
}
