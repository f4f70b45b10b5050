//! Defines a chat of another program as plain data.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

/// A chat with all its branches.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ImportedChat {
    /// Its id in the program that it comes from.
    pub source_id: String,
    /// Its title; may be empty.
    pub title: String,
    /// When it began, as far as that is known.
    pub created: Option<Timestamp>,
    /// When it last changed, as far as that is known.
    pub updated: Option<Timestamp>,
    /// The model that it was last answered by.
    pub model: Option<String>,
    /// Its messages. Each stands after the one that it follows.
    pub messages: Vec<ImportedMessage>,
    /// The last message of the branch that was shown.
    pub head: Option<String>,
}

/// A message of such a chat.
#[derive(Clone, Debug, PartialEq)]
pub struct ImportedMessage {
    /// Its id, unique in its chat.
    pub id: String,
    /// The message that it follows.
    pub parent: Option<String>,
    /// Who speaks.
    pub role: ImportedRole,
    /// What it consists of, in order.
    pub parts: Vec<ImportedPart>,
    /// When it was written, as far as that is known.
    pub time: Option<Timestamp>,
    /// The model that wrote it.
    pub model: Option<String>,
}

/// Who speaks in a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportedRole {
    /// Instructions to the model.
    System,
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool's answer to the model.
    Tool,
}

/// A piece of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum ImportedPart {
    /// Text; Markdown where the model wrote it.
    Text(String),
    /// What the model thought.
    Thinking {
        /// The thoughts.
        text: String,
        /// How long it thought.
        took: Option<Duration>,
    },
    /// A picture.
    Image {
        /// Its MIME type.
        mime: &'static str,
        /// Its bytes.
        data: Vec<u8>,
    },
    /// A text file.
    File {
        /// Its name.
        name: String,
        /// Its content.
        text: String,
    },
    /// What the model was sent besides the person's words.
    Context(String),
    /// The model asks for a tool.
    ToolCall {
        /// Its id in the chat; its result has the same.
        id: String,
        /// The tool.
        name: String,
        /// The arguments.
        arguments: Value,
    },
    /// A tool's answer.
    ToolResult {
        /// The call that it answers.
        call: String,
        /// The tool.
        name: String,
        /// The answer.
        text: String,
        /// Whether the call failed.
        failed: bool,
    },
    /// Something that stood here and cannot be taken over.
    Missing(Missing),
}

/// What could not be taken over. Its `Display` is a short note for the place where it stood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Missing {
    /// A file that is not in the export, or is of a kind that chats do not hold.
    File {
        /// Its name or id.
        name: String,
    },
    /// A kind of content that is not known.
    Content {
        /// What the export calls it.
        kind: String,
    },
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { name } => write!(f, "[Not imported: the file “{name}”]"),
            Self::Content { kind } => write!(f, "[Not imported: content of the kind “{kind}”]"),
        }
    }
}
