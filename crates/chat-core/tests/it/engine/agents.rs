//! Agents that are registered while the engine runs.

use std::sync::Arc;

use async_trait::async_trait;
use chat_core::agent::{
    Agent, AgentHandler, PromptContext, ReplySink, Surroundings, Turn, TurnInput,
};
use chat_core::client::ToolChoice;
use chat_core::event::Event;
use chat_core::message::{ChatRequest, Message, ToolCall, ToolResult};
use chat_core::tool::Registry;
use chat_testkit::server::{Script, Server};
use serde_json::json;

use super::world::{World, request};

/// Has its own instructions, and executes tools its own way.
struct Pirate;

impl Agent for Pirate {
    fn name(&self) -> &'static str {
        "pirate"
    }

    fn title(&self) -> &'static str {
        "Pirate"
    }

    fn description(&self) -> &'static str {
        "Talks like one"
    }

    fn system_prompt(&self, _: &Surroundings) -> Option<String> {
        Some("Talk like a pirate.".to_owned())
    }

    fn context(&self, _: &PromptContext<'_>) -> Vec<String> {
        Vec::new()
    }

    fn configure_tools(&self, registry: &Registry) -> (Registry, ToolChoice) {
        (registry.clone(), ToolChoice::Auto)
    }

    fn create_handler(
        &self,
        input: TurnInput,
        session: Arc<dyn ReplySink>,
    ) -> Box<dyn AgentHandler> {
        Box::new(PirateTurn(Turn::new(input, session)))
    }
}

struct PirateTurn(Turn);

#[async_trait]
impl AgentHandler for PirateTurn {
    fn turn(&mut self) -> &mut Turn {
        &mut self.0
    }

    async fn execute_tools(&mut self, calls: &[ToolCall]) -> Vec<Arc<Message>> {
        let answer = |call| Arc::new(Message::tool_result(ToolResult::to(call, "Arr!", false)));
        calls.iter().map(answer).collect()
    }
}

#[tokio::test]
async fn an_agent_can_be_registered_while_the_engine_runs() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let mut events = world.manager.subscribe();
    world.manager.agent_kinds().register(Arc::new(Pirate));
    let is_told =
        |events: Vec<Event>| events.iter().any(|it| matches!(it, Event::AgentKindsChanged));
    while !is_told(events.next().await.unwrap()) {}
    let names = world.manager.agent_kinds().list().into_iter().map(|agent| agent.name);
    assert_eq!(names.collect::<Vec<_>>(), ["just-ask", "code-assistant", "pirate"]);

    server.push(Script::new().tool_call("c1", "sail", json!({})));
    server.push(Script::new().text("Aye."));
    let ask = ChatRequest { agent: Some("pirate".to_owned()), ..request(None, "Where to?") };
    let fid = world.manager.send(ask).await.unwrap().fid;
    world.open(&fid).await;
    world.events.finished(&fid).await;
    let chats = server.chats();
    assert_eq!(chats[0].texts_of("system"), ["Talk like a pirate."]);
    assert_eq!(chats[1].texts_of("tool"), ["Arr!"], "the handler's own execute_tools ran");
    assert_eq!(world.transcript(&fid).await.last().unwrap().1, "Aye.");
}
