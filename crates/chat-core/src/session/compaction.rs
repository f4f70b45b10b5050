//! Compacts the conversation: adds the markers that stand for earlier messages, and undoes them.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio_util::sync::CancellationToken;

use super::Session;
use super::resolved_request::ResolvedRequest;
use super::turn::RunningTurn;
use crate::agent::{Compactor, compaction_limit};
use crate::client::Priority;
use crate::error::{Kind, Result};
use crate::event::{SessionEvent, Stage};
use crate::message::{ChatRequest, Message, ModelRef, Part, Role};

/// The limit where the window is not known: nothing is too long.
const NO_LIMIT: u64 = 1 << 40;

impl RunningTurn {
    /// Puts a marker before the reply that has begun and says nothing yet.
    pub(super) async fn add_marker(&self, marker: Message, model: ModelRef) -> Result<()> {
        let _journal = self.session.writing.lock().await;
        let begun = {
            let state = self.lock().ok_or(Kind::Internal)?;
            Arc::clone(state.transcript.untouched_reply().ok_or(Kind::Internal)?)
        };
        let marker = Arc::new(Message { parent: begun.parent, ..marker });
        let reply = Arc::new(Message::reply(Some(marker.id), model));
        let messages = self.session.lock().transcript.with_unsaved([&marker, &reply]);
        self.session.services.store.append(&self.session.fid, messages, reply.id).await?;
        if let Err(error) = self.session.services.store.withdraw(&self.session.fid, &begun).await {
            // It stays on a branch that nobody sees, with nothing in it.
            tracing::warn!(%error, "a reply that begins anew could not be withdrawn");
        }
        let mut state = self.session.lock();
        state.transcript.all_saved();
        state.transcript.remove(begun.id);
        state.transcript.insert(Arc::clone(&marker));
        state.tell_added(&marker);
        state.begin_reply(&reply);
        state.tell_reset();
        Ok(())
    }
}

impl Session {
    /// Summarizes all but the newest turn, because the user asked for it. Says whether there was anything to
    /// sum up; does nothing while a request is at work. A stop ends it.
    pub(crate) async fn compact(self: &Arc<Self>) -> Result<bool> {
        let cancel = self.stopped_from_now();
        let request = ChatRequest::default();
        let admitted = self.get_ready(&request).await;
        let resolved = {
            let _gate = self.gate.lock().await;
            if self.is_busy() {
                return Ok(false);
            }
            let resolved = self.resolve_and_claim(&request).await?;
            if let Err(error) = self.load().await {
                self.release().await;
                return Err(error);
            }
            let mut state = self.lock();
            state.titling.cancel();
            state.turns.begin(cancel.clone());
            // Watchers are notified below.
            let _ = state.set_stage(Stage::Compacting);
            resolved
        };
        drop(admitted);
        self.tell_changed();
        let made = AssertUnwindSafe(self.sum_up(resolved, &cancel)).catch_unwind().await;
        let next = {
            let _gate = self.gate.lock().await;
            let next = {
                let mut state = self.lock();
                // What waits does not end with what was stopped for it.
                let interrupted = state.turns.is_interrupted();
                let next = if interrupted { state.turns.starting() } else { cancel };
                state.end_turn();
                next
            };
            self.release().await;
            self.tell_changed();
            self.context_usage().tell();
            self.lock().unload();
            self.ended.notify_waiters();
            next
        };
        self.begin_waiting(next).await;
        made.unwrap_or_else(|_| Err(Kind::Internal.into()))
    }

    async fn sum_up(
        self: &Arc<Self>,
        resolved: ResolvedRequest,
        cancel: &CancellationToken,
    ) -> Result<bool> {
        let requester = self.requester(Priority::Reply);
        let client = self.services.clients.client(&resolved.model, requester).await?;
        let surroundings =
            self.current_surroundings(&*resolved.agent, &resolved.model, self.scope()).await?;
        let history = self.lock().transcript.branch().unwrap_or_default();
        let tools = surroundings.tools.specs();
        let context_window = self
            .services
            .clients
            .context_window(&resolved.model, &resolved.options, u64::MAX)
            .await;
        let compactor = Compactor {
            agent: resolved.agent,
            around: surroundings,
            client,
            model: resolved.model,
            thinking: resolved.thinking,
            options: resolved.options,
            cancel: cancel.clone(),
            sink: None,
        };
        let limit = compaction_limit(&context_window, 100, &compactor.options).unwrap_or(NO_LIMIT);
        let compacted = compactor.compact(&history, &tools, &context_window, limit, true).await;
        let marker = match (compacted.marker, compacted.error) {
            (_, Some(error)) => return Err(error.on(&compactor.model.connection)),
            (None, None) => return Ok(false),
            (Some(marker), None) => marker,
        };
        let parent = history.last().map(|message| message.id);
        let marker = Arc::new(Message { parent, ..marker });
        let messages = self.lock().transcript.with_unsaved([&marker]);
        self.services.store.append(&self.fid, messages, marker.id).await?;
        let mut state = self.lock();
        state.transcript.all_saved();
        state.record.head = Some(marker.id);
        state.transcript.append(Arc::clone(&marker));
        state.tell_added(&marker);
        Ok(true)
    }

    /// Takes the last marker back: from the next request on all goes out as before it. Says whether
    /// there was one; does nothing while a request is at work.
    pub(crate) async fn undo_compaction(self: &Arc<Self>) -> Result<bool> {
        let _gate = self.gate.lock().await;
        if self.is_busy() {
            return Ok(false);
        }
        self.services.store.claim(&self.fid).await?;
        let undone = self.undo_claimed().await;
        self.release().await;
        if undone.is_ok() {
            self.context_usage().tell();
            self.lock().unload();
        }
        undone
    }

    async fn undo_claimed(&self) -> Result<bool> {
        let branch = self.load().await?;
        let Some(marker) = branch.iter().rfind(|message| holds(message)) else { return Ok(false) };
        let mut marker = Message::clone(marker);
        for part in &mut marker.parts {
            if let Part::Compaction(compaction) = part {
                compaction.undone = true;
            }
        }
        let marker = Arc::new(marker);
        self.services.store.fold(&self.fid, Arc::clone(&marker)).await?;
        let mut state = self.lock();
        state.transcript.insert(Arc::clone(&marker));
        state.tell(SessionEvent::MessageChanged { message: marker });
        Ok(true)
    }
}

/// Whether this is a marker that holds: earlier messages go out in short since then.
pub(super) fn holds(message: &Arc<Message>) -> bool {
    message.role == Role::Ui && message.compactions().any(|compaction| !compaction.undone)
}
