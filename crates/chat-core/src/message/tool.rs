//! Defines tools as they stand in messages: calls, results, and how these are shown.

use std::time::Duration;

use chat_permission::Rule;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{AgentReport, FormRecord, ProviderData, ToolCallId};

/// A tool's description for models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of its arguments.
    pub parameters: Value,
}

/// A model's wish to have a tool run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Its id; the result carries the same.
    pub id: ToolCallId,
    /// The tool's name, as the model wrote it.
    pub name: String,
    /// The arguments: an object, or the raw text where it was no JSON.
    pub arguments: Value,
    /// What the tool called itself when it was called, where no translation says it: so the call
    /// can be read when the tool is gone. Models do not read it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What its server wants back with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider: Option<ProviderData>,
}

impl ToolCall {
    /// A call as a model makes it.
    pub fn new(id: ToolCallId, name: impl Into<String>, arguments: Value) -> Self {
        Self { id, name: name.into(), arguments, title: None, provider: None }
    }
}

/// A tool's answer to a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolResult {
    /// The call that it answers.
    pub call: ToolCallId,
    /// The tool's name.
    pub name: String,
    /// The answer, or what went wrong, as the model gets it.
    pub text: String,
    /// Whether the call failed or could not be made.
    #[serde(default)]
    pub failed: bool,
    /// Whether it failed because the person stopped the reply.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// Whether it stays whole when the conversation is compacted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lasting: bool,
    /// What was done, as data for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<ToolView>,
    /// How long it ran, without the time that the person took to answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took: Option<Duration>,
    /// What the person said to its question, where it asked one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// The rules with which it would have passed, where a mode that asks nobody refused it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Rule>,
    /// What became of the forms that its server asked the user to fill in, without the values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forms: Vec<FormRecord>,
}

impl ToolResult {
    /// The answer to a call, without anything to show.
    pub fn to(call: &ToolCall, text: impl Into<String>, failed: bool) -> Self {
        Self {
            call: call.id.clone(),
            name: call.name.clone(),
            text: text.into(),
            failed,
            stopped: false,
            lasting: false,
            view: None,
            took: None,
            verdict: None,
            needs: Vec::new(),
            forms: Vec::new(),
        }
    }
}

/// What a tool did, as data: front ends say it in the person's language. Paths are as they were
/// given, or relative to the project.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum ToolView {
    /// A file was read.
    Read {
        /// Which.
        path: String,
        /// The first line, from 1; none for what has no lines.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<u64>,
        /// The last line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<u64>,
    },
    /// A folder was listed, or files were looked for by name.
    Listed {
        /// The folder, or the pattern.
        what: String,
        /// How many entries there are.
        entries: u64,
    },
    /// Texts were searched.
    Searched {
        /// The pattern.
        pattern: String,
        /// How many lines have it.
        matches: u64,
        /// How many files have it.
        files: u64,
    },
    /// A file was written or changed.
    Edited {
        /// Which.
        path: String,
        /// What changed, as a unified diff without its file header.
        diff: String,
        /// How many lines came.
        added: u64,
        /// How many lines went.
        removed: u64,
        /// Whether there was no such file before.
        #[serde(default)]
        created: bool,
    },
    /// A file was moved.
    Moved {
        /// From where.
        from: String,
        /// To where.
        to: String,
    },
    /// A file went to the trash.
    Deleted {
        /// Which.
        path: String,
    },
    /// A command ran.
    Ran {
        /// The whole command.
        command: String,
        /// How it ended; none while it runs in the background.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        exit: Option<CommandExit>,
        /// Under which name more of its output can be had.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<String>,
        /// Whether bounds held it.
        #[serde(default)]
        sandboxed: bool,
        /// Where files are now that it created and that were quarantined.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[serde(rename = "put_aside")]
        quarantined: Vec<String>,
    },
    /// A page was fetched.
    Fetched {
        /// Its address, after redirects.
        url: String,
        /// Its title, where it has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        title: Option<String>,
        /// How many bytes came.
        bytes: u64,
        /// The file that it went into.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        path: Option<String>,
    },
    /// The web was searched.
    WebSearched {
        /// For what.
        query: String,
        /// How many results came.
        results: u64,
    },
    /// The plan was changed.
    Todos {
        /// The plan as it is now.
        todos: Vec<Todo>,
    },
    /// Agents were started, asked, waited for, listed or closed.
    Agents {
        /// What they do, or what came of their work.
        agents: Vec<AgentReport>,
    },
    /// The person was asked.
    Asked {
        /// What.
        question: String,
        /// What they said.
        answer: String,
    },
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandExit {
    /// By itself, with this status.
    Status(i32),
    /// By this signal.
    Signal(i32),
    /// It ran longer than it was allowed to.
    TimedOut,
    /// The person or the model stopped it.
    Stopped,
    /// It used more than it may, and was ended.
    Limit(CommandLimit),
    /// What protected the project from it was taken away by somebody else, so it was ended.
    Exposed,
}

/// What a command used too much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandLimit {
    /// Processes at once.
    Processes,
    /// Memory.
    Memory,
    /// The disk that the project lies on.
    Disk,
}

/// A command that runs in the background of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackgroundCommand {
    /// Its name, by which the model knows it too.
    pub id: String,
    /// The whole command.
    pub command: String,
    /// When it began.
    pub since: Timestamp,
    /// How many bytes it wrote so far.
    pub bytes: u64,
}

/// A step of a session's plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Todo {
    /// What is to be done.
    pub text: String,
    /// How far it is.
    pub state: TodoState,
}

/// How far a step of a plan is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TodoState {
    /// Not begun.
    #[default]
    Open,
    /// At work.
    Doing,
    /// Done.
    Done,
}

/// What a person said to a tool's question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Yes.
    Allowed,
    /// No, perhaps with a word to the model.
    Denied {
        /// The text for the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
}
