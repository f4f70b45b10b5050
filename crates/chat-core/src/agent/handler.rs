//! Runs one turn: sends the conversation, executes the tools that the reply calls, and sends their
//! results, until a reply calls none.

use std::sync::Arc;

use async_trait::async_trait;

use super::Turn;
use crate::chat::Response;
use crate::error::{Error, Result};
use crate::event::StopReason;
use crate::message::{Ending, Message, ToolCall, Usage};

/// Answers the last message of a conversation. Made by an agent for one turn, and gone when that
/// ends. [`Turn`] is the default one; an agent that executes tools its own way wraps it.
#[async_trait]
pub trait AgentHandler: Send {
    /// The turn.
    fn turn(&mut self) -> &mut Turn;

    /// Executes the calls of a reply and returns one message for each, in order. Never fails: the
    /// message says what a tool could not do. Sends nothing to the model.
    async fn execute_tools(&mut self, calls: &[ToolCall]) -> Vec<Arc<Message>> {
        self.turn().execute_calls(calls).await
    }

    /// Runs the turn. The first reply has begun in the sink; every reply is ended there, however it
    /// ends. Dropping the future drops the request; the turn's token stops it and keeps what had
    /// arrived.
    async fn run(&mut self) -> Outcome {
        let end = self.rounds().await;
        self.turn().finish(end).await
    }

    /// Sends and executes tools until a reply calls none, or something ends the turn before. What the
    /// user says meanwhile goes out after the results.
    ///
    /// # Errors
    /// What [`Chat::send`](crate::chat::Chat::send) says, `ContextFull`, `RepeatedCalls`,
    /// `RoundLimit`, and the store's.
    async fn rounds(&mut self) -> Result<Response> {
        let mut results = Vec::new();
        loop {
            let turn = self.turn();
            let context = turn.context();
            turn.rebuild_tools(&context);
            let response = match turn.fit(&context).await? {
                Some(all) => turn.send(all).await,
                None => turn.send_append(results).await,
            };
            let response = turn.without_refused(response).await?;
            let calls = response.tool_calls();
            if calls.is_empty() || response.ended != Ending::Complete {
                return Ok(response);
            }
            turn.end_reply(&response).await;
            results = self.execute_tools(&calls).await;
            let turn = self.turn();
            let repeats = turn.check_loops(&calls);
            let steered = turn.begin_next(&results, repeats.is_err()).await?;
            repeats?;
            results.extend(steered);
            if !turn.goes_on(&calls).await? {
                return Ok(Response::stopped());
            }
        }
    }
}

/// How a turn ended.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Why.
    pub reason: StopReason,
    /// What it cost, over all its rounds.
    pub usage: Usage,
    /// What went wrong, where something did.
    pub error: Option<Error>,
}

#[cfg(test)]
mod tests;
