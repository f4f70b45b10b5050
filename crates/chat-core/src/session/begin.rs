//! How a request begins: what the person said is stored, and the work is started.

use std::sync::Arc;

use tokio::sync::MutexGuard;
use tokio_util::sync::CancellationToken;

use super::parts::queue::Waiting;
use super::resolved_request::{ResolvedRequest, entries};
use super::review::Rejected;
use super::tree::budget::Budget;
use super::turn::RunningTurn;
use super::user_message::UserMessageBuilder;
use super::{Session, SessionServices};
use crate::agent::says_something;
use crate::error::{Kind, Result};
use crate::event::Event;
use crate::message::{ChatRequest, Fid, Message, MessageId, Role, SessionMeta, Usage};
use crate::store::NewSession;

impl Session {
    /// Begins a session with its first request. It is registered before anybody hears of it, and
    /// claimed and at work when this returns.
    pub(crate) async fn create(
        services: &Arc<SessionServices>,
        request: ChatRequest,
        register: impl FnOnce(&Arc<Self>),
    ) -> Result<(Fid, MessageId)> {
        ResolvedRequest::wait_until_known(services, &request, None).await;
        let resolved = ResolvedRequest::resolve(services, &request, None)?;
        let builder = UserMessageBuilder::gather(
            services,
            &request,
            request.project.clone(),
            &[],
            Rejected::nothing(),
        )
        .await;
        let user = Arc::new(builder.build(&*resolved.agent, None));
        let reply = Arc::new(Message::reply(Some(user.id), resolved.model.clone()));
        let meta = SessionMeta {
            title: super::title_from_text(&request.content.text),
            agent: resolved.agent.name().to_owned(),
            model: Some(resolved.model.clone()),
            thinking: resolved.thinking,
            options: request.options.clone(),
            instructions: request.instructions.clone(),
            project: request.project.clone(),
            mode: request.mode.unwrap_or(services.clients.settings().permissions.mode),
            ..SessionMeta::default()
        };
        let rules = entries(&request.allow).collect();
        let new = NewSession { meta, rules, temporary: request.temporary };
        let messages = vec![Arc::clone(&user), Arc::clone(&reply)];
        let record = services.store.create(new, messages).await?;
        let session = Self::new(Arc::clone(services), None, record, Vec::new());
        session.tree.give(&session.fid, &request.allow);
        let id = user.id;
        {
            let mut state = session.lock();
            state.active_file = request.context.active().map(|file| file.path.clone());
            state.transcript.insert(user);
        }
        let cancel = session.stopped_from_now();
        register(&session);
        services.hub.tell(&Event::SessionAdded(session.placeholder()));
        session.start(resolved, Some(id), &reply, cancel);
        Ok((session.fid.clone(), id))
    }

    /// Sends what a person said, or has it wait. Gives the message's id, and whether it waits.
    pub(crate) async fn send(self: &Arc<Self>, request: ChatRequest) -> Result<(MessageId, bool)> {
        let id = MessageId::new();
        Ok((id, self.send_as(id, request).await?))
    }

    /// The same under this id. Says whether it waits.
    pub(crate) async fn send_as(
        self: &Arc<Self>,
        id: MessageId,
        request: ChatRequest,
    ) -> Result<bool> {
        let cancel = self.stopped_from_now();
        if request.content.agent.is_none() {
            self.tree.budget(Budget::renew);
        }
        // What must wait for others is on disk before servers are waited for.
        let gate = self.gate.lock().await;
        let mut waits = self.enqueue_unless_free(id, &request).await?;
        drop(gate);
        if !waits {
            let _turn = self.get_ready(&request).await;
            let _gate = self.gate.lock().await;
            waits = self.enqueue_unless_free(id, &request).await?;
            if !waits {
                self.begin(&[Waiting { id, request }], false, cancel.clone()).await?;
            }
        }
        if waits {
            self.begin_waiting(cancel).await;
        }
        Ok(waits)
    }

    /// Takes a stop from now on as one of a request that is about to begin.
    pub(super) fn stopped_from_now(&self) -> CancellationToken {
        self.lock().turns.starting()
    }

