//! What the requests of agents cost their tree.

use std::sync::Arc;

use chat_core::error::{BudgetLimit, Kind};
use chat_core::event::StopReason;
use chat_core::manager::NewAgent;
use chat_core::message::{ChatRequest, Fid, Options, Role, ToolSpec};
use chat_core::settings::ConnectionKind;
use chat_core::tool::{Registry, Tool, ToolInfo};
use chat_testkit::server::{Gate, Recorded, Script, Server};
use serde_json::json;
use tokio::sync::Notify;

use super::rounds::Slow;
use super::world::{World, request, timeouts};

/// An agent of a chat with a small window, which somebody watches.
async fn agent(world: &mut World) -> Fid {
    let project = world.folder.path().join("project");
    std::fs::create_dir_all(&project).unwrap();
    let asked = ChatRequest {
        project: Some(project),
        options: Options { context_window: Some(2_048), ..Options::default() },
        ..request(None, "Hello")
    };
    let top = world.manager.send(asked).await.unwrap().fid;
    world.events.finished(&top).await;
    let new = NewAgent { parent: Some(top), ..NewAgent::default() };
    let fid = world.manager.agents().create(new).await.unwrap().meta.fid;
    world.open(&fid).await;
    fid
}

async fn limit_tokens(world: &World, tokens: u64) {
    world.manager.settings().change(move |it| it.agents.tokens = tokens).await.unwrap();
}

#[tokio::test]
async fn summaries_are_reserved_and_counted() {
    let server = Server::start();
    server.push(Script::new().text("Hello."));
    let mut world = World::new(&server).await;
    let fid = agent(&mut world).await;
    let long = "words and ".repeat(300);
    server.push(Script::new().text("One.").usage(950, 20));
    assert_eq!(world.say_and_wait(&fid, &long).await.reason, StopReason::Complete);

    // There are too few for a summary: none is asked for.
    let limit = BudgetLimit::Tokens(1_000);
    limit_tokens(&world, 1_000).await;
    let finished = world.say_and_wait(&fid, &long).await;
    assert_eq!(finished.reason, StopReason::Limit);
    assert_eq!(finished.error.unwrap().kind, Kind::AgentBudget { limit });
    assert_eq!(server.chats().len(), 2);

    // There are enough for it, but not for the reply after it.
    limit_tokens(&world, 12_000).await;
    server.when("Summarize the conversation", Script::new().text("- words").usage(9_000, 100));
    let finished = world.say_and_wait(&fid, &long).await;
    let limit = BudgetLimit::Tokens(12_000);
    assert_eq!(finished.error.unwrap().kind, Kind::AgentBudget { limit });
    let is_summary = |chat: &Recorded| chat.body.to_string().contains("Summarize the conv");
    let chats = server.chats();
    assert!(chats.len() > 2 && chats[2..].iter().all(is_summary));
    let transcript = world.transcript(&fid).await;
    assert!(transcript.iter().any(|(role, _)| *role == Role::Ui), "the summary stays");
}

#[tokio::test]
async fn what_a_server_refuses_between_two_rounds_costs_nothing() {
    let server = Server::start();
    server.push(Script::new().text("Hello."));
    let info = ToolInfo::foreign(ToolSpec {
        name: "slow".to_owned(),
        description: "For tests".to_owned(),
        parameters: json!({ "type": "object" }),
    });
    let go = Arc::new(Notify::new());
    let tools: [Arc<dyn Tool>; 1] = [Arc::new(Slow(info, Arc::clone(&go)))];
    let tools: Registry = tools.into_iter().collect();
    let mut world = World::with_tools(&server, ConnectionKind::OpenAi, timeouts(), tools).await;
    let fid = agent(&mut world).await;
    // For a round and what is reserved for another.
    limit_tokens(&world, 6_000).await;
    server.push(Script::new().tool_call("c1", "slow", json!({})));
    world.say(&fid, "Build it").await;
    world.events.until(|told| !told.outputs.is_empty()).await;
    server.push(Script::status(400, r#"{"error":{"message":"roles must alternate"}}"#));
    let gate = Gate::new();
    server.push(Script::new().text("Built.").gate(&gate));
    server.push(Script::new().text("It is blue."));
    assert!(world.say(&fid, "In blue").await.queued);
    go.notify_one();
    // The message is taken back, and the rest is sent again.
    world.events.until(|told| !told.resets.is_empty()).await;
    gate.reached().await;
    world.open(&fid).await;
    gate.open();
    assert_eq!(world.events.finished(&fid).await.error, None);
    world.events.shows(&fid, "It is blue.").await;
}
