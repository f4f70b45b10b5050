//! The tools of a reply that run: what is told of them, and how their results are stored.
//!
//! A result is stored as soon as it is there, so that neither a stop nor the end of the program takes
//! it along: its message follows the one before it in the order in which they came. What goes to a
//! model is in the order of the calls ([`outgoing`](crate::agent::outgoing)).

use std::sync::Arc;

use chat_permission::Action;

use super::parts::steering::Steered;
use super::parts::tool_calls::ToolCalls;
use super::steering::Steering;
use super::turn::RunningTurn;
use crate::error::Result;
use crate::event::SessionEvent;
use crate::message::{Fid, Message, ModelRef, Part, ToolCall};

impl RunningTurn {
    /// A call begins.
    pub(super) fn tool_started(&self, call: &ToolCall) {
        self.tell_tool(|calls| calls.start(&call.id));
        self.tell_activity();
    }

    /// What a call does is permitted.
    pub(super) fn tool_permitted(&self, call: &ToolCall, action: Action) {
        self.tell_tool(|calls| calls.permitted(&call.id, action));
    }

    /// A running command wrote more.
    pub(super) fn on_output(&self, call: &ToolCall, tail: &str, bytes: u64) {
        self.tell_tool(|calls| calls.output(&call.id, tail, bytes));
    }

    /// A call has started these agents, or waits for them.
    pub(super) fn on_agents(&self, call: &ToolCall, agents: Vec<Fid>) {
        self.tell_tool(|calls| calls.agents(&call.id, agents));
    }

    /// A call has ended with the result in this message.
    pub(super) fn tool_finished(&self, call: &ToolCall, message: &Message) {
        let results = message.parts.iter().filter_map(|part| match part {
            Part::ToolResult(result) => Some(Arc::new(result.clone())),
            _ => None,
        });
        for result in results {
            self.tell_tool(|calls| calls.finish(&call.id, &result));
        }
        self.tell_activity();
    }

    /// A reply cost so many tokens.
    pub(super) fn spent(&self, tokens: u64) {
        if let Some(mut state) = self.lock() {
            state.turns.spend(tokens);
        }
        self.tell_activity();
    }

    /// Has all hear of what an agent works on now. Who is no agent has no line that says it.
    fn tell_activity(&self) {
        let is_agent = self.lock().is_some_and(|state| state.is_agent());
        if is_agent {
            self.session.tell_changed();
        }
    }

    fn tell_tool(&self, change: impl FnOnce(&mut ToolCalls) -> Option<SessionEvent>) {
        let Some(mut state) = self.lock() else { return };
        if let Some(event) = change(&mut state.tool_calls) {
            state.tell(event);
        }
    }

    /// Stores a result while others of its round are still to come. Where the store refuses it, it
    /// is kept in memory, and the next write takes it along.
    pub(super) async fn keep_result(&self, result: Arc<Message>) {
        self.session.lock().tool_calls.reached(result);
        let _one = self.session.writing.lock().await;
        // Those that came while the store was busy are written at once, by the first who may.
        let results = self.session.lock().tool_calls.take_reached();
        if results.is_empty() {
            return;
        }
        let was_stored = self.session.lock().transcript.with_unsaved([]).is_empty();
        if let Err(error) = self.store_results(&results, None).await
            && was_stored
        {
            self.session.notice(error);
        }
    }

    /// Stores what is not stored yet of a round's results, and begins another reply after them.
    /// Gives what the person says in between: where an agent's name is given, what waits for that.
    pub(super) async fn add_results(
        &self,
        results: &[Arc<Message>],
        reply: Option<ModelRef>,
        steered_by: Option<&str>,
    ) -> Result<Vec<Arc<Message>>> {
        let steering = match steered_by {
            Some(agent) => self.gather_steering(results, agent).await,
            None => None,
        };
        let _one = self.session.writing.lock().await;
        let new: Vec<_> = {
            let mut state = self.session.lock();
            state.tool_calls.take_reached();
            let is_new = |result: &&Arc<Message>| state.transcript.get(result.id).is_none();
            results.iter().filter(is_new).cloned().collect()
        };
        self.session.lock().steered = Steered::default();
        let stored = self.store_round(&new, reply, steering).await;
        self.session.lock().tool_calls = ToolCalls::default();
        if stored.is_err() {
            self.save_later();
        }
        stored
    }

    async fn store_round(
        &self,
        results: &[Arc<Message>],
        reply: Option<ModelRef>,
        steering: Option<Steering<'_>>,
    ) -> Result<Vec<Arc<Message>>> {
        if let (Some(steering), Some(model)) = (steering, &reply)
            && let Ok(Some(steered)) = self.store_steering(results, steering, model).await
        {
            return Ok(steered);
        }
        // What could not be stored with them waits for the next round.
        self.store_results(results, reply).await?;
        Ok(Vec::new())
    }

    /// Appends results to the transcript, also where the store refuses them: then they wait for it.
    /// One at a time.
    async fn store_results(&self, results: &[Arc<Message>], reply: Option<ModelRef>) -> Result<()> {
        let chained = self.chained(results.iter())?;
        let head = self.session.lock().transcript.head();
        let parent = chained.last().map(|result| result.id).or(head);
        let reply = reply.map(|model| Arc::new(Message::reply(parent, model)));
        let messages = self.session.lock().transcript.with_unsaved(chained.iter().chain(&reply));
        let stored = match messages.last().map(|message| message.id) {
            Some(head) => {
                self.session.services.store.append(&self.session.fid, messages, head).await
            }
            None => Ok(()),
        };
        if stored.is_ok() {
            self.settle_reports(&chained);
        }
        let mut state = self.session.lock();
        state.append(&chained);
        match (&stored, &reply) {
            (Ok(()), Some(reply)) => {
                state.transcript.all_saved();
                state.begin_reply(reply);
            }
            (Ok(()), None) => state.transcript.all_saved(),
            (Err(_), _) => state.transcript.keep_unsaved(chained),
        }
        stored
    }

    /// These results are stored, and so are the reports that they carry.
    pub(super) fn settle_reports(&self, results: &[Arc<Message>]) {
        let carried = results.iter().flat_map(|result| result.carried_reports());
        self.session.tree.settle(carried.collect::<Vec<_>>());
    }
}
