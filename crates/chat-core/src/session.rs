//! One conversation, the only owner of its transcript.
//!
//! Its state stands behind one lock that is never held across an await. What it is made
//! of are parts: the session has them change, and numbers and mails what they return under that
//! lock. The request at work is a task of its own, so that sessions work concurrently; it writes the
//! transcript through the session alone. What must not happen at once (beginning a request, opening
//! from the store) passes the session's gate.
//!
//! The work on one side of it is in a view: `RunningTurn`, `Approvals`, `ContextUsageReader`, `Review`.
//!
//! Whoever takes several of its locks takes them in this order: `assigning`, `admission`, `gate`, `writing`,
//! `state`.

mod agent_report;
mod approvals;
mod begin;
mod branches;
mod ceiling;
mod compaction;
mod context_usage;
mod empty;
mod environment;
mod journal;
mod mentions;
mod open;
mod owed_reports;
mod parts;
mod project_start;
mod queue;
mod resolved_request;
mod review;
mod services;
mod sink;
mod skills;
mod spending;
mod state;
mod steering;
mod title;
mod tools;
mod tree;
mod turn;
mod user_message;
mod waiting_approvals;
mod work;

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

pub(crate) use agent_report::Answered;
pub use empty::EmptySession;
pub(crate) use mentions::written as at_words;
pub(crate) use owed_reports::HandIn;
pub(crate) use parts::steering::Unsteerable;
pub(crate) use parts::title::from_text as title_from_text;
use project_start::ProjectStartCache;
pub(crate) use services::{AgentsAtWork, Clients, DefinitionSource, SessionServices, Teams};
use skills::SkillListCache;
use state::State;
pub(crate) use tree::{AwaitsEnd, Claims, Place, Tree, WaitsFor};
pub(crate) use waiting_approvals::WaitingApprovals;

use crate::client::{Preparing, Priority, Requester};
use crate::error::{Kind, Result};
use crate::event::{Event, Failure, Queued, SessionEvent, SessionPlaceholder, Stage, Status};
use crate::message::{BackgroundCommand, Fid};
use crate::store::{SessionPatch, SessionRecord};
use crate::tool::Memory;

/// One conversation.
pub(crate) struct Session {
    fid: Fid,
    /// The session that it works for.
    parent: Option<Arc<Self>>,
    /// Whether it worked for a session that is gone.
    lost_parent: bool,
    /// What it shares with the other sessions of its tree.
    tree: Arc<Tree>,
    services: Arc<SessionServices>,
    state: Mutex<State>,
    /// Held while an agent is given work, and while somebody takes its report: neither comes in between
    /// the other.
    assigning: tokio::sync::Mutex<()>,
    /// Passed by whatever begins a request or reads the transcript from the store.
    gate: tokio::sync::Mutex<()>,
    /// Held while a request waits for servers, and until it is through the gate: requests begin in
    /// the order in which they were made.
    admission: tokio::sync::Mutex<()>,
    /// Held while what arrived is stored: a reply is folded after its last segment, and each result of
    /// a tool follows the one before it.
    writing: tokio::sync::Mutex<()>,
    /// Rung when there is text that the journal does not have.
    unwritten: Notify,
    /// Rung when a request has ended.
    ended: Notify,
    /// Rung when the store has taken what it had refused.
    taken: Notify,
    /// What its tools remember from one call to the next.
    memory: Arc<Memory>,
    /// What was in its project when it was first worked in.
    project_start: Arc<ProjectStartCache>,
    /// The skills that there were then.
    skill_list: SkillListCache,
}

impl Session {
    /// A stored session, with the one that it works for and what waits in it.
    pub(crate) fn new(
        services: Arc<SessionServices>,
        parent: Option<Arc<Self>>,
        record: SessionRecord,
        waiting: Vec<Queued>,
    ) -> Arc<Self> {
        let session = Arc::new(Self {
            fid: record.fid.clone(),
            lost_parent: parent.is_none() && record.parent.is_some(),
            tree: parent.as_ref().map(|parent| Arc::clone(&parent.tree)).unwrap_or_default(),
            parent,
            memory: Arc::new(Memory::within(services.tasks.clone())),
            project_start: Arc::default(),
            skill_list: SkillListCache::default(),
            services,
            state: Mutex::new(State::new(record, waiting)),
            assigning: tokio::sync::Mutex::default(),
            gate: tokio::sync::Mutex::default(),
            admission: tokio::sync::Mutex::default(),
            writing: tokio::sync::Mutex::default(),
            unwritten: Notify::new(),
            ended: Notify::new(),
            taken: Notify::new(),
        });
        let weak = Arc::downgrade(&session);
        session.memory.on_change(move || {
            if let Some(session) = weak.upgrade() {
                session.tell_commands();
            }
        });
        session
    }

