//! What waits until the session is free, and how it goes out.

use std::sync::Arc;

use tokio_util::sync::CancellationToken;

use super::Session;
use super::parts::queue::Waiting;
use crate::error::Result;
use crate::message::{ChatRequest, MessageId, Queued};

impl Session {
    /// Has a message wait where a request is at work or others wait already, and says whether. The
    /// gate must be held.
    pub(super) async fn enqueue_unless_free(
        &self,
        id: MessageId,
        request: &ChatRequest,
    ) -> Result<bool> {
        let must_wait = {
            let state = self.lock();
            state.turns.is_busy() || !state.queue.is_empty()
        };
        if must_wait {
            let waiting = Waiting { id, request: request.clone() };
            self.services.store.enqueue(&self.fid, waiting.queued()).await?;
            let mut state = self.lock();
            let event = state.queue.push(waiting);
            state.tell(event);
        }
        Ok(must_wait)
    }

    /// Sends the first message that waits, unless a request is at work.
    pub(crate) async fn send_waiting(self: &Arc<Self>) {
        self.begin_waiting(self.stopped_from_now()).await;
    }

    /// The same, unless that is stopped: then it waits on.
    pub(super) async fn begin_waiting(self: &Arc<Self>, cancel: CancellationToken) {
        if self.is_busy() {
            return;
        }
        let Some(request) = self.first_waiting() else { return };
        let Some(_turn) = cancel.run_until_cancelled(self.get_ready(&request)).await else {
            return;
        };
        let _gate = self.gate.lock().await;
        if !self.is_busy() && !cancel.is_cancelled() {
            self.begin_next(cancel).await;
        }
    }

    /// What goes out next.
    pub(super) fn first_waiting(&self) -> Option<ChatRequest> {
        self.lock().queue.first().cloned()
    }

    /// Begins the first waiting request. Where that fails it goes on waiting, and the person hears
    /// why. What another process sent or took back is passed over. The gate must be held.
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
            match self.begin(waiting.id, &waiting.request, true, cancel.clone()).await {
                Ok(true) => return true,
                Ok(false) => {}
                Err(error) => {
                    {
                        let mut state = self.lock();
                        let event = state.queue.put_back(waiting);
                        state.tell(event);
                    }
                    self.notice(error);
                    return false;
                }
            }
        }
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
        Ok(waited.then(|| waiting.queued()))
    }
}
