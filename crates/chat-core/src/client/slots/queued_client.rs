//! Waits for a slot of its connection before a request is sent.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_trait::async_trait;
use futures_util::stream::{self, Stream, StreamExt};

use super::{Lane, Place, Priority, RequestSlots, Requester, Ticket};
use crate::client::{Client, ContextWindow, Delta, ModelInfo, Preparing, Reply, Request};
use crate::error::{Kind, Result};
use crate::message::{OptionName, Options};

/// How often work in the background is begun, if replies take its slot each time.
const TRIES: usize = 3;

/// A client whose requests wait for a slot. A slot is held from sending until the reply's stream
/// has ended or is dropped. Questions about models need none.
pub(super) struct QueuedClient {
    pub inner: Arc<dyn Client>,
    pub slots: RequestSlots,
    pub lane: Lane,
    pub requester: Requester,
}

impl QueuedClient {
    /// Sends at once if there is a slot. Otherwise the stream says how many go before this request,
    /// and sends it when its turn comes.
    async fn reply(&self, request: Request) -> Result<Reply> {
        let ticket = self.slots.enter(&self.lane, &self.requester);
        if ticket.is_granted() {
            let reply = self.inner.chat(request).await?;
            return Ok(Held { reply, ticket: Some(ticket) }.boxed());
        }
        let waits = Waits { ticket, inner: Arc::clone(&self.inner), request };
        Ok(stream::unfold(Step::Waiting(waits, None), step).boxed())
    }

    /// Collects a reply that nobody watches: if a reply wants the slot, it is asked for again.
    ///
    /// # Errors
    /// `Cut` if replies took the slot each time. What the client says.
    async fn in_background(&self, request: Request) -> Result<Reply> {
        for _ in 0..TRIES {
            let mut ticket = self.slots.enter(&self.lane, &self.requester);
            ticket.granted().await;
            let whole = async {
                let reply = self.inner.chat(request.clone()).await?;
                Ok(reply.collect::<Vec<_>>().await)
            };
            tokio::select! {
                biased;
                () = ticket.revoked() => {}
                whole = whole => return whole.map(|batches| stream::iter(batches).boxed()),
            }
        }
        Err(Kind::Cut.into())
    }
}

#[async_trait]
impl Client for QueuedClient {
    async fn models(&self) -> Result<Vec<ModelInfo>> {
        self.inner.models().await
    }

    async fn model(&self, name: &str) -> Result<ModelInfo> {
        self.inner.model(name).await
    }

    async fn context_window(&self, model: &str, options: &Options, tokens: u64) -> ContextWindow {
        self.inner.context_window(model, options, tokens).await
    }

    fn takes(&self, option: OptionName) -> bool {
        self.inner.takes(option)
    }

    async fn chat(&self, request: Request) -> Result<Reply> {
        match self.requester.priority {
            Priority::Reply => self.reply(request).await,
            Priority::Background => self.in_background(request).await,
        }
    }
}

impl std::fmt::Debug for QueuedClient {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut debug = f.debug_struct("QueuedClient");
        debug.field("inner", &self.inner).field("lane", &self.lane).finish_non_exhaustive()
    }
}

/// A reply that holds its slot until it ends. The reply is dropped first: until then its server is
/// at work.
struct Held {
    reply: Reply,
    ticket: Option<Ticket>,
}

impl Stream for Held {
    type Item = Result<Vec<Delta>>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let batch = self.reply.poll_next_unpin(cx);
        if matches!(batch, Poll::Ready(None)) {
            self.ticket = None;
        }
        batch
    }
}

/// A request that waits.
struct Waits {
    ticket: Ticket,
    inner: Arc<dyn Client>,
    request: Request,
}

/// How far a request is that had to wait.
enum Step {
    /// It waits. So many were said to go before it.
    Waiting(Waits, Option<u32>),
    /// It has a slot.
    Sending(Waits),
    Streaming(Held),
    Failed,
}

async fn step(at: Step) -> Option<(Result<Vec<Delta>>, Step)> {
    match at {
        Step::Waiting(mut waits, said) => loop {
            let place = *waits.ticket.place.borrow_and_update();
            match place {
                Place::Waiting { before } if said != Some(before) => {
                    let waiting = Delta::Preparing(Preparing::AwaitingSlot { before });
                    return Some((Ok(vec![waiting]), Step::Waiting(waits, Some(before))));
                }
                Place::Waiting { .. } => waits.ticket.place.changed().await.ok()?,
                Place::Granted | Place::Revoked => {
                    return Some((Ok(vec![Delta::Sent]), Step::Sending(waits)));
                }
            }
        },
        Step::Sending(Waits { ticket, inner, request }) => match inner.chat(request).await {
            Ok(reply) => next(Held { reply, ticket: Some(ticket) }).await,
            Err(error) => Some((Err(error), Step::Failed)),
        },
        Step::Streaming(held) => next(held).await,
        Step::Failed => None,
    }
}

async fn next(mut held: Held) -> Option<(Result<Vec<Delta>>, Step)> {
    let batch = held.next().await?;
    Some((batch, Step::Streaming(held)))
}
