//! What a session knows.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use tokio_util::sync::CancellationToken;

use super::asking::Pending;
use super::measuring::Measured;
use super::parts::transcript::Transcript;
use super::round::Round;
use super::turn::{ActiveTurn, TurnId};
use crate::agent::{Surroundings, todos};
use crate::event::{
    Event, Mailbox, Queued, SessionEvent, SessionPlaceholder, Snapshot, Stage, Status,
};
use crate::message::{
    BackgroundCommand, ChatRequest, Message, MessageId, Meter, SessionMeta, Trouble,
};
use crate::store::SessionRecord;

/// A session's state. Everything in it changes under the session's lock.
pub(super) struct State {
    pub record: SessionRecord,
    pub transcript: Transcript,
    /// What waits until the session is free.
    pub queue: VecDeque<Waiting>,
    pub stage: Stage,
    /// The turn at work.
    pub turn: Option<ActiveTurn>,
    /// The last turn that began.
    last_turn: TurnId,
    /// Stops the requests that are about to begin, each of which has a child of it: a stop may come
    /// while they wait for servers or are being stored.
    pub starting: CancellationToken,
    /// Whether nothing may begin any more: the session is being deleted, or the program ends.
    pub halted: bool,
    /// Ends the asking for a better title.
    pub titling: CancellationToken,
    /// What became of the last reply, where it failed or was interrupted.
    pub trouble: Option<Trouble>,
    /// What the last request was made in.
    pub around: Surroundings,
    /// What the conversation was measured with last.
    pub measured: Option<Measured>,
    /// How full the window is, as it was told last.
    pub meter: Option<Meter>,
    /// The tools that run.
    pub round: Round,
    /// The file that the person last worked on when they sent something.
    pub active: Option<PathBuf>,
    /// What waits for the person.
    pub asks: Vec<Pending>,
    seq: u64,
    watchers: Vec<Weak<Mailbox>>,
}

/// A request that waits.
pub(super) struct Waiting {
    pub id: MessageId,
    pub request: ChatRequest,
}

impl Waiting {
    pub(super) fn queued(&self) -> Queued {
        let ChatRequest { content, context, .. } = self.request.clone();
        Queued { id: self.id, content, context }
    }
}

impl From<Queued> for Waiting {
    fn from(queued: Queued) -> Self {
        let Queued { id, content, context } = queued;
        Self { id, request: ChatRequest { content, context, ..ChatRequest::default() } }
    }
}

impl State {
    pub(super) fn new(record: SessionRecord, waiting: Vec<Queued>) -> Self {
        Self {
            trouble: record.trouble,
            record,
            transcript: Transcript::default(),
            queue: waiting.into_iter().map(Waiting::from).collect(),
            stage: Stage::Idle,
            turn: None,
            last_turn: TurnId::default(),
            starting: CancellationToken::new(),
            halted: false,
            titling: CancellationToken::new(),
            around: Surroundings::default(),
            measured: None,
            meter: None,
            round: Round::default(),
            active: None,
            asks: Vec::new(),
            seq: 0,
            watchers: Vec::new(),
        }
    }

    pub(super) fn status(&self) -> Status {
        match (&self.turn, &self.stage) {
            (None, _) => Status::Idle,
            (Some(_), _) if !self.asks.is_empty() => Status::NeedsInput,
            (Some(_), Stage::Streaming | Stage::Looping | Stage::RunningTools) => Status::Answering,
            (
                Some(_),
                Stage::Idle
                | Stage::Waiting { .. }
                | Stage::Preparing(_)
                | Stage::Compacting
                | Stage::RateLimited { .. },
            ) => Status::Waiting,
        }
    }

    pub(super) fn placeholder(&self) -> SessionPlaceholder {
        let meta = SessionMeta { trouble: self.trouble, ..self.record.meta.clone() };
        SessionPlaceholder { meta, status: self.status() }
    }

