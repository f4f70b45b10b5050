//! Defines the JSON of errors, messages and tool results.

use chat_core::error::Error;
use chat_core::message::{
    CommandText, Ending, FormRecord, FromAgent, Message, Part, Role, ToolCall, ToolResult,
    ToolView, Usage, Verdict,
};
use chat_core::permission::Rule;
use chat_core::tool::Toolbox;
use chat_presentation::words::{self, Progress};
use jiff::Timestamp;
use serde::Serialize;

use crate::output::Calls;

/// An error as JSON.
#[derive(Debug, Serialize)]
pub struct ErrorView<'a> {
    kind: &'a str,
    message: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    connection: Option<&'a str>,
}

impl<'a> ErrorView<'a> {
    /// Creates the view of an error with its message.
    pub fn new(error: &'a Error, sentence: &'a str) -> Self {
        Self {
            kind: error.kind.name(),
            message: sentence,
            detail: error.detail.as_deref(),
            connection: error.connection.as_deref(),
        }
    }
}

/// A message as JSON.
#[derive(Debug, Serialize)]
pub struct MessageView<'a> {
    id: String,
    /// The message that it follows; none for the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<String>,
    /// The reply that it goes on with.
    #[serde(skip_serializing_if = "Option::is_none")]
    continues: Option<String>,
    role: Role,
    text: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    thinking: String,
    time: Timestamp,
    /// None while it is being written.
    ended: Option<Ending>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<&'a Usage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<OwnedError>,
    /// What the command stands for with which the text begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<&'a CommandText>,
    /// The agent that speaks in place of the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    from_agent: Option<&'a FromAgent>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<&'a ToolCall>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_results: Vec<CalledResult<'a>>,
}

/// The outcome of a call, as part of a message.
#[derive(Debug, Serialize)]
struct CalledResult<'a> {
    call: &'a str,
    #[serde(flatten)]
    result: ResultView<'a>,
}

/// The outcome of a call as JSON.
#[derive(Debug, Serialize)]
pub struct ResultView<'a> {
    name: &'a str,
    text: &'a str,
    failed: bool,
    /// The line that is shown as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<&'a ToolView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a Verdict>,
    /// The rules that would have allowed it, in a mode that never asks.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    needs: &'a [Rule],
    /// What became of forms of its server.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    forms: &'a [FormRecord],
    #[serde(skip_serializing_if = "Option::is_none")]
    took_ms: Option<u64>,
}

impl<'a> ResultView<'a> {
    /// The result of a call, if the call is known.
    pub fn new(tools: &Toolbox, call: Option<&ToolCall>, result: &'a ToolResult) -> Self {
        Self {
            name: &result.name,
            text: &result.text,
            failed: result.failed,
            line: call.map(|call| words::tool_line(tools, call, Progress::Ended(result))),
            view: result.view.as_ref(),
            verdict: result.verdict.as_ref(),
            needs: &result.needs,
            forms: &result.forms,
            took_ms: result.took.and_then(|took| u64::try_from(took.as_millis()).ok()),
        }
    }
}

#[derive(Debug, Serialize)]
struct OwnedError {
    kind: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl<'a> MessageView<'a> {
    /// The current state of the message. `calls` are those that its results may answer.
    pub fn new(message: &'a Message, calls: &Calls) -> Self {
        let mut view = Self {
            id: message.id.to_string(),
            parent: message.parent.as_ref().map(ToString::to_string),
            continues: message.continues.as_ref().map(ToString::to_string),
            role: message.role,
            text: message.plain_text(),
            thinking: String::new(),
            time: message.time,
            ended: message.ended,
            model: message.model.as_ref().map(ToString::to_string),
            usage: message.usage.as_ref(),
            error: message.error.as_ref().map(|error| OwnedError {
                kind: error.kind.name(),
                message: words::sentence(error),
                detail: error.detail.clone(),
            }),
            command: None,
            from_agent: None,
            files: Vec::new(),
            tool_calls: message.tool_calls().collect(),
            tool_results: Vec::new(),
        };
        for part in &message.parts {
            match part {
                Part::Thinking { text, .. } => view.thinking.push_str(text),
                Part::File { name, .. } => view.files.push(name),
                Part::Image { mime, .. } => view.files.push(mime),
                Part::ToolResult(result) => view.tool_results.push(CalledResult {
                    call: result.call.as_str(),
                    result: ResultView::new(calls.tools(), calls.get(&result.call), result),
                }),
                Part::Command(command) => view.command = Some(command),
                Part::FromAgent(agent) => view.from_agent = Some(agent),
                Part::Text(_) | Part::Context { .. } | Part::ToolCall(_) | Part::Compaction(_) => {}
            }
        }
        view
    }
}
