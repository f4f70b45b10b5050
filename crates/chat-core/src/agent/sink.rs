//! What a handler may do to its session.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::client::Preparing;
use crate::error::{Error, Result};
use crate::event::TextKind;
use crate::message::{Ending, Message, ToolCall, ToolResult, Usage};
use crate::settings::ToolSettings;
use crate::tool::{Registry, ToolContext};

/// Where a reply goes: the session. Its replies are written one after the other; the first has
/// begun when the handler starts.
#[async_trait]
pub trait ReplySink: Send + Sync {
    /// The server has not answered yet.
    fn on_waiting(&self);

    /// The model is being made ready.
    fn on_preparing(&self, what: Preparing);

    /// The server asked us to wait until then.
    fn on_rate_limited(&self, until: Timestamp);

    /// The reply grew.
    fn on_chunk(&self, kind: TextKind, text: &str);

    /// Ends the reply that is being written. Durable when it returns, or kept in memory and tried
    /// again where the store fails.
    async fn end_reply(&self, end: ReplyEnd) -> Arc<Message>;

    /// A tool call of the reply that ended begins; or it has ended, with this result.
    fn on_tool(&self, call: &ToolCall, result: Option<&Arc<ToolResult>>);

    /// Keeps the result of a call while others of the reply are still to come. Durable when it
    /// returns, or kept in memory and tried again where the store fails.
    async fn keep_result(&self, result: Arc<Message>);

    /// Adds the results of all calls of the reply, as far as they are not kept already, and begins
    /// another reply after them where `goes_on`. Where the store refuses them they are kept in memory
    /// and tried again.
    ///
    /// # Errors
    /// The store's: no reply was begun.
    async fn add_results(&self, results: &[Arc<Message>], goes_on: bool) -> Result<()>;

    /// Asks the person whether to go on after so many rounds of tools, the last of which ended with
    /// this call. Ends with the request; nobody there means no.
    async fn go_on(&self, call: &ToolCall, rounds: u32, cancel: &CancellationToken) -> bool;

    /// The settings of tools as they are now.
    fn tool_settings(&self) -> Arc<ToolSettings>;

    /// The tools that this session can offer now, before its agent chooses from them.
    fn tools(&self) -> Registry;

    /// What is around a call of a tool.
    fn tool_context(&self, call: &ToolCall, cancel: &CancellationToken) -> ToolContext;
}

/// How a reply ended.
#[derive(Clone, Debug)]
pub struct ReplyEnd {
    /// How.
    pub ended: Ending,
    /// What went wrong, where something did.
    pub error: Option<Error>,
    /// What it cost.
    pub usage: Usage,
    /// The tool calls that it asks for.
    pub calls: Vec<ToolCall>,
}
