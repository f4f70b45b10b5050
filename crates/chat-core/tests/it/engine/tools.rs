//! Tool calls: with an empty registry, and with a chat that is used alone.

use std::sync::Arc;

use chat_core::chat::{Chat, Progress};
use chat_core::client::{ToolChoice, connect};
use chat_core::error::Kind;
use chat_core::event::StopReason;
use chat_core::message::{Ending, Fid, Message, Part, Role, ToolResult, ToolSpec};
use chat_core::settings::ConnectionKind;
use chat_testkit::server::{Gate, Script, Server};
use rstest::rstest;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use super::world::{World, connection, timeouts};

#[rstest]
#[case(ConnectionKind::Ollama)]
#[case(ConnectionKind::OpenAi)]
#[tokio::test]
async fn a_call_of_a_tool_that_is_not_there_is_answered_and_the_reply_goes_on(
    #[case] kind: ConnectionKind,
) {
    let server = Server::start();
    let call = Script::new().text("I look.").tool_call("c1", "read_file", json!({"path": "a"}));
    server.push(call.tool_call("c2", "list", json!({})));
    server.push(Script::new().text("Then without."));
    let mut world = World::of_kind(&server, kind).await;
    let (fid, finished) = world.ask_and_wait("Read a").await;
    assert!(finished.error.is_none());
    let roles: Vec<_> = world.transcript(&fid).await.into_iter().map(|(role, _)| role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Tool, Role::Assistant]);
    assert_eq!(world.events.last_text(&fid), "Then without.");
    let messages = world.manager.sessions().transcript(&fid).await.unwrap();
    let Part::ToolResult(result) = &messages[2].parts[0] else { panic!("{:?}", messages[2]) };
    assert!(result.failed && result.text.contains("tool_call_invalid"), "{result:?}");
    assert!(result.text.contains("read_file"));
    // The model hears of both, in order, by their ids.
    let sent = server.chats()[1].body["messages"].clone();
    let ids: Vec<_> = sent
        .as_array()
        .unwrap()
        .iter()
        .filter(|message| message["role"] == "tool")
        .map(|message| message["tool_call_id"].clone())
        .collect();
    assert_eq!(ids, ["c1", "c2"]);
    // All of it is there after a restart, and goes out again.
    let mut world = world.restart().await;
    world.open(&fid).await;
    world.say_and_wait(&fid, "more").await;
    let again = server.chats()[2].body["messages"].clone();
    assert_eq!(again.as_array().unwrap()[..4], sent.as_array().unwrap()[..4]);
}

/// The model asked for a tool; the person stops while it still considers the result.
async fn stopped_after_results(server: &Server) -> (World, Fid) {
    let gate = Gate::new();
    server.push(Script::new().text("I look.").tool_call("c1", "list", json!({})));
    server.push(Script::new().gate_first(&gate).text("never"));
    let mut world = World::of_kind(server, ConnectionKind::OpenAi).await;
    let fid = world.ask("Look").await.fid;
    gate.reached().await;
    world.manager.sessions().stop(&fid);
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Stopped);
    (world, fid)
}

async fn roles(world: &World, fid: &Fid) -> Vec<Role> {
    world.transcript(fid).await.into_iter().map(|(role, _)| role).collect()
}

#[tokio::test]
async fn a_stop_before_a_word_about_the_results_leaves_no_empty_reply() {
    let server = Server::start();
    let (world, fid) = stopped_after_results(&server).await;
    let expected = [Role::User, Role::Assistant, Role::Tool];
    assert_eq!(roles(&world, &fid).await, expected);
    let mut world = world.restart().await;
    assert_eq!(roles(&world, &fid).await, expected, "nor in the store");
    world.open(&fid).await;
    assert_eq!(world.say_and_wait(&fid, "and now?").await.reason, StopReason::Complete);
    let sent = server.chats()[2].body["messages"].clone();
    let roles: Vec<_> = sent.as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "user"]);
}