    /// Waits until it is a request's turn and what it needs is known.
    pub(super) async fn get_ready(&self, request: &ChatRequest) -> MutexGuard<'_, ()> {
        let turn = self.admission.lock().await;
        self.wait_until_known(request).await;
        turn
    }

    /// Waits until what a request needs is known.
    pub(super) async fn wait_until_known(&self, request: &ChatRequest) {
        let known = self.lock().record.clone();
        ResolvedRequest::wait_until_known(&self.services, request, Some(&known)).await;
        // What the agents of those that it works for may do counts here, too.
        for ancestor in self.ancestors() {
            self.services.definitions.load(ancestor.project().as_deref()).await;
        }
    }

    /// Stores what the person said, or what agents report, and starts one work on it, as the first of
    /// it asks. Does not where any of it `waited`, and waits no longer: says whether it did. The gate
    /// must be held.
    pub(super) async fn begin(
        self: &Arc<Self>,
        said: &[Waiting],
        waited: bool,
        cancel: CancellationToken,
    ) -> Result<bool> {
        let begun = self.begin_claimed(said, waited, None, cancel).await;
        self.release_unless(&begun).await;
        if let Ok(false) = begun {
            self.release().await;
        }
        begun
    }

    /// Where nothing was begun others may have the session.
    async fn release_unless<T>(&self, begun: &Result<T>) {
        if let Err(error) = begun
            && error.kind != Kind::SessionInUse
        {
            self.release().await;
        }
    }

    /// The same, with the session claimed when it returns. What is said comes at the end of the shown
    /// branch, or as another version of a message in it.
    async fn begin_claimed(
        self: &Arc<Self>,
        said: &[Waiting],
        waited: bool,
        instead_of: Option<MessageId>,
        cancel: CancellationToken,
    ) -> Result<bool> {
        let Some(Waiting { request, .. }) = said.first() else { return Ok(false) };
        self.count_turn(request)?;
        let resolved = self.resolve_and_claim(request).await?;
        let mut branch = self.load().await?;
        if let Some(edited) = instead_of {
            branch.truncate(of_user(&branch, edited)?);
        }
        let project = {
            let mut state = self.lock();
            state.active_file = request.context.active().map(|file| file.path.clone());
            state.record.project.clone()
        };
        let known = branch.len();
        for Waiting { id, request } in said {
            let rejected = self.review().rejected(project.clone(), &branch).await;
            // This tells the next message what this one said.
            let time = rejected.until;
            let (services, project) = (&self.services, project.clone());
            let builder =
                UserMessageBuilder::gather(services, request, project, &branch, rejected).await;
            let parent = branch.last().map(|message| message.id);
            let user = Message { id: *id, time, ..builder.build(&*resolved.agent, parent) };
            branch.push(Arc::new(user));
        }
        let users = &branch[known..];
        let asked = users.last().map(|user| user.id);
        let reply = Arc::new(Message::reply(asked, resolved.model.clone()));
        let messages = self.lock().transcript.with_unsaved(users.iter().chain([&reply]));
        let store = &self.services.store;
        if waited {
            let ids = said.iter().map(|waiting| waiting.id).collect();
            if !store.append_waiting(&self.fid, messages, reply.id, ids).await? {
                return Ok(false);
            }
        } else {
            store.append(&self.fid, messages, reply.id).await?;
        }
        self.start_stored(resolved, users, &reply, cancel);
        Ok(true)
    }

    /// Sends another version of a message of the user's, on a new branch. Gives its id.
    ///
    /// # Errors
    /// `SessionAtWork`, `NothingToSend` where it is no message of the user's in the shown branch, and those
    /// of [`send`](Self::send).
    pub(crate) async fn edit(
        self: &Arc<Self>,
        edited: MessageId,
        request: ChatRequest,
    ) -> Result<MessageId> {
        let id = MessageId::new();
        let cancel = self.stopped_from_now();
        self.tree.budget(Budget::renew);
        let _turn = self.get_ready(&request).await;
        let _gate = self.gate.lock().await;
        if self.is_busy() {
            return Err(Kind::SessionAtWork.into());
        }
        // Nothing is claimed for a message that cannot be edited.
        of_user(&self.load().await?, edited)?;
        let said = [Waiting { id, request }];
        let begun = self.begin_claimed(&said, false, Some(edited), cancel).await;
        self.release_unless(&begun).await;
        begun.map(|_| id)
    }

    /// Answers a message of the user's again, on a new branch: the one before this reply, or the last one.
    /// What is asked for with it counts from then on. Does nothing while a request is at work.
    pub(crate) async fn regenerate(
        self: &Arc<Self>,
        reply: Option<MessageId>,
        with: &ChatRequest,
    ) -> Result<()> {
        let cancel = self.stopped_from_now();
        let _turn = self.get_ready(with).await;
        let _gate = self.gate.lock().await;
        if self.is_busy() {
            return Ok(());
        }
        let begun = self.regenerate_claimed(reply, with, cancel).await;
        self.release_unless(&begun).await;
        begun
    }

    async fn regenerate_claimed(
        self: &Arc<Self>,
        reply: Option<MessageId>,
        with: &ChatRequest,
        cancel: CancellationToken,
    ) -> Result<()> {
        let resolved = self.resolve_and_claim(with).await?;
        let branch = self.load().await?;
        let before = match reply {
            Some(reply) => branch.iter().position(|message| message.id == reply),
            None => Some(branch.len()),
        };
        let before = &branch[..before.ok_or(Kind::NothingToSend)?];
        let user = before.iter().rposition(|message| message.role == Role::User);
        let user = user.ok_or(Kind::NothingToSend)?;
        // What was made shorter for it stays so.
        let markers = branch[user + 1..].iter().take_while(|message| message.role == Role::Ui);
        let (earlier, failed) = branch.split_at(user + markers.count() + 1);
        let asked = earlier.last().map(|message| message.id);
        let reply = Arc::new(Message::reply(asked, resolved.model.clone()));
        // A try of which nothing came is no version of the reply.
        match failed {
            [failed] if is_failed_without_content(failed) => {
                let messages = self.lock().transcript.with_unsaved([&reply]);
                let store = &self.services.store;
                store.append_instead(&self.fid, messages, reply.id, failed.id).await?;
                self.start_stored(resolved, &[], &reply, cancel);
                self.lock().transcript.remove(failed.id);
                Ok(())
            }
            _ => self.store_and_start(resolved, reply, cancel).await,
        }
    }

    /// Asks the model to go on where its last reply ended too early.
    pub(crate) async fn resume(self: &Arc<Self>) -> Result<()> {
        let cancel = self.stopped_from_now();
        let _turn = self.get_ready(&ChatRequest::default()).await;
        let _gate = self.gate.lock().await;
        if self.is_busy() {
            return Ok(());
        }
        let begun = self.resume_claimed(cancel).await;
        self.release_unless(&begun).await;
        begun
    }

    async fn resume_claimed(self: &Arc<Self>, cancel: CancellationToken) -> Result<()> {
        let mut branch = self.load().await?;
        // Of a reply that broke off before it said something nothing is left to go on from.
        let said_nothing =
            |last: &mut Arc<Message>| last.role == Role::Assistant && !says_something(last);
        while branch.pop_if(said_nothing).is_some() {}
        let end = branch.last().map(|message| message.id);
        let last = branch.iter().rfind(|message| message.role != Role::Ui);
        let has_called =
            last.is_some_and(|last| last.role == Role::Tool || last.tool_calls().next().is_some());
        if let (Some(end), true) = (end, has_called) {
            // It ended before the model had anything to say about these calls.
            let resolved = self.resolve_and_claim(&ChatRequest::default()).await?;
            let reply = Arc::new(Message::reply(Some(end), resolved.model.clone()));
            return self.store_and_start(resolved, reply, cancel).await;
        }
        let last = last.filter(|message| message.role == Role::Assistant);
        let Some(last) = last.filter(|message| says_something(message)) else {
            // There is nothing to go on from.
            return self.regenerate_claimed(None, &ChatRequest::default(), cancel).await;
        };
        let (continued, parent) = (last.id, end);
        let resolved = self.resolve_and_claim(&ChatRequest::default()).await?;
        let reply = Message::reply(parent, resolved.model.clone());
        let reply = Arc::new(Message { continues: Some(continued), ..reply });
        self.store_and_start(resolved, reply, cancel).await
    }

    pub(super) async fn resolve_and_claim(&self, request: &ChatRequest) -> Result<ResolvedRequest> {
        let known = {
            let state = self.lock();
            if state.is_halted() {
                return Err(Kind::SessionNotFound { fid: self.fid.to_string() }.into());
            }
            state.record.clone()
        };
        let resolved = ResolvedRequest::resolve(&self.services, request, Some(&known))?;
        self.services.store.claim(&self.fid).await?;
        if let Some(patch) = resolved.patch(request, &known) {
            self.patch_claimed(patch).await?;
        }
        self.tree.give(&self.fid, &request.allow);
        Ok(resolved)
    }

    /// Stores the beginning of a reply, and starts the work on it.
    async fn store_and_start(
        self: &Arc<Self>,
        resolved: ResolvedRequest,
        reply: Arc<Message>,
        cancel: CancellationToken,
    ) -> Result<()> {
        let messages = self.lock().transcript.with_unsaved([&reply]);
        self.services.store.append(&self.fid, messages, reply.id).await?;
        self.start_stored(resolved, &[], &reply, cancel);
        Ok(())
    }

    /// Starts the work on what is stored now.
    fn start_stored(
        self: &Arc<Self>,
        resolved: ResolvedRequest,
        users: &[Arc<Message>],
        reply: &Arc<Message>,
        cancel: CancellationToken,
    ) {
        let other_branch = {
            let mut state = self.lock();
            state.transcript.all_saved();
            let follows = users.first().map_or(reply.parent, |user| user.parent);
            let other_branch = state.transcript.head() != follows;
            for user in users {
                state.transcript.insert(Arc::clone(user));
                if !other_branch {
                    state.tell_added(user);
                }
            }
            other_branch
        };
        self.start(resolved, users.first().map(|user| user.id), reply, cancel);
        if other_branch {
            self.lock().tell_reset();
        }
    }

    /// The reply begins, and the work with it.
    fn start(
        self: &Arc<Self>,
        resolved: ResolvedRequest,
        begun_by: Option<MessageId>,
        reply: &Arc<Message>,
        cancel: CancellationToken,
    ) {
        let turn = {
            let mut state = self.lock();
            state.titling.cancel();
            state.answering = Some(resolved.answering(state.record.project.clone()));
            state.agent_ceiling = resolved.agent.ceiling();
            let turn = state.turns.begin(cancel.clone());
            (state.trouble, state.ended, state.refused, state.stopped) = (None, None, None, false);
            state.begun_by = begun_by;
            state.record.updated = reply.time;
            state.begin_reply(reply);
            turn
        };
        self.tell_changed();
        let session = Arc::clone(self);
        let turn = RunningTurn { session, id: turn };
        self.services.spawn(turn.work(resolved, cancel));
    }
}

/// Whether this is a reply that failed before anything of it came, and that cost nothing.
fn is_failed_without_content(reply: &Message) -> bool {
    let has_failed = reply.ended.is_some_and(|ended| ended.trouble().is_some());
    let is_free = reply.usage.as_ref().is_none_or(|usage| *usage == Usage::default());
    reply.role == Role::Assistant && has_failed && is_free && reply.is_empty()
}

/// Where a message of the user's stands in a branch.
///
/// # Errors
/// `NothingToSend` where it does not.
fn of_user(branch: &[Arc<Message>], id: MessageId) -> Result<usize> {
    let at = branch.iter().position(|message| message.id == id && message.is_of_user());
    Ok(at.ok_or(Kind::NothingToSend)?)
}
