//! Messages that reach the model between two of its replies: after the results of a round's tools.

use std::sync::Arc;

use tokio::sync::MutexGuard;

use super::parts::queue::Waiting;
use super::parts::steering::Steered;
use super::turn::RunningTurn;
use super::user_message::UserMessageBuilder;
use crate::error::{Kind, Result};
use crate::message::{Delivery, Message, MessageId, ModelRef, Queued};

/// Messages that are to be delivered, as they are stored. Nothing else that waits is sent or changed
/// by this process while it lives.
pub(super) struct Steering<'a> {
    waiting: Vec<Waiting>,
    messages: Vec<Arc<Message>>,
    _gate: MutexGuard<'a, ()>,
}

impl RunningTurn {
    /// Gathers what the person said for the model to hear now, with all that goes with it. None
    /// where nothing waits for that.
    pub(super) async fn gather_steering(
        &self,
        results: &[Arc<Message>],
        agent: &str,
    ) -> Option<Steering<'_>> {
        let session = &self.session;
        if !session.lock().queue.steers() {
            return None;
        }
        let gate = session.gate.lock().await;
        // Another process may have changed it. Where that cannot be known it waits on.
        session.take_waiting().await.ok()?;
        let mut waiting = session.lock().queue.steering();
        waiting.retain(|waiting| session.can_steer(&waiting.request));
        if waiting.is_empty() {
            return None;
        }
        let project = session.project();
        let agent = session.services.agent(agent, project.as_deref()).ok()?;
        let (mut branch, project) = {
            let state = session.lock();
            let is_new = |result: &&Arc<Message>| state.transcript.get(result.id).is_none();
            let new = results.iter().filter(is_new).cloned();
            let branch: Vec<_> = state.transcript.history().into_iter().chain(new).collect();
            (branch, state.record.project.clone())
        };
        let mut messages = Vec::with_capacity(waiting.len());
        for Waiting { id, request } in &waiting {
            let rejected = session.review().rejected(project.clone(), &branch).await;
            let time = rejected.until;
            let (services, project) = (&session.services, project.clone());
            let builder =
                UserMessageBuilder::gather(services, request, project, &branch, rejected).await;
            let message = Arc::new(Message { id: *id, time, ..builder.build(&*agent, None) });
            branch.push(Arc::clone(&message));
            messages.push(message);
        }
        Some(Steering { waiting, messages, _gate: gate })
    }

    /// Stores the results of a round, what the person says after them, and the beginning of the reply
    /// to both. Gives what they say; none where another process was first, and nothing was stored.
    pub(super) async fn store_steering(
        &self,
        results: &[Arc<Message>],
        steering: Steering<'_>,
        model: &ModelRef,
    ) -> Result<Option<Vec<Arc<Message>>>> {
        let Steering { waiting, messages, _gate } = steering;
        let chained = self.chained(results.iter().chain(&messages))?;
        let parent = chained.last().map(|message| message.id);
        let reply = Arc::new(Message::reply(parent, model.clone()));
        let ids: Vec<_> = waiting.iter().map(|waiting| waiting.id).collect();
        let all = self.session.lock().transcript.with_unsaved(chained.iter().chain([&reply]));
        let (store, fid) = (&self.session.services.store, &self.session.fid);
        if !store.append_waiting(fid, all, reply.id, ids.clone()).await? {
            self.session.take_waiting().await?;
            return Ok(None);
        }
        self.settle_reports(&chained);
        for waiting in &waiting {
            self.session.tree.give(fid, &waiting.request.allow);
        }
        let mut state = self.session.lock();
        state.transcript.all_saved();
        state.append(&chained);
        let event = state.queue.took(&ids);
        state.tell(event);
        if let Some(file) = waiting.iter().rev().find_map(|it| it.request.context.active()) {
            state.active_file = Some(file.path.clone());
        }
        state.steered = Steered(waiting);
        state.begin_reply(&reply);
        Ok(Some(chained.into_iter().skip(results.len()).collect()))
    }

    /// Takes back what was delivered with the last results, since the server refuses it there: it
    /// goes out at the end of the request, and so does what is sent to this model from now on. Says
    /// whether the reply begins after the results alone now.
    pub(super) async fn take_steered_back(&self, model: &ModelRef) -> bool {
        let session = &self.session;
        session.services.unsteerable.add(model);
        let _gate = session.gate.lock().await;
        let _one = session.writing.lock().await;
        let Some((begun, waiting, parent)) = self.steered() else { return false };
        let reply = Arc::new(Message::reply(parent, model.clone()));
        let queued: Vec<Queued> = waiting.iter().map(Waiting::queued).collect();
        let store = &session.services.store;
        let taken = store.take_back(&session.fid, &begun, queued, Arc::clone(&reply)).await;
        if let Err(error) = taken {
            tracing::warn!(%error, "a message that was refused could not be taken back");
            return false;
        }
        let mut state = session.lock();
        state.transcript.withdraw_reply();
        for waiting in &waiting {
            state.transcript.remove(waiting.id);
        }
        state.transcript.set_head(parent);
        let _ = state.queue.push_first(waiting);
        state.queue.wait_for_end();
        let event = state.queue.changed();
        state.tell(event);
        state.begin_reply(&reply);
        state.tell_reset();
        true
    }

    /// The reply that has begun after what was delivered last, that, and what comes before it. None
    /// where something came in between.
    fn steered(&self) -> Option<(Arc<Message>, Vec<Waiting>, Option<MessageId>)> {
        let mut state = self.lock()?;
        let begun = Arc::clone(state.transcript.untouched_reply()?);
        let mut waiting = std::mem::take(&mut state.steered.0);
        let (first, last) = (waiting.first()?.id, waiting.last()?.id);
        let parent = state.transcript.get(first)?.parent;
        for waiting in &mut waiting {
            waiting.request.delivery = Some(Delivery::Queue);
        }
        (begun.parent == Some(last)).then_some((begun, waiting, parent))
    }

    /// These messages one after the other behind the last of the transcript.
    pub(super) fn chained<'a>(
        &self,
        messages: impl Iterator<Item = &'a Arc<Message>>,
    ) -> Result<Vec<Arc<Message>>> {
        let head = self.session.lock().transcript.head();
        let mut parent = head.ok_or(Kind::Internal)?;
        let mut chained = Vec::new();
        for message in messages {
            let message = Message { parent: Some(parent), ..Message::clone(message) };
            parent = message.id;
            chained.push(Arc::new(message));
        }
        Ok(chained)
    }
}
