//! A handler with a sink that only listens.

use std::time::Duration;

use chat_testkit::server::{Script, Server};
use jiff::Timestamp;
use serde_json::json;

use super::*;
use crate::agent::JustAsk;
use crate::client::{Timeouts, ToolChoice, connect};
use crate::message::{Context, Options, Thinking};
use crate::settings::{Connection, ConnectionKind, KeySource};
use crate::tool::Tool;

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

    fn system_prompt(&self) -> Option<String> {
        None
    }

    fn context(&self, _context: &Context) -> Option<String> {
        None
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

    async fn run(&self, _arguments: Value, context: ToolContext) -> Result<String, String> {
        context.cancel.cancel();
        Ok("done".to_owned())
    }
}

/// What a sink was told, in words.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Told {
    fn note(&self, what: String) {
        self.0.lock().unwrap().push(what);
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

    async fn add_results(&self, results: Vec<Message>, goes_on: bool) -> Result<Vec<Arc<Message>>> {
        self.note(format!("{} results, goes on: {goes_on}", results.len()));
        Ok(results.into_iter().map(Arc::new).collect())
    }

    fn on_tool(&self, _call: &ToolCall, _running: bool) {}
}

async fn run(agent: Arc<dyn Agent>, server: &Server) -> (Outcome, Vec<String>) {
    let connection =
        Connection { name: "test".to_owned(), kind: None, url: server.url(), key: KeySource::None };
    let timeouts = Timeouts { question: Duration::from_secs(5), ..Timeouts::default() };
    let mut tools = Registry::default();
    tools.register(Arc::new(Stops(ToolSpec {
        name: "stops".to_owned(),
        description: String::new(),
        parameters: json!({ "type": "object" }),
    })));
    let told = Arc::new(Told::default());
    let work = Work {
        client: connect(&connection, ConnectionKind::OpenAi, None, timeouts).unwrap(),
        model: "scripted".to_owned(),
        thinking: Thinking::Habit,
        options: Options::default(),
        tools,
        sink: Arc::clone(&told) as _,
        cancel: CancellationToken::new(),
    };
    let question = Arc::new(Message::text(Role::User, None, "go"));
    let outcome = agent.create_handler(work).run(&[question]).await;
    let told = told.0.lock().unwrap().clone();
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
    server.push(Script::new().tool_call("c1", "stops", json!({})));
    server.push(Script::new().text("Without."));
    let (outcome, told) = run(Arc::new(JustAsk), &server).await;
    assert_eq!(outcome.reason, StopReason::Complete);
    assert_eq!(
        told,
        ["Complete with 1 calls", "1 results, goes on: true", "Complete with 0 calls"]
    );
}
