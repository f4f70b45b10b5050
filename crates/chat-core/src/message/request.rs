//! Defines the requests that a front end sends to the Manager.

use std::path::PathBuf;
use std::sync::Arc;

use chat_permission::{Mode, Rule};
use serde::{Deserialize, Serialize};

use super::{CommandText, Context, Fid, FromAgent, MessageId, ModelRef, Options, Thinking};

/// A person's wish for an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ChatRequest {
    /// The session; none begins a new one. An unknown one is an error.
    pub session: Option<Fid>,
    /// The model; none means the session's, or the default for a new one.
    pub model: Option<ModelRef>,
    /// The agent; none means the session's, or the default for a new one.
    pub agent: Option<String>,
    /// What the person says.
    pub content: Content,
    /// How much to think; none means the session's.
    pub thinking: Option<Thinking>,
    /// Options; unset ones mean the session's.
    pub options: Options,
    /// What the model is told for this chat alone; none means the session's.
    pub instructions: Option<String>,
    /// What the person has before them.
    pub context: Context,
    /// The folder to work in; none means the session's.
    pub project: Option<PathBuf>,
    /// What is allowed without asking; none means the session's, or the default for a new one.
    pub mode: Option<Mode>,
    /// What else is allowed, for this session.
    pub allow: Vec<Rule>,
    /// Whether a new session is kept in memory alone, until the program ends.
    pub temporary: bool,
    /// When it reaches the model where a request is at work; none means as the settings say.
    pub delivery: Option<Delivery>,
}

/// When a message that is sent while a reply runs reaches the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Delivery {
    /// With the results of the tools that the reply calls, before the model's next reply. At the end
    /// of the request where no tool is called, where the message asks for another model, agent,
    /// project or mode, and where the model takes no message after results.
    #[default]
    Steer,
    /// At the end of the request.
    Queue,
    /// At once: the request at work is stopped, and what arrived of it stays.
    Interrupt,
}

/// What a person says: text and what goes with it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Content {
    /// The text, as typed.
    pub text: String,
    /// Files and pictures.
    pub attachments: Vec<Attachment>,
    /// The agent that says it, where it is not the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<FromAgent>,
}

impl Content {
    /// Text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The same as an agent's words.
    #[must_use]
    pub fn from_agent(self, agent: FromAgent) -> Self {
        Self { agent: Some(agent), ..self }
    }

    /// Whether there is nothing to send: no attachments, no report and only white space.
    pub fn is_empty(&self) -> bool {
        let reports = matches!(self.agent, Some(FromAgent::Report(_)));
        self.attachments.is_empty() && self.text.trim().is_empty() && !reports
    }
}

/// What a person said and what waits until its session is free.
#[derive(Clone, Debug, PartialEq)]
pub struct Queued {
    /// The id of the message that it becomes; to take it back by.
    pub id: MessageId,
    /// What the person said.
    pub content: Content,
    /// What they had before them then.
    pub context: Context,
    /// When it reaches the model: `Steer` or `Queue`.
    pub delivery: Delivery,
}

/// Something that goes with a message.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Attachment {
    /// A picture.
    Image {
        /// Its MIME type.
        mime: String,
        /// Its bytes.
        #[serde(with = "super::as_base64")]
        data: Arc<[u8]>,
    },
    /// A text file.
    File {
        /// Its name.
        name: String,
        /// Its content.
        text: String,
    },
    /// What the command stands for with which the text begins.
    Command(CommandText),
}
