//! Tests handlers with a sink that only listens.

use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use chat_testkit::server::{Script, Server};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::*;
use crate::agent::{
    Agent, JustAsk, NextReply, PromptContext, ReplyEnd, ReplySink, Surroundings, TurnContext,
    TurnInput, TurnProgress,
};
use crate::chat::ReplyBuilder;
use crate::client::{Delta, Timeouts, ToolChoice, connect};
use crate::message::{ModelRef, Options, Part, Role, Thinking, ToolResult, ToolSpec, Usage};
use crate::settings::{Connection, ConnectionKind, KeySource};
use crate::tool::{
    Changes, Denied, PermissionCheck, PermissionGrant, Registry, Tool, ToolContext, ToolFailure,
    ToolHost, ToolInfo, ToolKind, ToolOutput,
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

    fn context(&self, _context: &PromptContext<'_>) -> Vec<String> {
        Vec::new()
    }

    fn configure_tools(&self, registry: &Registry) -> (Registry, ToolChoice) {
        (registry.clone(), ToolChoice::Auto)
    }
}

/// A tool in whose run the person stops the request.
struct Stops(ToolInfo);

#[async_trait]
impl Tool for Stops {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, _: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        context.cancel.cancel();
        Ok(ToolOutput::text("done"))
    }
}

/// What a sink was told, in words.
#[derive(Default)]
struct RecordingSink {
    heard: Mutex<Vec<String>>,
    tools: Registry,
    reply: Mutex<ReplyBuilder>,
}

impl RecordingSink {
    fn note(&self, what: String) {
        self.heard.lock().unwrap().push(what);
    }
}

#[async_trait]
impl ReplySink for RecordingSink {
    fn context(&self) -> TurnContext {
        TurnContext {
            tools: self.tools.clone(),
            settings: Arc::default(),
            history: vec![Arc::new(Message::text(Role::User, None, "go"))],
            compact_at: 0,
        }
    }

    fn apply(&self, delta: &Delta) {
        self.reply.lock().unwrap().apply(delta);
    }

    fn reply(&self) -> (Vec<Part>, Usage) {
        self.reply.lock().unwrap().build()
    }

    fn progress(&self, _progress: TurnProgress) {}

    async fn end_reply(&self, end: ReplyEnd) -> Arc<Message> {
        let (parts, _) = std::mem::take(&mut *self.reply.lock().unwrap()).build();
        let calls = parts.iter().filter(|part| matches!(part, Part::ToolCall(_))).count();
        self.note(format!("{:?} with {calls} calls", end.ended));
        Arc::new(Message { parts, ..Message::text(Role::Assistant, None, "") })
    }

    fn tool_started(&self, call: &ToolCall, cancel: &CancellationToken) -> ToolContext {
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
            team: None,
            skills: Vec::new(),
            changes: Changes::default(),
            asked: Arc::default(),
        }
    }

    async fn tool_finished(&self, _call: &ToolCall, _result: &Arc<Message>, _store: bool) {}

    async fn begin_next(
        &self,
        results: &[Arc<Message>],
        next: NextReply,
    ) -> Result<Vec<Arc<Message>>> {
        let goes_on = next != NextReply::None;
        self.note(format!("{} results, goes on: {goes_on}", results.len()));
        Ok(Vec::new())
    }

    async fn add_marker(&self, _marker: Message) -> Result<()> {
        Ok(())
    }

    async fn ask_to_continue(
        &self,
        _call: &ToolCall,
        _rounds: u32,
        _cancel: &CancellationToken,
    ) -> bool {
        false
    }
}

/// A session that answers no question.
struct Nobody;

#[async_trait]
impl ToolHost for Nobody {
    async fn permit(&self, _check: PermissionCheck) -> Result<PermissionGrant, Denied> {
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
    let (input, told) = turn(&agent, server);
    let outcome = agent.create_handler(input, Arc::clone(&told) as _).run().await;
    let told = told.heard.lock().unwrap().clone();
    (outcome, told)
}

fn turn(agent: &Arc<dyn Agent>, server: &Server) -> (TurnInput, Arc<RecordingSink>) {
    let connection = Connection {
        name: "test".to_owned(),
        kind: None,
        url: server.url(),
        key: KeySource::None,
        models: Vec::new(),
        requests: None,
        ..Connection::default()
    };
    let timeouts = Timeouts { question: Duration::from_secs(5), ..Timeouts::default() };
    let mut tools = Registry::default();
    let info = ToolInfo::foreign(ToolSpec {
        name: "stops".to_owned(),
        description: String::new(),
        parameters: json!({ "type": "object" }),
    });
    tools.register(Arc::new(Stops(ToolInfo { kind: ToolKind::Reads, ..info })));
    let told = Arc::new(RecordingSink { tools: tools.clone(), ..RecordingSink::default() });
    let input = TurnInput {
        agent: Arc::clone(agent),
        client: connect(&connection, ConnectionKind::OpenAi, None, timeouts).unwrap(),
        model: ModelRef::new("test", "scripted"),
        thinking: Thinking::Default,
        options: Options::default(),
        around: Surroundings { tools: agent.configure_tools(&tools).0, ..Surroundings::default() },
        cancel: CancellationToken::new(),
    };
    (input, told)
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

/// A handler that answers some calls by itself.
struct Answers(Turn);

#[async_trait]
impl AgentHandler for Answers {
    fn turn(&mut self) -> &mut Turn {
        &mut self.0
    }

    async fn execute_tools(&mut self, calls: &[ToolCall]) -> Vec<Arc<Message>> {
        let results = calls.iter().map(|call| ToolResult::to(call, "42", false));
        let message = |result| Message {
            parts: vec![Part::ToolResult(result)],
            ..Message::text(Role::Tool, None, "")
        };
        results.map(|result| Arc::new(message(result))).collect()
    }
}

#[tokio::test]
async fn an_agent_s_handler_may_execute_tools_its_own_way() {
    let server = Server::start();
    server.push(Script::new().tool_call("c1", "gone", json!({})));
    server.push(Script::new().text("It is 42."));
    let agent: Arc<dyn Agent> = Arc::new(WithTools);
    let (input, told) = turn(&agent, &server);
    let outcome = Answers(Turn::new(input, Arc::clone(&told) as _)).run().await;
    assert_eq!(outcome.reason, StopReason::Complete);
    let sent = &server.chats()[1].body["messages"];
    assert_eq!(sent[2]["content"], "42");
}
