//! What waits until the session is free, how it goes out, and how it is changed.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Session;
use super::parts::queue::Waiting;
use super::resolved_request::ResolvedRequest;
use crate::error::{Kind, Result};
use crate::message::{ChatRequest, Content, Context, Delivery, MessageId, Queued};
use crate::store::WaitingPlace;

impl Session {
    /// Has a message wait where a request is at work or others wait already, and says whether. One
    /// that interrupts waits first, and stops the request. The gate must be held.
    pub(super) async fn enqueue_unless_free(
        &self,
        id: MessageId,
        request: &ChatRequest,
    ) -> Result<bool> {
        let must_wait = {
            let state = self.lock();
            // Whoever has its place would not know of it.
            if state.is_deleted {
                return Err(Kind::SessionNotFound { fid: self.fid.to_string() }.into());
            }
            state.turns.is_busy() || !state.queue.is_empty()
        };
        if must_wait {
            let delivery = self.delivery(request);
            let interrupts = delivery == Delivery::Interrupt;
            let waits_for = if interrupts { Delivery::Queue } else { delivery };
            let request = ChatRequest { delivery: Some(waits_for), ..request.clone() };
            let waiting = Waiting { id, request };
            let store = &self.services.store;
            if interrupts {
                store.enqueue_first(&self.fid, waiting.queued()).await?;
            } else {
                store.enqueue(&self.fid, waiting.queued()).await?;
            }
            let mut state = self.lock();
            let event = if interrupts {
                state.queue.push_first(vec![waiting])
            } else {
                state.queue.push(waiting)
            };
            state.tell(event);
            if interrupts {
                state.turns.interrupt();
            }
        }
        Ok(must_wait)
    }

    /// Sends the first message that waits, unless a request is at work. Says whether it went out.
    pub(crate) async fn send_waiting(self: &Arc<Self>) -> bool {
        self.begin_waiting(self.stopped_from_now()).await
    }

    /// The same, unless that is stopped: then it waits on.
    pub(super) async fn begin_waiting(self: &Arc<Self>, cancel: CancellationToken) -> bool {
        if self.is_busy() {
            return false;
        }
        let Some(request) = self.first_waiting() else { return false };
        let Some(_turn) = cancel.run_until_cancelled(self.get_ready(&request)).await else {
            return false;
        };
        let _gate = self.gate.lock().await;
        !self.is_busy() && !cancel.is_cancelled() && self.begin_next(cancel).await
    }

    /// What goes out next.
    pub(crate) fn first_waiting(&self) -> Option<ChatRequest> {
        self.lock().queue.first().cloned()
    }

    /// Begins the first waiting request; all reports of agents that wait are one. Where that fails it
    /// goes on waiting, and the person hears why. What another process sent or took back is passed over.
    /// The gate must be held.
    pub(super) async fn begin_next(self: &Arc<Self>, cancel: CancellationToken) -> bool {
        loop {
            let waiting = {
                let mut state = self.lock();
                // The program ends: it waits for the next start.
                if state.is_halted() {
                    return false;
                }
                let Some((waiting, event)) = state.queue.pop() else { return false };
                state.tell(event);
                waiting
            };
            match self.begin(&waiting, true, cancel.clone()).await {
                Ok(true) => return true,
                // Of several some may wait still.
                Ok(false) if waiting.len() > 1 => {
                    if let Err(error) = self.take_waiting().await {
                        self.put_back(waiting);
                        self.notice(error);
                        return false;
                    }
                }
                Ok(false) => {}
                Err(error) => {
                    let refused = waiting.first().map(|first| (first.id, error.clone()));
                    // What was said of these reports is not said again with each that joins them.
                    let is_known = {
                        let mut state = self.lock();
                        let earlier = std::mem::replace(&mut state.refused, refused);
                        matches!(error.kind, Kind::AgentBudget { .. }) && earlier == state.refused
                    };
                    self.put_back(waiting);
                    // Reports were taken from between other messages.
                    if let Err(error) = self.take_waiting().await {
                        tracing::warn!(%error, "what waits is in another order than it is stored in");
                    }
                    if !is_known {
                        self.notice(error);
                    }
                    return false;
                }
            }
        }
    }

    fn put_back(&self, waiting: Vec<Waiting>) {
        let mut state = self.lock();
        let event = state.queue.push_first(waiting);
        state.tell(event);
    }

