//! What an exchange asks for between its rounds: tools that run, and messages that fit.

use std::sync::Arc;

use async_trait::async_trait;

use super::Response;
use crate::error::Result;
use crate::message::{Message, ToolSpec};

/// Runs the tools that a reply asks for; implemented above, by the agent's handler.
#[async_trait]
pub trait ToolRunner: Send + Sync {
    /// Runs the calls of a reply that ended with them, and gives the messages to go on with: the
    /// assistant's own, then one for each call, in order. Never fails: what a tool could not do is
    /// said in its message.
    ///
    /// # Errors
    /// Only what must end the exchange (the store failed).
    async fn run_tools(&self, response: &Response) -> Result<Vec<Arc<Message>>>;

    /// How many rounds of calls there may be before [`go_on`](Self::go_on) is asked; asked after each.
    fn round_limit(&self) -> u32;

    /// Whether to go on, with as many rounds again, after so many: the limit is met. The answer to
    /// the response's calls is there. Ends with the request.
    async fn go_on(&self, response: &Response, rounds: u32) -> bool;

    /// The tools as they are now: asked before every further round.
    fn tools(&self) -> Vec<ToolSpec>;
}

/// Makes what goes out fit the model's window; implemented above, by the agent's handler.
#[async_trait]
pub trait Fitting: Send + Sync {
    /// Asked before every round. What was sent before stays as it is, unless this says otherwise.
    ///
    /// # Errors
    /// Nothing that could be sent would fit.
    async fn fit(&self, tools: &[ToolSpec]) -> Result<Fitted>;
}

/// What is to be sent.
#[derive(Clone, Debug, Default)]
pub struct Fitted {
    /// All of it, where it is to be something else than before.
    pub messages: Option<Vec<Arc<Message>>>,
    /// How many tokens it has, as far as can be told.
    pub tokens: Option<u64>,
}
