//! A handler with a sink that only listens.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use chat_testkit::server::{Script, Server};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::agent::{JustAsk, ReplySink, Seen, Surroundings};
use crate::client::{Timeouts, ToolChoice, connect};
use crate::error::Result;
use crate::message::{ModelRef, Options, Role, Thinking, ToolCall, ToolResult, ToolSpec};
use crate::settings::{Connection, ConnectionKind, KeySource, ToolSettings};
use crate::tool::{
    Changes, Denied, Leave, Registry, Tool, ToolContext, ToolFailure, ToolHost, ToolOutput, Wish,
};

/// An agent that offers all tools.
struct WithTools;

impl Agent for WithTools {
    fn name(&self) -> &'static str {
        "with-tools"
    }

    fn title(&self) -> &'static str {
        "With tools"
    }

    fn description(&self) -> &'static str {
        "For tests"
    }

    fn system_prompt(&self, _around: &Surroundings) -> Option<String> {
        None
    }

    fn context(&self, _seen: &Seen<'_>) -> Vec<String> {
        Vec::new()
    }

    fn configure_tools(&self, registry: &Registry) -> (Registry, ToolChoice) {
        (registry.clone(), ToolChoice::Auto)
    }

    fn create_handler(self: Arc<Self>, work: Work) -> AgentHandler {
        AgentHandler::new(self, work)
    }
}

/// A tool in whose run the person stops the request.
struct Stops(ToolSpec);

#[async_trait]
impl Tool for Stops {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn reads_only(&self) -> bool {
        true
    }

    async fn run(&self, _: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        context.cancel.cancel();
        Ok(ToolOutput::text("done"))
    }
}

/// What a sink was told, in words.
#[derive(Default)]
struct Told {
    heard: Mutex<Vec<String>>,
    tools: Registry,
}

impl Told {
    fn note(&self, what: String) {
        self.heard.lock().unwrap().push(what);
    }
}

#[async_trait]
impl ReplySink for Told {
    fn on_waiting(&self) {}

    fn on_preparing(&self, _what: crate::client::Preparing) {}

    fn on_rate_limited(&self, _until: Timestamp) {}

    fn on_chunk(&self, _kind: TextKind, _text: &str) {}

    async fn end_reply(&self, end: ReplyEnd) -> Arc<Message> {
        self.note(format!("{:?} with {} calls", end.ended, end.calls.len()));
        Arc::new(Message::text(Role::Assistant, None, ""))
    }

    async fn keep_result(&self, _result: Arc<Message>) {}

    async fn add_results(&self, results: &[Arc<Message>], goes_on: bool) -> Result<()> {
        self.note(format!("{} results, goes on: {goes_on}", results.len()));
        Ok(())
    }

    fn on_tool(&self, _call: &ToolCall, _result: Option<&Arc<ToolResult>>) {}

    async fn go_on(&self, _call: &ToolCall, _rounds: u32, _cancel: &CancellationToken) -> bool {
        false
    }

    fn tool_settings(&self) -> Arc<ToolSettings> {
        Arc::default()
    }

    fn tools(&self) -> Registry {
        self.tools.clone()
    }

    fn tool_context(&self, call: &ToolCall, cancel: &CancellationToken) -> ToolContext {
        ToolContext {
            cancel: cancel.clone(),
            call: call.id.clone(),
            project: None,
            memory: Arc::default(),
            outputs: PathBuf::new(),
            settings: Arc::default(),
            sees: false,
            most: 64 * 1024,
            host: Arc::new(Nobody),
            changes: Changes::default(),
            asked: Arc::default(),
        }
    }
}

/// A session that answers no question.
struct Nobody;

#[async_trait]
impl ToolHost for Nobody {
    async fn permit(&self, _wish: Wish) -> Result<Leave, Denied> {
        Err(Denied::Nobody)
    }

    fn refusal(&self, _request: &chat_permission::Request) -> Option<chat_permission::Why> {
        Some(chat_permission::Why::Mode)
    }

    fn passes(&self, _request: &chat_permission::Request) -> bool {
        false
    }

    async fn ask(&self, _question: crate::message::Question) -> Result<String, Denied> {
        Err(Denied::Nobody)
    }

    fn on_output(&self, _tail: &str, _bytes: u64) {}

    fn on_todos(&self, _todos: Vec<crate::message::Todo>) {}
}

async fn run(agent: Arc<dyn Agent>, server: &Server) -> (Outcome, Vec<String>) {
    let connection = Connection {
        name: "test".to_owned(),
        kind: None,
        url: server.url(),
        key: KeySource::None,
        models: Vec::new(),
    };
    let timeouts = Timeouts { question: Duration::from_secs(5), ..Timeouts::default() };
    let mut tools = Registry::default();
    tools.register(Arc::new(Stops(ToolSpec {
        name: "stops".to_owned(),
        description: String::new(),
        parameters: json!({ "type": "object" }),
    })));
    let told = Arc::new(Told { heard: Mutex::default(), tools: tools.clone() });
    let work = Work {
        client: connect(&connection, ConnectionKind::OpenAi, None, timeouts).unwrap(),
        model: ModelRef::new("test", "scripted"),
        thinking: Thinking::Habit,
        options: Options::default(),
        around: Surroundings { tools: agent.configure_tools(&tools).0, ..Surroundings::default() },
        choice: ToolChoice::Auto,
        sink: Arc::clone(&told) as _,
        cancel: CancellationToken::new(),
    };
    let question = Arc::new(Message::text(Role::User, None, "go"));
    let outcome = agent.create_handler(work).run(&[question]).await;
    let told = told.heard.lock().unwrap().clone();
    (outcome, told)
}

#[tokio::test]
async fn a_stop_between_two_rounds_begins_no_further_reply() {
    let server = Server::start();
    server.push(Script::new().text("I look.").tool_call("c1", "stops", json!({})));
    let (outcome, told) = run(Arc::new(WithTools), &server).await;
    assert_eq!(outcome.reason, StopReason::Stopped);
    assert_eq!(
        told,
        ["Complete with 1 calls", "1 results, goes on: false", "Stopped with 0 calls"]
    );
    assert_eq!(server.chats().len(), 1);
}

#[tokio::test]
async fn results_of_tools_that_are_not_there_go_on() {
    let server = Server::start();
    server.push(Script::new().tool_call("c1", "gone", json!({})));
    server.push(Script::new().text("Without."));
    let (outcome, told) = run(Arc::new(JustAsk), &server).await;
    assert_eq!(outcome.reason, StopReason::Complete);
    assert_eq!(
        told,
        ["Complete with 1 calls", "1 results, goes on: true", "Complete with 0 calls"]
    );
}