    /// Takes a waiting message back.
    pub(crate) async fn unqueue(&self, id: MessageId) -> Result<Option<Queued>> {
        let _gate = self.gate.lock().await;
        if !self.lock().queue.contains(id) {
            return Ok(None);
        }
        // Another process may have sent it or taken it back: then it is not ours to give.
        let waited = self.services.store.dequeue(id).await?;
        let mut state = self.lock();
        let Some((waiting, event)) = state.queue.remove(id) else { return Ok(None) };
        state.tell(event);
        drop(state);
        // Nothing comes of it any more.
        self.tree.tell_changed();
        Ok(waited.then(|| waiting.queued()))
    }

    /// Has a message that was taken back wait again, at this place. One that waits already stays where
    /// it is.
    pub(crate) async fn requeue(&self, queued: Queued, place: WaitingPlace) -> Result<()> {
        let _gate = self.gate.lock().await;
        self.take_waiting().await?;
        if self.lock().queue.contains(queued.id) {
            return Ok(());
        }
        self.services.store.enqueue_at(&self.fid, queued, place).await?;
        self.take_waiting().await
    }

    /// Changes what a waiting message says. Says whether it waited still.
    pub(crate) async fn edit_waiting(
        &self,
        id: MessageId,
        content: Content,
        context: Context,
    ) -> Result<bool> {
        let _gate = self.gate.lock().await;
        let Some(queued) = self.lock().queue.get(id) else { return Ok(false) };
        let edited = Queued { content: content.clone(), context: context.clone(), ..queued };
        if !self.services.store.edit_waiting(edited).await? {
            // Another process sent it or took it back.
            self.take_waiting().await?;
            return Ok(false);
        }
        let mut state = self.lock();
        if let Some(event) = state.queue.edit(id, content, context) {
            state.tell(event);
        }
        Ok(true)
    }

    /// Gives a waiting message another place. Says whether it waited still.
    pub(crate) async fn move_waiting(&self, id: MessageId, place: WaitingPlace) -> Result<bool> {
        let _gate = self.gate.lock().await;
        self.move_claimed(id, place).await
    }

    /// Sends a waiting message now: the request at work is stopped for it. Says whether it waited
    /// still.
    pub(crate) async fn deliver_now(self: &Arc<Self>, id: MessageId) -> Result<bool> {
        let cancel = self.stopped_from_now();
        let waited = {
            let _gate = self.gate.lock().await;
            let waited = self.move_claimed(id, WaitingPlace::First).await?;
            if waited {
                // Behind the gate, so that it is not the message's own request.
                self.lock().turns.interrupt();
            }
            waited
        };
        if waited {
            self.begin_waiting(cancel).await;
        }
        Ok(waited)
    }

    async fn move_claimed(&self, id: MessageId, place: WaitingPlace) -> Result<bool> {
        let waited = self.services.store.move_waiting(&self.fid, id, place).await?;
        self.take_waiting().await?;
        Ok(waited)
    }

    /// Takes what waits as the store has it, but for reports that the result of a call tells. The gate must be held.
    pub(super) async fn take_waiting(&self) -> Result<()> {
        let mut waiting = self.services.store.waiting(&self.fid).await?;
        waiting.retain(|queued| !self.tree.is_claimed(queued.id));
        let mut state = self.lock();
        if let Some(event) = state.queue.take_stored(waiting) {
            state.tell(event);
        }
        Ok(())
    }

    /// When a message reaches the model if a request is at work.
    pub(super) fn delivery(&self, request: &ChatRequest) -> Delivery {
        let set = || self.services.clients.settings().chat.while_busy.into();
        match request.delivery.unwrap_or_else(set) {
            Delivery::Steer if !self.can_steer(request) => Delivery::Queue,
            delivery => delivery,
        }
    }

    /// Whether the request at work can answer this message, too.
    pub(super) fn can_steer(&self, request: &ChatRequest) -> bool {
        let (record, answering) = {
            let state = self.lock();
            (state.record.clone(), state.answering.clone())
        };
        // Of one that has not begun nothing is known.
        let Some(answering) = answering else { return true };
        let Ok(resolved) = ResolvedRequest::resolve(&self.services, request, Some(&record)) else {
            return false;
        };
        let project = request.project.clone().or_else(|| record.project.clone());
        request.mode.is_none_or(|mode| mode == record.mode)
            && request.allow.iter().all(|rule| record.rules.iter().any(|it| it.rule == *rule))
            && !self.services.unsteerable.contains(&answering.model)
            && resolved.answering(project) == answering
    }
}
