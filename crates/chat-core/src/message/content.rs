//! Defines a message and its parts.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{
    Attachment, CommandText, Compaction, Content, FromAgent, MessageId, ModelRef, ProviderData,
    ToolCall, ToolResult,
};
use crate::error::{Error, Kind};

/// One entry of a transcript. Messages form a tree; see [`MessageTree`](super::MessageTree).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Message {
    /// Its id, unique over all sessions.
    pub id: MessageId,
    /// The message that it follows; none for the first.
    pub parent: Option<MessageId>,
    /// Who speaks.
    pub role: Role,
    /// What it consists of, in order.
    pub parts: Vec<Part>,
    /// When it began.
    pub time: Timestamp,
    /// How it ended; none while it is still being written.
    pub ended: Option<Ending>,
    /// What went wrong, where it ended as failed or interrupted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
    /// The model that wrote it (assistant messages).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// What it cost (assistant messages).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// The reply that it goes on with where that was cut off: both are one reply, for people and for
    /// the model (assistant messages).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continues: Option<MessageId>,
}

impl Message {
    /// A complete message of one text part, made now.
    pub fn text(role: Role, parent: Option<MessageId>, text: impl Into<String>) -> Self {
        Self {
            id: MessageId::new(),
            parent,
            role,
            parts: vec![Part::Text(text.into())],
            time: Timestamp::now(),
            ended: Some(Ending::Complete),
            error: None,
            model: None,
            usage: None,
            continues: None,
        }
    }

    /// An assistant's message that is about to be written.
    pub fn reply(parent: Option<MessageId>, model: ModelRef) -> Self {
        Self {
            parts: Vec::new(),
            ended: None,
            model: Some(model),
            ..Self::text(Role::Assistant, parent, "")
        }
    }

    /// Whether the user wrote it. What an agent says to a chat has the same role, but is not theirs.
    pub fn is_of_user(&self) -> bool {
        let is_of_agent = |part: &Part| matches!(part, Part::FromAgent(_));
        self.role == Role::User && !self.parts.iter().any(is_of_agent)
    }

    /// Whether it asks for work: it is the user's, or in an agent's chat what another agent says there.
    pub fn asks_for_work(&self, of_agent: bool) -> bool {
        let is_said = |part: &Part| matches!(part, Part::FromAgent(FromAgent::Message { .. }));
        self.is_of_user() || of_agent && self.role == Role::User && self.parts.iter().any(is_said)
    }

    /// Whether it is a reply that was ended because it repeated itself.
    pub(crate) fn is_loop(&self) -> bool {
        matches!(&self.error, Some(error) if matches!(error.kind, Kind::Repetition { .. }))
    }

    /// Whether it says nothing of its own, but has the model continue its last reply.
    pub(crate) fn continues_reply(&self) -> bool {
        let is_context = |part: &Part| matches!(part, Part::Context { .. });
        self.role == Role::User && !self.parts.is_empty() && self.parts.iter().all(is_context)
    }

    /// A tool's answer to a call, made now.
    pub fn tool_result(result: ToolResult) -> Self {
        Self { parts: vec![Part::ToolResult(result)], ..Self::text(Role::Tool, None, "") }
    }

    /// All text parts, joined: what is shown as the message and copied from it.
    pub fn plain_text(&self) -> String {
        let mut out = String::new();
        for part in &self.parts {
            if let Part::Text(text) = part {
                out.push_str(text);
            }
        }
        out
    }

    /// What a message of the user's was made from. What it mentioned is among the attachments.
    pub fn content(&self) -> Content {
        let attachments = self.parts.iter().filter_map(|part| match part {
            Part::Image { mime, data } => {
                Some(Attachment::Image { mime: mime.clone(), data: Arc::clone(data) })
            }
            Part::File { name, text } => {
                Some(Attachment::File { name: name.clone(), text: text.clone() })
            }
            Part::Command(command) => Some(Attachment::Command(command.clone())),
            _ => None,
        });
        Content { attachments: attachments.collect(), ..Content::text(self.plain_text()) }
    }

    /// A copy under another id, in which all ids of messages are those that `new_id` gives for them. One
    /// for which it gives none is not there any more.
    #[must_use]
    pub(crate) fn copy_as(
        &self,
        id: MessageId,
        new_id: impl Fn(MessageId) -> Option<MessageId>,
    ) -> Self {
        let mut copy = self.clone();
        copy.id = id;
        copy.parent = copy.parent.and_then(&new_id);
        copy.continues = copy.continues.and_then(&new_id);
        for part in &mut copy.parts {
            if let Part::Compaction(compaction) = part {
                compaction.upto = new_id(compaction.upto).unwrap_or(compaction.upto);
            }
        }
        copy
    }

