//! Defines how a turn reads from its session and reports to it.

use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::client::{ContextWindow, Delta, Preparing};
use crate::error::{Error, Result};
use crate::message::{Ending, Message, Options, Part, ToolCall, Usage};
use crate::settings::ToolSettings;
use crate::tool::{Registry, ToolContext};

/// Where a reply goes: the session. Its replies are written one after the other; the first has
/// begun when the turn starts.
#[async_trait]
pub trait ReplySink: Send + Sync {
    /// What the next round reads, as it is now.
    fn context(&self) -> TurnContext;

    /// The window that the model has for a request of so many tokens. Its server may be asked.
    async fn context_window(&self, options: &Options, tokens: u64) -> ContextWindow {
        let _ = (options, tokens);
        ContextWindow::default()
    }

    /// Whether another request may be made: the budget of its tree may be used up.
    ///
    /// # Errors
    /// `AgentBudget`.
    fn admit_request(&self) -> Result<()> {
        Ok(())
    }

    /// The same for a request for a summary of the conversation, which reads so many bytes and writes
    /// at most so many tokens.
    ///
    /// # Errors
    /// `AgentBudget`.
    fn admit_summary(&self, bytes: u64, tokens: u64) -> Result<()> {
        let _ = (bytes, tokens);
        Ok(())
    }

    /// Such a request has ended, with what its server says that it cost.
    fn summary_ended(&self, usage: Option<&Usage>) {
        let _ = usage;
    }

    /// Whether somebody sees the reply come.
    fn is_watched(&self) -> bool {
        false
    }

    /// Adds what arrived to the reply that is being written.
    fn apply(&self, delta: &Delta);

    /// The parts of the reply that is being written, tool calls last, and what it cost. Nothing more
    /// of it comes.
    fn reply(&self) -> (Vec<Part>, Usage);

    /// Reports something other than text.
    fn progress(&self, progress: TurnProgress);

    /// Ends the reply that is being written. Durable when it returns, or kept in memory and tried
    /// again where the store fails.
    async fn end_reply(&self, end: ReplyEnd) -> Arc<Message>;

    /// A call of the reply that ended starts. Returns what its tool gets.
    fn tool_started(&self, call: &ToolCall, cancel: &CancellationToken) -> ToolContext;

    /// A call has ended with the result in this message. Where others of the reply still run
    /// (`store`) it is durable when this returns, or kept in memory and tried again where the store
    /// fails.
    async fn tool_finished(&self, call: &ToolCall, result: &Arc<Message>, store: bool);

    /// Adds the results of all calls of the reply, as far as they are not stored already, and begins
    /// another reply after them where there is one. Gives what the user says between the two, in
    /// order. Where the store refuses the results they are kept in memory and tried again.
    ///
    /// # Errors
    /// The store's: no reply was begun.
    async fn begin_next(
        &self,
        results: &[Arc<Message>],
        next: NextReply,
    ) -> Result<Vec<Arc<Message>>>;

    /// Takes back what the user says after the last results, since the server refuses it there: it is
    /// delivered later. Returns whether the reply that has begun follows the results alone now.
    async fn take_steered_back(&self) -> bool {
        false
    }

    /// Puts a marker into the conversation, before the reply that has begun.
    ///
    /// # Errors
    /// The store's: the conversation is as it was.
    async fn add_marker(&self, marker: Message) -> Result<()>;

    /// Asks the user whether to continue after so many rounds of tools, the last of which ended with
    /// this call. Ends with the request; nobody there means no.
    async fn ask_to_continue(
        &self,
        call: &ToolCall,
        rounds: u32,
        cancel: &CancellationToken,
    ) -> bool;
}

/// What follows the results of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextReply {
    /// Nothing: the turn ends.
    None,
    /// Another reply.
    AfterResults,
    /// Another reply, after the results and what the user said meanwhile.
    Steerable,
}

/// What one round reads of its session.
#[derive(Clone, Debug)]
pub struct TurnContext {
    /// The tools that the session can offer, before its agent chooses from them.
    pub tools: Registry,
    /// The settings of tools.
    pub settings: Arc<ToolSettings>,
    /// The conversation, without the reply that is being written.
    pub history: Vec<Arc<Message>>,
    /// How full the window may be before the conversation is compacted, in percent; 0 is never.
    pub compact_at: u8,
}

/// Everything that happens in a turn other than arriving text.
#[derive(Clone, Debug)]
pub enum TurnProgress {
    /// The server has not answered yet.
    Waiting,
    /// The model is being made ready.
    Preparing(Preparing),
    /// The server asked us to wait until then.
    RateLimited(Timestamp),
    /// From now on the reply looks like a loop, or no longer does.
    LooksLikeLoop(bool),
    /// Earlier messages are being summarized.
    Compacting,
    /// Something went wrong that does not end the turn.
    Notice(Error),
}

/// How a reply ended. Its parts are those of the reply that was being written.
#[derive(Clone, Debug)]
pub struct ReplyEnd {
    /// How.
    pub ended: Ending,
    /// What went wrong, where something did.
    pub error: Option<Error>,
}
