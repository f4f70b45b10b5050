//! The round of tools that runs: how far each call is, and results that come before others.
//!
//! A result is stored as soon as it is there, so that neither a stop nor the end of the program takes
//! it along: its message follows the one before it in the order in which they came. What goes to a
//! model is in the order of the calls ([`outgoing`](crate::agent::outgoing)).

use std::sync::Arc;

use super::Session;
use super::state::State;
use crate::error::{Kind, Result};
use crate::event::{CallState, Event, OpenCall};
use crate::message::{Message, MessageId, MessageTree, ModelRef, ToolCall, ToolCallId, ToolResult};

/// The calls of a reply whose tools run.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// The calls, in order; none between two rounds.
    calls: Vec<OpenCall>,
    /// Results that are to be stored with the next write.
    reached: Vec<Arc<Message>>,
}

impl Round {
    /// The calls of a reply that has ended are to run.
    pub(super) fn of(message: MessageId, calls: &[ToolCall]) -> Self {
        let open = |call: &ToolCall| OpenCall {
            message,
            call: call.id.clone(),
            state: CallState::Waiting,
        };
        Self { calls: calls.iter().map(open).collect(), reached: Vec::new() }
    }

    /// The calls, in order.
    pub(super) fn calls(&self) -> Vec<OpenCall> {
        self.calls.clone()
    }

    /// Notes how far a call is, and gives the message that holds it.
    fn note(&mut self, id: &ToolCallId, state: CallState) -> Option<MessageId> {
        // Of two calls with one id the first that has not ended is meant.
        let is_open =
            |call: &&mut OpenCall| call.call == *id && !matches!(call.state, CallState::Done(_));
        let call = self.calls.iter_mut().find(is_open)?;
        call.state = state;
        Some(call.message)
    }
}

impl Session {
    /// A call begins, or has ended with a result.
    pub(super) fn on_tool(&self, call: &ToolCall, result: Option<&Arc<ToolResult>>) {
        let call_state = match result {
            Some(result) => CallState::Done(Arc::clone(result)),
            None => CallState::Running { tail: Arc::default(), bytes: 0 },
        };
        let mut state = self.lock();
        let Some(message) = state.round.note(&call.id, call_state) else { return };
        let (call, result) = (call.id.clone(), result.cloned());
        let running = result.is_none();
        state.tell(|seq, fid| Event::ToolCallChanged { fid, seq, message, call, running, result });
    }

    /// A running command wrote more.
    pub(super) fn on_output(&self, call: &ToolCall, tail: &str, bytes: u64) {
        let tail: Arc<str> = Arc::from(tail);
        let running = CallState::Running { tail: Arc::clone(&tail), bytes };
        let mut state = self.lock();
        let Some(message) = state.round.note(&call.id, running) else { return };
        let call = call.id.clone();
        state.tell(|seq, fid| Event::ToolOutput { fid, seq, message, call, tail, bytes });
    }

    /// Stores a result while others of its round are still to come. Where the store refuses it, it
    /// is kept in memory, and the next write takes it along.
    pub(super) async fn keep_result(&self, result: Arc<Message>) {
        self.lock().round.reached.push(result);
        let _one = self.keeping.lock().await;
        // Those that came while the store was busy are written at once, by the first who may.
        let results = std::mem::take(&mut self.lock().round.reached);
        if results.is_empty() {
            return;
        }
        let was_stored = self.lock().unsaved.is_empty();
        if let Err(error) = self.store_results(&results, None).await
            && was_stored
        {
            self.notice(error);
        }
    }

    /// Stores what is not stored yet of a round's results, and begins another reply after them.
    pub(super) async fn add_results(
        self: &Arc<Self>,
        results: &[Arc<Message>],
        reply: Option<ModelRef>,
    ) -> Result<()> {
        let _one = self.keeping.lock().await;
        let new: Vec<_> = {
            let mut state = self.lock();
            state.round.reached.clear();
            let is_new = |result: &&Arc<Message>| {
                state.tree.as_ref().is_none_or(|tree| tree.get(result.id).is_none())
            };
            results.iter().filter(is_new).cloned().collect()
        };
        let stored = self.store_results(&new, reply).await;
        self.lock().round = Round::default();
        if stored.is_err() {
            self.save_later();
        }
        stored
    }

    /// Appends results to the transcript, also where the store refuses them: then they wait for it.
    /// One at a time.
    async fn store_results(&self, results: &[Arc<Message>], reply: Option<ModelRef>) -> Result<()> {
        let head = self.lock().tree.as_ref().and_then(MessageTree::head);
        let mut parent = head.ok_or(Kind::Internal)?;
        let mut chained = Vec::with_capacity(results.len());
        for result in results {
            let result = Message { parent: Some(parent), ..Message::clone(result) };
            parent = result.id;
            chained.push(Arc::new(result));
        }
        let reply = reply.map(|model| Arc::new(Message::reply(Some(parent), model)));
        let messages = self.with_unsaved(chained.iter().chain(&reply));
        let stored = match messages.last().map(|message| message.id) {
            Some(head) => self.world.store.append(&self.fid, messages, head).await,
            None => Ok(()),
        };
        let mut state = self.lock();
        state.add_results(&chained);
        match (&stored, &reply) {
            (Ok(()), Some(reply)) => {
                state.unsaved.clear();
                state.begin_reply(reply);
            }
            (Ok(()), None) => state.unsaved.clear(),
            (Err(_), _) => state.unsaved.extend(chained),
        }
        stored
    }
}

impl State {
    /// Results of tools stand in the transcript, the last at its head.
    fn add_results(&mut self, results: &[Arc<Message>]) {
        for result in results {
            let tree = self.tree.get_or_insert_default();
            tree.insert(Arc::clone(result));
            tree.set_head(Some(result.id));
            self.record.head = Some(result.id);
            self.tell_added(result);
        }
    }
}
