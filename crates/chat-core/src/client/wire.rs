//! Defines a request and a reply for all protocols.

use std::sync::Arc;

use super::recipient::Recipient;
use crate::message::{Message, Options, ProviderData, Sampling, Thinking, ToolSpec, Usage};

/// What is sent to a model.
#[derive(Clone, Debug)]
pub struct Request {
    /// The model's name on the server.
    pub model: String,
    /// The conversation, oldest first. `ui` messages must not be among them.
    pub messages: Vec<Arc<Message>>,
    /// Tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// Whether it must.
    pub tool_choice: ToolChoice,
    /// How much it is to think.
    pub thinking: Thinking,
    /// Sampling and window.
    pub options: Options,
    /// What counts where the options leave it open: for the built-in engine.
    pub sampling: Sampling,
    /// Whether the reply comes in pieces; otherwise in one batch.
    pub stream: bool,
    /// How many tokens it has, where that was measured: for servers whose window is asked for.
    pub tokens: Option<u64>,
}

impl Request {
    /// A streaming request without tools and options.
    pub fn new(model: impl Into<String>, messages: Vec<Arc<Message>>) -> Self {
        Self {
            model: model.into(),
            messages,
            tools: Vec::new(),
            tool_choice: ToolChoice::Auto,
            thinking: Thinking::Default,
            options: Options::default(),
            sampling: Sampling::default(),
            stream: true,
            tokens: None,
        }
    }
}

/// The context window that a model has for a request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ContextWindow {
    /// The window that the request will have, in tokens, where that is known.
    pub now: Option<u32>,
    /// The largest window that a longer one could have.
    pub largest: Option<u32>,
    /// What goes back to the model of what it thought earlier.
    pub reasoning: SentReasoning,
}

/// What goes back to a model of what it thought earlier.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SentReasoning {
    /// Whether their text does.
    pub text: bool,
    /// The model itself, where what it sent along with them does, in place of their text.
    pub data_of: Option<Arc<Recipient>>,
}

impl SentReasoning {
    /// What goes back of this, in bytes.
    pub(crate) fn bytes(&self, data: &ProviderData) -> u64 {
        let json = self.data_of.as_ref().and_then(|model| model.json(data));
        json.map_or(0, str::len) as u64
    }
}

/// Whether a model must call a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ToolChoice {
    /// It decides.
    #[default]
    Auto,
    /// It must not.
    None,
    /// It must.
    Required,
}

/// What a model does before it writes anything. Only some servers report it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preparing {
    /// Other conversations are answered first.
    Queued,
    /// The request is not sent yet: its connection answers as many as it may.
    AwaitingSlot {
        /// How many of those that wait go before it.
        before: u32,
    },
    /// It is being loaded.
    Loading {
        /// How much is done, of 100.
        percent: u8,
    },
    /// It reads what was said.
    Reading {
        /// How much is done, of 100.
        percent: u8,
    },
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta {
    /// Nothing yet: the model is being made ready.
    Preparing(Preparing),
    /// Nothing yet: a request that awaited a slot is sent now.
    Sent,
    /// More text.
    Text(String),
    /// More thinking.
    Thinking(String),
    /// What the server wants back with a part.
    Provider {
        /// The index of the tool call that it belongs to; none of the thinking that came before it, or
        /// instead of any.
        call: Option<usize>,
        /// What it wants back.
        data: ProviderData,
    },
    /// A piece of a tool call: pieces of one call carry one index. The first brings the name;
    /// `arguments` is a fragment of JSON text.
    ToolCall {
        /// Which call of this reply, from 0.
        index: usize,
        /// The call's id, in the piece that brings it.
        id: Option<String>,
        /// The tool's name, in the piece that brings it.
        name: Option<String>,
        /// More of the arguments' JSON text.
        arguments: String,
    },
    /// What it cost; may come after the text.
    Usage(Usage),
    /// The reply is complete: always last.
    Finish(Finish),
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finish {
    /// It was done.
    Stop,
    /// It met a limit of length.
    Length,
    /// It waits for its tool calls' results.
    ToolCalls,
    /// The server's content filter ended it.
    Filtered,
    /// Something else, in the server's words.
    Other(String),
}

impl Finish {
    /// An end by a reason that the protocol has no word for. Content filters say `content_filter`,
    /// which Gemini follows up with its own word; some gateways pass that one on alone, and GLM has
    /// another.
    pub(super) fn other(reason: &str) -> Self {
        let word = reason.to_ascii_lowercase();
        let filtered = word.starts_with("content_filter")
            || matches!(&*word, "safety" | "prohibited_content" | "blocklist" | "sensitive");
        if filtered { Self::Filtered } else { Self::Other(reason.to_owned()) }
    }
}