    /// A turn begins.
    pub(super) fn begin_turn(&mut self, cancel: CancellationToken) -> TurnId {
        let id = self.last_turn.next();
        self.last_turn = id;
        self.turn = Some(ActiveTurn { id, cancel });
        id
    }

    pub(super) fn watch(&mut self, mailbox: &Arc<Mailbox>) {
        self.unwatch(mailbox);
        self.watchers.push(Arc::downgrade(mailbox));
    }

    pub(super) fn unwatch(&mut self, mailbox: &Arc<Mailbox>) {
        mailbox.forget(&self.record.fid);
        self.watchers
            .retain(|weak| weak.upgrade().is_some_and(|known| !Arc::ptr_eq(&known, mailbox)));
    }

    pub(super) fn is_watched(&mut self) -> bool {
        self.watchers.retain(|weak| weak.strong_count() > 0);
        !self.watchers.is_empty()
    }

    /// Drops the transcript where the store has all of it and nobody needs it here. Behind the gate
    /// alone: whatever begins counts on it.
    pub(super) fn unload(&mut self) {
        if self.turn.is_none() && self.transcript.is_stored() && !self.is_watched() {
            self.transcript.unload();
        }
    }

    /// The next sequence number.
    pub(super) fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    pub(super) fn watchers(&self) -> impl Iterator<Item = Arc<Mailbox>> {
        self.watchers.iter().filter_map(Weak::upgrade)
    }

    /// Tells those who watch.
    pub(super) fn tell(&mut self, event: SessionEvent) {
        let event = Event::Session { fid: self.record.fid.clone(), seq: self.next_seq(), event };
        for mailbox in self.watchers() {
            mailbox.put(event.clone());
        }
    }

    pub(super) fn tell_added(&mut self, message: &Arc<Message>) {
        let message = Arc::clone(message);
        self.tell(SessionEvent::MessageAdded { message });
    }

    /// A reply begins in the transcript.
    pub(super) fn begin_reply(&mut self, reply: &Arc<Message>) {
        self.transcript.begin_reply(Arc::clone(reply));
        self.record.head = Some(reply.id);
        self.tell_added(reply);
    }

    /// Whether the same messages wait here as in the store.
    pub(super) fn waits_as(&self, stored: &[Queued]) -> bool {
        stored.iter().map(|queued| queued.id).eq(self.queue.iter().map(|waiting| waiting.id))
    }

    /// Takes what waits as the store has it: another process may have sent it or taken it back.
    pub(super) fn take_waiting(&mut self, stored: Vec<Queued>) {
        if self.waits_as(&stored) {
            return;
        }
        let mut known: Vec<_> = self.queue.drain(..).collect();
        for queued in stored {
            let place = known.iter().position(|waiting| waiting.id == queued.id);
            let waiting = place.map_or_else(|| queued.into(), |place| known.swap_remove(place));
            self.queue.push_back(waiting);
        }
        self.tell_queue();
    }

    pub(super) fn tell_queue(&mut self) {
        let queue = self.queued();
        self.tell(SessionEvent::QueueChanged { queue });
    }

    /// Notes what the request does, and tells those who watch. Says whether the status is another
    /// now, which all are to hear of.
    #[must_use]
    pub(super) fn set_stage(&mut self, stage: Stage) -> bool {
        if self.stage == stage {
            return false;
        }
        let before = self.status();
        self.stage = stage.clone();
        self.tell(SessionEvent::StageChanged { stage });
        self.status() != before
    }

    pub(super) fn queued(&self) -> Vec<Queued> {
        let queued = self.queue.iter();
        queued.map(Waiting::queued).collect()
    }

    pub(super) fn snapshot(
        &self,
        messages: Vec<Arc<Message>>,
        more: bool,
        commands: Vec<BackgroundCommand>,
    ) -> Snapshot {
        let todos = todos(&messages);
        Snapshot {
            session: self.placeholder(),
            messages,
            more,
            queue: self.queued(),
            stage: self.stage.clone(),
            asks: self.asks(),
            calls: self.round.calls(),
            commands,
            todos,
            seq: self.seq,
        }
    }
}