    /// The commands that run in its background, the oldest first.
    pub(crate) fn commands(&self) -> Vec<BackgroundCommand> {
        self.memory.commands()
    }

    /// Ends a command in the background. Says whether it still ran.
    pub(crate) async fn end_command(&self, id: &str) -> bool {
        self.memory.end(id).await
    }

    fn tell_commands(&self) {
        let mut state = self.lock();
        // Under the lock, so that the last event has the latest state.
        let commands = self.memory.commands();
        state.tell(SessionEvent::CommandsChanged { commands });
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session as a row of the history list.
    pub(crate) fn placeholder(&self) -> SessionPlaceholder {
        self.lock().placeholder()
    }

    /// What is stored of it besides its messages.
    pub(crate) fn record(&self) -> SessionRecord {
        self.lock().record.clone()
    }

    pub(crate) fn fid(&self) -> &Fid {
        &self.fid
    }

    /// The session as one that sends requests.
    fn requester(self: &Arc<Self>, priority: Priority) -> Requester {
        let session = Arc::downgrade(self);
        let is_shown = move || session.upgrade().is_some_and(|it| it.lock().is_watched());
        Requester { tree: self.root().clone(), priority, is_shown: Arc::new(is_shown) }
    }

    /// It is shown now, or no more: a request that awaits a slot has another place now.
    fn shown_changed(&self) {
        let stage = self.lock().turns.stage().clone();
        if matches!(stage, Stage::Preparing(Preparing::AwaitingSlot { .. })) {
            self.services.clients.shown_changed();
        }
    }

    /// The folder that it works in.
    pub(crate) fn project(&self) -> Option<PathBuf> {
        self.lock().record.project.clone()
    }

    pub(crate) fn is_busy(&self) -> bool {
        self.lock().status().is_busy()
    }

    /// Whether a request is at work, or the next message of the queue is about to go out.
    pub(crate) fn is_busy_or_begins_next(&self) -> bool {
        let state = self.lock();
        state.status().is_busy() || state.begins_next
    }

    /// Whether nobody looks at it, nothing runs and nothing waits: it need not be kept in memory.
    pub(crate) fn is_at_rest(&self) -> bool {
        let mut state = self.lock();
        let idle = state.status() == Status::Idle && state.queue.is_empty();
        idle && !state.is_watched() && !self.memory.is_busy()
    }

    /// Notifies all subscribers that the row changed, if it still exists.
    pub(crate) fn tell_changed(&self) {
        // Under the lock, so that the last event has the latest state.
        let state = self.lock();
        if !state.is_halted() {
            self.services.hub.tell(&Event::SessionChanged(state.placeholder()));
        }
    }

    fn notice(&self, error: crate::error::Error) {
        let failure = Failure { error, session: Some(self.fid.clone()) };
        self.services.hub.tell(&Event::Notice(failure));
    }

    /// Stores a change of the session's row, and notifies subscribers. Behind the gate, so that of two changes
    /// the one that is stored last is the one that is known, too.
    pub(crate) async fn patch(&self, patch: SessionPatch) -> Result<()> {
        let _gate = self.gate.lock().await;
        self.patch_claimed(patch).await
    }

    /// Stores a change of the session's row, and notifies subscribers. The gate must be held.
    async fn patch_claimed(&self, mut patch: SessionPatch) -> Result<()> {
        if let (Some(project), None) = (&patch.change.project, &patch.rules) {
            let state = self.lock();
            patch.rules = (*project != state.record.project)
                .then(|| parts::permission_rules::of_any_folder(&state.record.rules))
                .filter(|rules| *rules != state.record.rules);
        }
        let record = self.services.store.patch(&self.fid, patch).await?;
        self.lock().record = record;
        self.tell_changed();
        Ok(())
    }

    /// Takes what another process stored. `seen` is what was read of it; it is read again behind
    /// the gate, where nothing of our own comes in between.
    pub(crate) async fn take_record(&self, seen: &SessionRecord) -> Result<()> {
        // What waits stands in no row of the list.
        let waiting = self.services.store.waiting(&self.fid).await?;
        {
            let state = self.lock();
            if state.record == *seen && !seen.in_use && state.queue.is_as(&waiting) {
                return Ok(());
            }
        }
        let _gate = self.gate.lock().await;
        self.take_waiting().await?;
        if self.is_busy() {
            return Ok(());
        }
        let record = self.services.store.session(&self.fid).await?;
        let mut state = self.lock();
        let was = std::mem::replace(&mut state.record, record);
        // Our own changes are known, and watchers were notified.
        if was.head == state.record.head && !was.in_use && !state.record.in_use {
            return Ok(());
        }
        (state.trouble, state.ended) = (state.record.trouble, state.record.ended);
        if state.transcript.is_stored() {
            state.transcript.unload();
        }
        state.tell_reset();
        Ok(())
    }

    /// Others may write the session from now on.
    pub(super) async fn release(&self) {
        // What is not stored yet is still ours to write.
        if !self.lock().transcript.is_stored() {
            return;
        }
        if let Err(error) = self.services.store.release(&self.fid).await {
            tracing::warn!(%error, "a session could not be given up");
        }
    }

    /// Its gate: nothing begins in it while the guard lives.
    pub(crate) async fn gate(&self) -> tokio::sync::MutexGuard<'_, ()> {
        self.gate.lock().await
    }

