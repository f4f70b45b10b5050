//! Writes a conversation as JSON: one object per line for each event. The fields are documented in
//! `docs/user/terminal.md` and stay compatible.

mod form;
mod names;
mod owner;
mod views;

use std::collections::HashMap;

use chat_core::client::Preparing;
use chat_core::event::{Failure, SessionPlaceholder, Stage, TextKind};
use chat_core::message::{
    Answer, ApprovalKind, ApprovalRequest, Fid, Message, Preview, Todo, ToolCall, ToolResult, Usage,
};
use chat_core::permission::{Action, Rule};
use chat_core::tool::Toolbox;
use chat_presentation::words;
use jiff::Timestamp;
use serde::Serialize;
use serde_json::Value;

use super::{Calls, Done, Pieces, Sink};
use crate::agents::State;
use crate::error::explain;
use crate::say;
use crate::terminal::{self, Terminal};

use form::FormView;
use names::{answer_name, reason};
use owner::Owner;
use views::ResultView;
pub use views::{ErrorView, MessageView};

/// Shows a conversation as lines of JSON.
#[derive(Debug)]
pub struct Json {
    terminal: Terminal,
    tools: Toolbox,
    pieces: Pieces,
    /// The text that arrived since the last line, so that it is written as one event.
    chunk: Option<(TextKind, String)>,
    /// The session, if it is an agent.
    owner: Owner,
    /// The agent below the session that speaks.
    speaker: Option<Owner>,
    /// What the agents below the session do.
    agents: HashMap<Fid, State>,
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
    /// An agent below the session.
    Agent {
        fid: &'a str,
        agent: &'a str,
        model: Option<String>,
        state: State,
    },
    Stage {
        stage: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        until: Option<Timestamp>,
        /// How many requests go before one that waits for its connection.
        #[serde(skip_serializing_if = "Option::is_none")]
        before: Option<u32>,
        /// The names of the servers that start.
        #[serde(skip_serializing_if = "<[_]>::is_empty")]
        servers: &'a [String],
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
        #[serde(flatten)]
        result: ResultView<'a>,
    },
    Permission {
        id: &'a str,
        tool: &'a str,
        action: Action,
        target: &'a str,
        why: String,
        reasons: Vec<String>,
        /// Of a command.
        #[serde(skip_serializing_if = "Option::is_none")]
        background: Option<bool>,
        /// Of a command that has one.
        #[serde(skip_serializing_if = "Option::is_none")]
        limit_seconds: Option<u64>,
        always: &'a [Rule],
        answer: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<&'a str>,
    },
    Question {
        id: &'a str,
        text: &'a str,
        choices: &'a [String],
        /// None if nobody answered.
        answer: Option<&'a str>,
    },
    Form(FormView<'a>),
    GoOn {
        rounds: u32,
        answer: &'a str,
    },
    Todos {
        todos: &'a [Todo],
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
    /// Creates it for this terminal. Errors are shown on standard error as well.
    pub fn new(terminal: Terminal, tools: Toolbox) -> Self {
        Self {
            terminal,
            tools,
            pieces: Pieces::default(),
            chunk: None,
            owner: Owner::default(),
            speaker: None,
            agents: HashMap::new(),
        }
    }

    fn line(&mut self, line: &Line) {
        self.end_chunk();
        self.push(line);
    }

    fn push(&mut self, line: &Line) {
        let owner = self.speaker.as_ref().unwrap_or(&self.owner);
        self.pieces.output().extend_from_slice(owner.line_of(line).as_bytes());
    }

    fn end_chunk(&mut self) {
        if let Some((kind, text)) = self.chunk.take() {
            let line = Line::Chunk { text: &text, thinking: kind == TextKind::Thinking };
            self.push(&line);
        }
    }
}

impl Sink for Json {
    fn session(&mut self, session: &SessionPlaceholder) {
        self.owner = Owner::of(session);
        self.line(&Line::Session {
            fid: session.fid.as_str(),
            title: &session.title,
            agent: &session.agent,
            model: session.model.as_ref().map(ToString::to_string),
        });
    }

    fn agent(&mut self, agent: &SessionPlaceholder) {
        let before = self.agents.get(&agent.fid);
        let has_worked = before.is_some_and(|state| *state != State::Idle);
        let state = State::of(agent, has_worked);
        if before == Some(&state) {
            return;
        }
        self.agents.insert(agent.fid.clone(), state);
        self.speaker(Some(agent));
        self.line(&Line::Agent {
            fid: agent.fid.as_str(),
            agent: &agent.agent,
            model: agent.model.as_ref().map(ToString::to_string),
            state,
        });
        self.speaker(None);
    }

    fn speaker(&mut self, agent: Option<&SessionPlaceholder>) {
        self.end_chunk();
        self.speaker = agent.map(Owner::of);
    }

    fn text(&mut self, kind: TextKind, text: &str) {
        // Hidden thinking has no text.
        if text.is_empty() {
            return;
        }
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

    fn tool_result(&mut self, call: Option<&ToolCall>, result: &ToolResult) {
        let view = ResultView::new(&self.tools, call, result);
        self.line(&Line::ToolResult { id: result.call.as_str(), result: view });
    }

    fn todos(&mut self, todos: &[Todo]) {
        self.line(&Line::Todos { todos });
    }

    fn ask(&mut self, prompt: &str) {
        self.pieces.error().extend_from_slice(prompt.as_bytes());
    }

    fn answered(&mut self, ask: &ApprovalRequest, answer: Option<&Answer>) {
        match (answer, self.terminal.error) {
            (Some(Answer::Nobody), _) => {
                let agent = self.speaker.as_ref().and_then(Owner::agent_name);
                let line = self.terminal.dim(&terminal::clean(&say::nobody(ask, agent)));
                self.pieces.error().extend_from_slice(format!("{line}\n").as_bytes());
            }
            // The question is still without its line break.
            (None, true) => self.pieces.error().push(b'\n'),
            _ => {}
        }
        let id = ask.call.as_str();
        match &ask.kind {
            ApprovalKind::Permission(asked) => {
                let message = match answer {
                    Some(Answer::Deny { message, .. }) => message.as_deref(),
                    _ => None,
                };
                let (background, limit) = match &asked.preview {
                    Preview::Command { background, limit, .. } => (Some(*background), *limit),
                    _ => (None, None),
                };
                self.line(&Line::Permission {
                    id,
                    tool: &ask.tool,
                    action: asked.action,
                    target: &asked.target,
                    why: words::why_asked(asked),
                    reasons: words::reasons_asked(asked),
                    background,
                    limit_seconds: limit.map(|limit| limit.as_secs()),
                    always: &asked.always,
                    answer: answer_name(answer),
                    message,
                });
            }
            ApprovalKind::GoOn { rounds } => {
                self.line(&Line::GoOn { rounds: *rounds, answer: answer_name(answer) });
            }
            ApprovalKind::Question(question) => {
                let answer = match answer {
                    Some(Answer::Text(text)) => Some(text.as_str()),
                    _ => None,
                };
                let (text, choices) = (&question.text, &question.choices);
                self.line(&Line::Question { id, text, choices, answer });
            }
            ApprovalKind::Form(form) => {
                self.line(&Line::Form(FormView::new(id, &ask.tool, form, answer)));
            }
        }
    }

    fn message(&mut self, message: &Message) {
        self.line(&Line::Message(MessageView::new(message, &Calls::new(self.tools.clone()))));
    }

    fn stage(&mut self, stage: &Stage) {
        let (mut until, mut before, mut servers) = (None, None, [].as_slice());
        let stage = match stage {
            Stage::Waiting { .. } => "waiting",
            Stage::StartingServers { servers: starting } => {
                servers = starting;
                "starting_servers"
            }
            Stage::Preparing(Preparing::Queued) => "queued",
            Stage::Preparing(Preparing::AwaitingSlot { before: others }) => {
                before = Some(*others);
                "queued"
            }
            Stage::Compacting => "compacting",
            Stage::Looping => "looping",
            Stage::RateLimited { until: end } => {
                until = Some(*end);
                "rate_limited"
            }
            // The events that follow show it.
            Stage::Idle | Stage::Preparing(_) | Stage::Streaming | Stage::RunningTools => return,
        };
        self.line(&Line::Stage { stage, until, before, servers });
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

#[cfg(test)]
mod tests {
    use chat_core::event::Status;
    use chat_core::message::AgentState;

    use super::*;

    #[test]
    fn what_belongs_to_an_agent_names_it_and_the_one_that_it_works_for() {
        let row = |fid: &str, parent: &str, name: &str| {
            let mut row = SessionPlaceholder::default();
            row.meta.fid = Fid::new(fid);
            row.meta.parent = Some(Fid::new(parent));
            row.meta.name = Some(name.to_owned());
            row
        };
        let mut json = Json::new(Terminal::default(), Toolbox::default());
        json.session(&row("b", "a", "lead"));
        json.text(TextKind::Text, "Hm.");
        let mut below = row("c", "b", "explorer");
        json.agent(&below);
        below.status = Status::Waiting;
        json.agent(&below);
        below.status = Status::Answering;
        json.agent(&below);
        below.status = Status::Idle;
        below.ended = Some(AgentState::Stopped);
        json.agent(&below);
        json.text(TextKind::Text, "Ah.");
        let lines = String::from_utf8_lossy(json.take().output()).into_owned();
        let lines: Vec<Value> = lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
        let told = |line: &Value| {
            let field = |name: &str| line[name].as_str().unwrap_or_default().to_owned();
            ["type", "parent", "agent_name", "state"].map(field).join(" ")
        };
        let told: Vec<_> = lines.iter().map(told).collect();
        assert_eq!(
            told,
            [
                "session a lead ",
                "chunk a lead ",
                "agent b explorer idle",
                "agent b explorer working",
                "agent b explorer stopped",
                "chunk a lead ",
            ]
        );
    }

    #[test]
    fn a_request_that_awaits_a_slot_is_queued_and_says_how_many_go_before() {
        let mut json = Json::new(Terminal::default(), Toolbox::default());
        json.stage(&Stage::Preparing(Preparing::AwaitingSlot { before: 2 }));
        json.stage(&Stage::Preparing(Preparing::Queued));
        let lines = "{\"type\":\"stage\",\"stage\":\"queued\",\"before\":2}\n\
                     {\"type\":\"stage\",\"stage\":\"queued\"}\n";
        assert_eq!(String::from_utf8_lossy(json.take().output()), lines);
    }
}
