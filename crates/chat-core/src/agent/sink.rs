//! What a handler may do to its session.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::client::{Preparing, Room};
use crate::error::{Error, Result};
use crate::event::TextKind;
use crate::message::{Ending, Message, Options, ToolCall, ToolResult, Usage};
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

    /// From now on the reply looks like a loop, or does no more.
    fn on_loop(&self, looks: bool) {
        let _ = looks;
    }

    /// Whether somebody sees the reply come.
    fn is_watched(&self) -> bool {
        false
    }

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

    /// The conversation as it is now, without the reply that is being written. Empty where the
    /// window is of no concern.
    fn history(&self) -> Vec<Arc<Message>> {
        Vec::new()
    }

    /// The room that the model has for a request of so many tokens.
    async fn room(&self, options: &Options, tokens: u64) -> Room {
        let _ = (options, tokens);
        Room::default()
    }

    /// How full the window may be before the conversation is made shorter, of 100; 0 is never.
    fn compacts_at(&self) -> u8 {
        0
    }

    /// Earlier messages are being summed up.
    fn on_compacting(&self) {}

    /// Something went wrong that does not end the request.
    fn on_notice(&self, error: Error) {
        let _ = error;
    }

    /// Puts a marker into the conversation, before the reply that has begun.
    ///
    /// # Errors
    /// The store's: the conversation is as it was.
    async fn add_marker(&self, marker: Message) -> Result<()> {
        let _ = marker;
        Ok(())
    }

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