#[tokio::test]
async fn what_was_stopped_after_results_goes_on_from_them() {
    let server = Server::start();
    let (mut world, fid) = stopped_after_results(&server).await;
    server.push(Script::new().text("Nothing there."));
    world.manager.messages().resume(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    let expected = [Role::User, Role::Assistant, Role::Tool, Role::Assistant];
    assert_eq!(roles(&world, &fid).await, expected);
    assert_eq!(world.events.last_text(&fid), "Nothing there.");
}

#[tokio::test]
async fn a_failure_after_results_is_gone_on_from_without_calling_again() {
    let server = Server::start();
    server.push(Script::new().tool_call("c1", "list", json!({})));
    server.push(Script::status(500, "{}"));
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let (fid, finished) = world.ask_and_wait("Look").await;
    assert_eq!(finished.reason, StopReason::Error);
    server.push(Script::new().text("Nothing there."));
    world.manager.messages().resume(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    let sent = server.chats()[2].body["messages"].clone();
    assert_eq!(sent, server.chats()[1].body["messages"], "the same is asked again");
}

fn tool() -> ToolSpec {
    ToolSpec {
        name: "add".into(),
        description: "Adds two numbers".into(),
        parameters: json!({"type": "object", "properties": {"a": {"type": "number"}}}),
    }
}

fn user(text: &str) -> Arc<Message> {
    Arc::new(Message::text(Role::User, None, text))
}

#[tokio::test]
async fn a_chat_alone_yields_tool_calls_and_goes_on_with_their_results() {
    let server = Server::start();
    server.push(Script::new().tool_call("c1", "add", json!({"a": 1})));
    server.push(Script::new().text("It is 2."));
    let connection = connection(&server, ConnectionKind::OpenAi);
    let client = connect(&connection, ConnectionKind::OpenAi, None, timeouts()).unwrap();
    let mut chat = Chat::new(client, "scripted").tools(vec![tool()], ToolChoice::Auto);
    let cancel = CancellationToken::new();
    let mut requested = Vec::new();
    let response = chat
        .send(vec![user("1 + 1?")], &cancel, &mut |progress| {
            if let Progress::ToolCallRequested(call) = progress {
                requested.push(call.clone());
            }
        })
        .await
        .unwrap();
    assert_eq!(requested, response.tool_calls());
    let call = &requested[0];
    assert_eq!((call.name.as_str(), &call.arguments), ("add", &json!({"a": 1})));
    let result = Message::tool_result(ToolResult::to(call, "2", false));
    let mut seen = String::new();
    let response = chat
        .send_append(vec![Arc::new(result)], &cancel, &mut |progress| {
            if let Progress::Text(text) = progress {
                seen.push_str(text);
            }
        })
        .await
        .unwrap();
    assert_eq!((response.text().as_str(), seen.as_str()), ("It is 2.", "It is 2."));
    assert_eq!(server.chats()[1].body["messages"].as_array().unwrap().len(), 3);

    // A new send forgets what was sent before.
    chat.send(vec![user("new")], &cancel, &mut |_| {}).await.unwrap();
    assert_eq!(server.chats()[2].body["messages"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_chat_sends_nothing_only_as_an_error() {
    let server = Server::start();
    let connection = connection(&server, ConnectionKind::Ollama);
    let client = connect(&connection, ConnectionKind::Ollama, None, timeouts()).unwrap();
    let mut chat = Chat::new(client, "scripted").whole();
    let cancel = CancellationToken::new();
    let error = chat.send(Vec::new(), &cancel, &mut |_| {}).await.unwrap_err();
    assert_eq!(error.kind, Kind::NothingToSend);
    let response = chat.send(vec![user("hi")], &cancel, &mut |_| {}).await.unwrap();
    assert_eq!((response.text().as_str(), response.ended), ("You said: hi", Ending::Complete));
    assert_eq!(server.chats()[0].body["stream"], false);
    cancel.cancel();
    let response = chat.send(vec![user("hi")], &cancel, &mut |_| {}).await.unwrap();
    assert_eq!(response.ended, Ending::Stopped);
}