    /// Its gate, unless it is halted: nobody begins to work for what ends.
    ///
    /// # Errors
    /// `SessionNotFound`.
    pub(crate) async fn gate_of_living(&self) -> Result<tokio::sync::MutexGuard<'_, ()>> {
        let gate = self.gate.lock().await;
        if self.lock().is_halted() {
            return Err(Kind::SessionNotFound { fid: self.fid.to_string() }.into());
        }
        Ok(gate)
    }

    /// Whether it is an agent that was closed.
    pub(crate) fn is_closed(&self) -> bool {
        self.lock().record.closed
    }

    /// Marks an agent as closed, or as open again.
    pub(crate) async fn set_closed(&self, closed: bool) -> Result<()> {
        if self.lock().record.closed == closed {
            return Ok(());
        }
        self.patch(SessionPatch { closed: Some(closed), ..SessionPatch::default() }).await
    }

    /// Stops the request at work, or those that are about to begin. What had arrived stays.
    pub(crate) fn stop(&self) {
        self.memory.stop();
        self.lock().turns.stop();
    }

    /// Stops the request at work, and waits until it has ended.
    pub(crate) async fn stop_and_wait(&self) {
        loop {
            let ended = self.ended.notified();
            if !self.is_busy() {
                return;
            }
            self.stop();
            ended.await;
        }
    }

    /// Stops everything, and has nothing begin any more until [`go_on`](Self::go_on) takes this halt back.
    pub(crate) fn halt(&self) {
        {
            let mut state = self.lock();
            state.halt();
            state.titling.cancel();
        }
        self.stop();
    }

    /// Takes one halt back.
    pub(crate) fn go_on(&self) {
        self.lock().go_on();
        self.tree.tell_changed();
    }

    /// Notes that it is deleted, for good: where the deletion is taken back, another one has its place. The gate must be
    /// held.
    pub(crate) fn note_deleted(&self) {
        self.lock().is_deleted = true;
    }

    /// Whether it was deleted, also where that was taken back.
    pub(crate) fn is_deleted(&self) -> bool {
        self.lock().is_deleted
    }

    /// Waits, once it is halted, until nothing is at work. Nothing passes the gate while the guard
    /// lives.
    pub(crate) async fn halted(&self) -> tokio::sync::MutexGuard<'_, ()> {
        loop {
            let ended = self.ended.notified();
            let gate = self.gate.lock().await;
            if !self.is_busy() {
                return gate;
            }
            drop(gate);
            self.stop();
            ended.await;
        }
    }
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Session").field(&self.fid).finish()
    }
}