    /// What its servers want back with its parts.
    pub fn provider_data(&self) -> impl Iterator<Item = &ProviderData> {
        self.parts.iter().filter_map(|part| match part {
            Part::Thinking { provider, .. } => provider.as_ref(),
            _ => None,
        })
    }

    /// What it says of earlier messages that go out in short.
    pub fn compactions(&self) -> impl Iterator<Item = &Compaction> {
        self.parts.iter().filter_map(|part| match part {
            Part::Compaction(compaction) => Some(compaction),
            _ => None,
        })
    }

    /// The tool calls among its parts, in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.parts.iter().filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        })
    }

    /// Whether it holds nothing that a person or a model could read.
    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(|part| match part {
            Part::Text(text) | Part::Thinking { text, .. } => text.is_empty(),
            _ => false,
        })
    }
}

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Instructions of the agent.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool's answer to the model.
    Tool,
    /// The program itself, to the person; never reaches a model.
    Ui,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "type", content = "value")]
pub enum Part {
    /// Text of the speaker; the model's is Markdown.
    Text(String),
    /// What the model thought before it spoke.
    Thinking {
        /// The thoughts.
        text: String,
        /// How long it thought, once that is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        took: Option<Duration>,
        /// What its server wants back with it. Of thoughts that it keeps to itself there is nothing else.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        provider: Option<ProviderData>,
    },
    /// A picture that goes with the message.
    Image {
        /// Its MIME type.
        mime: String,
        /// Its bytes; stored next to the database by their hash.
        #[serde(with = "as_base64")]
        data: Arc<[u8]>,
    },
    /// A text file that goes with the message.
    File {
        /// The file's name, for people and for the model.
        name: String,
        /// Its content.
        text: String,
    },
    /// What the agent added for the model (open files, mentions); stored so that history goes out
    /// the same byte for byte, not shown as the person's words.
    Context {
        /// The text as the model gets it.
        text: String,
    },
    /// What the command stands for with which the text begins.
    Command(CommandText),
    /// An agent speaks here, and not the user.
    FromAgent(FromAgent),
    /// The model asks for a tool.
    ToolCall(ToolCall),
    /// A tool's answer.
    ToolResult(ToolResult),
    /// Earlier messages go out in short from here on (`ui` messages).
    Compaction(Compaction),
}

pub(crate) mod as_base64 {
    //! Bytes as base64 text in JSON.
    use std::sync::Arc;

    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(data: &Arc<[u8]>, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&STANDARD.encode(data))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Arc<[u8]>, D::Error> {
        let text = String::deserialize(d)?;
        STANDARD.decode(text).map(Into::into).map_err(serde::de::Error::custom)
    }
}

/// How a message ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The speaker was done.
    Complete,
    /// The model met a limit of length and stopped in the middle.
    Length,
    /// The person stopped it.
    Stopped,
    /// The program or the stream ended before it did.
    Interrupted,
    /// An error ended it.
    Failed,
}

impl Ending {
    /// What it says about a reply that wants the person's attention; none for all others.
    pub fn trouble(self) -> Option<ReplyFailure> {
        match self {
            Self::Failed => Some(ReplyFailure::Failed),
            Self::Interrupted => Some(ReplyFailure::Interrupted),
            Self::Complete | Self::Length | Self::Stopped => None,
        }
    }
}

/// How a session's last reply ended, where it wants the person's attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ReplyFailure {
    /// An error ended it.
    Failed,
    /// The program or the stream ended before it did: it can be gone on with.
    Interrupted,
}

/// What a reply cost, as far as the server says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens of the prompt, also those taken from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<u64>,
    /// Tokens of the prompt that came from a cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<u64>,
    /// Tokens written, thinking included.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
    /// Time to load the model, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load_ms: Option<u64>,
    /// Time to read the prompt, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_ms: Option<u64>,
    /// Time to write the reply, in milliseconds, as the server measured it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub completion_ms: Option<u64>,
    /// From sending the request to its end, in milliseconds, as we measured it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_ms: Option<u64>,
}

impl Usage {
    /// This and another together.
    #[must_use]
    pub fn and(&self, other: &Self) -> Self {
        let sum = |a: Option<u64>, b: Option<u64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (a, b) => a.or(b),
        };
        Self {
            prompt_tokens: sum(self.prompt_tokens, other.prompt_tokens),
            cached_tokens: sum(self.cached_tokens, other.cached_tokens),
            completion_tokens: sum(self.completion_tokens, other.completion_tokens),
            load_ms: sum(self.load_ms, other.load_ms),
            prompt_ms: sum(self.prompt_ms, other.prompt_ms),
            completion_ms: sum(self.completion_ms, other.completion_ms),
            total_ms: sum(self.total_ms, other.total_ms),
        }
    }
}
