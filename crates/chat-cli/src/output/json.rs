//! A conversation for programs: one JSON object a line for each event. `docs/cli.md` describes
//! them; what is there stays.

use chat_core::client::Preparing;
use chat_core::error::Error;
use chat_core::event::{Failure, SessionPlaceholder, Stage, StopReason, TextKind};
use chat_core::message::{Ending, Message, Part, Role, ToolCall, ToolResult, Usage};
use chat_edge::words;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::{Done, Pieces, Sink};
use crate::terminal::Terminal;
use crate::trouble::explain;

/// Shows a conversation as lines of JSON.
#[derive(Debug)]
pub struct Json {
    terminal: Terminal,
    pieces: Pieces,
    /// The text that came since the last line, so that it goes out as one.
    chunk: Option<(TextKind, String)>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line<'a> {
    Session {
        fid: &'a str,
        title: &'a str,
        agent: &'a str,
        model: Option<String>,
    },
    Stage {
        stage: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
    },
    Chunk {
        text: &'a str,
        thinking: bool,
    },
    ToolCall {
        id: &'a str,
        name: &'a str,
        arguments: &'a Value,
    },
    ToolResult {
        id: &'a str,
        name: &'a str,
        text: &'a str,
        failed: bool,
    },
    Message(MessageView<'a>),
    Notice(ErrorView<'a>),
    Error(ErrorView<'a>),
    Done {
        reason: &'a str,
        usage: &'a Usage,
    },
}

impl Json {
    /// For an output like this. People hear on standard error of what went wrong all the same.
    pub fn new(terminal: Terminal) -> Self {
        Self { terminal, pieces: Pieces::default(), chunk: None }
    }

    fn line(&mut self, line: &Line) {
        self.end_chunk();
        push(self.pieces.output(), line);
    }

    fn end_chunk(&mut self) {
        if let Some((kind, text)) = self.chunk.take() {
            let line = Line::Chunk { text: &text, thinking: kind == TextKind::Thinking };
            push(self.pieces.output(), &line);
        }
    }
}

fn push(out: &mut Vec<u8>, line: &Line) {
    // Writing plain data into memory cannot fail.
    let _ = serde_json::to_writer(&mut *out, line);
    out.push(b'\n');
}

impl Sink for Json {
    fn session(&mut self, session: &SessionPlaceholder) {
        self.line(&Line::Session {
            fid: session.fid.as_str(),
            title: &session.title,
            agent: &session.agent,
            model: session.model.as_ref().map(ToString::to_string),
        });
    }

    fn text(&mut self, kind: TextKind, text: &str) {
        match &mut self.chunk {
            Some((same, chunk)) if *same == kind => chunk.push_str(text),
            _ => {
                self.end_chunk();
                self.chunk = Some((kind, text.to_owned()));
            }
        }
    }

    fn tool_call(&mut self, call: &ToolCall) {
        let (id, name, arguments) = (call.id.as_str(), call.name.as_str(), &call.arguments);
        self.line(&Line::ToolCall { id, name, arguments });
    }

    fn tool_result(&mut self, result: &ToolResult) {
        self.line(&Line::ToolResult {
            id: result.call.as_str(),
            name: &result.name,
            text: &result.text,
            failed: result.failed,
        });
    }

    fn message(&mut self, message: &Message) {
        self.line(&Line::Message(MessageView::new(message)));
    }

    fn stage(&mut self, stage: &Stage) {
        let (stage, until) = match stage {
            Stage::Waiting { .. } => ("waiting", None),
            Stage::Preparing(Preparing::Queued) => ("queued", None),
            Stage::RateLimited { until } => ("rate_limited", Some(*until)),
            // What follows them says it.
            Stage::Idle | Stage::Preparing(_) | Stage::Streaming | Stage::RunningTools => return,
        };
        self.line(&Line::Stage { stage, until });
    }

    fn notice(&mut self, failure: &Failure) {
        let sentence = words::sentence(&failure.error);
        self.line(&Line::Notice(ErrorView::new(&failure.error, &sentence)));
    }

    fn done(&mut self, done: &Done) {
        if let Some(error) = &done.error {
            let sentence = words::sentence(error);
            self.line(&Line::Error(ErrorView::new(error, &sentence)));
            let text = explain(error, self.terminal);
            self.pieces.error().extend_from_slice(text.as_bytes());
        }
        self.line(&Line::Done { reason: reason(done.reason), usage: &done.usage });
    }

    fn take(&mut self) -> Pieces {
        self.end_chunk();
        std::mem::take(&mut self.pieces)
    }
}

fn reason(reason: StopReason) -> &'static str {
    match reason {
        StopReason::Complete => "complete",
        StopReason::Stopped => "stopped",
        StopReason::Error => "error",
        StopReason::Limit => "limit",
        StopReason::Interrupted => "interrupted",
    }
}

/// An error as programs get it.
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
    /// The error with its sentence.
    pub fn new(error: &'a Error, sentence: &'a str) -> Self {
        Self {
            kind: error.kind.name(),
            message: sentence,
            detail: error.detail.as_deref(),
            connection: error.connection.as_deref(),
        }
    }
}

/// A message as programs get it.
#[derive(Debug, Serialize)]
pub struct MessageView<'a> {
    id: String,
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
    #[serde(skip_serializing_if = "Vec::is_empty")]
    files: Vec<&'a str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<&'a ToolCall>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_results: Vec<&'a ToolResult>,
}

#[derive(Debug, Serialize)]
struct OwnedError {
    kind: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
}

impl<'a> MessageView<'a> {
    /// The message as it is now.
    pub fn new(message: &'a Message) -> Self {
        let mut view = Self {
            id: message.id.to_string(),
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
            files: Vec::new(),
            tool_calls: message.tool_calls().collect(),
            tool_results: Vec::new(),
        };
        for part in &message.parts {
            match part {
                Part::Thinking { text, .. } => view.thinking.push_str(text),
                Part::File { name, .. } => view.files.push(name),
                Part::Image { mime, .. } => view.files.push(mime),
                Part::ToolResult(result) => view.tool_results.push(result),
                Part::Text(_) | Part::Context { .. } | Part::ToolCall(_) => {}
            }
        }
        view
    }
}
