//! What a server wants back with a reply: it gets it as it sent it, and nobody else does.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chat_core::event::StopReason;
use chat_core::message::{ChatRequest, ContextCategory, Fid, ModelRef, Part};
use chat_core::settings::{ConnectionKind, Folders};
use chat_testkit::server::{Gate, Model, PATIENCE, Script, Server};
use rusqlite::Connection;
use serde_json::json;

use super::world::{World, request};
use crate::another::Talking;

/// As a server writes it: with white space and escapes that no other writer would choose.
const SIGNED: &str = r#"{"type": "reasoning.encrypted", "data":"s\u0069gned==", "index":0}"#;

/// A piece of a reply that carries it.
fn details(json: &str) -> String {
    format!("data: {{\"choices\":[{{\"delta\":{{\"reasoning_details\":[{json}]}}}}]}}\n\n")
}

/// What was sent the last time.
fn sent(server: &Server) -> String {
    let chat = server.chats().pop().unwrap();
    String::from_utf8(chat.raw_body().to_vec()).unwrap()
}

fn goes_back(json: &str) -> String {
    format!("\"reasoning_details\":[{json}]")
}

#[tokio::test]
async fn goes_back_byte_for_byte_to_the_model_that_sent_it_and_to_no_other() {
    let server = Server::start();
    server.set_models([Model::new("scripted"), Model::new("other")]);
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    server.push(Script::new().bytes(details(SIGNED)).tool_call("c1", "look", json!({})));
    server.push(Script::new().text("Nothing there."));
    let (fid, finished) = world.ask_and_wait("Look").await;
    assert_eq!(finished.reason, StopReason::Complete);
    assert!(sent(&server).contains(&goes_back(SIGNED)), "{}", sent(&server));

    server.push(Script::new().text("Yes."));
    world.say_and_wait(&fid, "Sure?").await;
    assert!(sent(&server).contains(&goes_back(SIGNED)), "also with what is said later");

    server.push(Script::new().text("I think so."));
    let other = ModelRef::new("test", "other");
    let asked = ChatRequest { model: Some(other), ..request(Some(&fid), "And you?") };
    world.manager.send(asked).await.unwrap();
    world.events.finished(&fid).await;
    assert!(!sent(&server).contains("reasoning_details"), "{}", sent(&server));
}

/// As Anthropic sends a signature; the slash need not be escaped, and is.
const SIGNED_DELTA: &str = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\
    \"delta\":{\"type\":\"signature_delta\",\"signature\":\"s\\/ig==\"}}\n\n";
/// The whole block, as it goes back.
const SIGNED_BLOCK: &str = r#"{"type":"thinking","thinking":"Hm.","signature":"s\/ig=="}"#;
const REDACTED: &str = r#"{"type":"redacted_thinking","data":"x\/="}"#;

#[tokio::test]
async fn anthropics_thinking_goes_back_byte_for_byte_over_rounds_of_tools() {
    let server = Server::start();
    server.set_models([Model::new("scripted"), Model::new("other")]);
    let mut world = World::of_kind(&server, ConnectionKind::Anthropic).await;
    let redacted = format!(
        "event: content_block_start\ndata: {{\"type\":\"content_block_start\",\"index\":7,\
         \"content_block\":{REDACTED}}}\n\n"
    );
    let thought = || Script::new().thinking("Hm.").bytes(SIGNED_DELTA);
    server.push(thought().tool_call("c1", "look", json!({})));
    server.push(thought().bytes(redacted).tool_call("c1", "look", json!({})));
    server.push(Script::new().text("Nothing there."));
    let (fid, finished) = world.ask_and_wait("Look").await;
    assert_eq!(finished.reason, StopReason::Complete);
    let body = sent(&server);
    assert_eq!(body.matches(SIGNED_BLOCK).count(), 2, "{body}");
    assert!(body.contains(&format!("{SIGNED_BLOCK},{REDACTED}")), "in their order: {body}");
    assert!(body.contains(r#""tool_use_id":"c1__2""#), "each id once: {body}");

    // It is stored, and goes back with what is said later.
    let mut world = world.restart().await;
    world.manager.connections().settled().await;
    server.push(Script::new().text("Yes."));
    world.open(&fid).await;
    world.say_and_wait(&fid, "Sure?").await;
    assert_eq!(sent(&server).matches(SIGNED_BLOCK).count(), 2);
    let prefix = |body: &str| body.replace(r#","cache_control":{"type":"ephemeral"}"#, "");
    let (before, after) = (prefix(&body), prefix(&sent(&server)));
    let messages = |body: &str| body[body.find("\"messages\":").unwrap()..].to_owned();
    let (before, after) = (messages(&before), messages(&after));
    assert!(after.starts_with(before.trim_end_matches(['}', ']'])), "{before}\n{after}");

    server.push(Script::new().text("I think so."));
    let other = ModelRef::new("test", "other");
    let asked = ChatRequest { model: Some(other), ..request(Some(&fid), "And you?") };
    world.manager.send(asked).await.unwrap();
    world.events.finished(&fid).await;
    assert!(!sent(&server).contains("signature"), "{}", sent(&server));
}

#[tokio::test]
async fn anthropics_refused_signature_is_left_out_from_then_on() {
    let server = Server::start();
    let mut world = World::of_kind(&server, ConnectionKind::Anthropic).await;
    server.push(Script::new().thinking("Hm.").bytes(SIGNED_DELTA).text("Yes."));
    let (fid, _) = world.ask_and_wait("Look").await;
    let refusal = json!({ "type": "error", "error": { "type": "invalid_request_error",
        "message": "messages.1.content.0: Invalid `signature` in `thinking` block" } });
    server.push(Script::status(400, &refusal.to_string()));
    for asked in [3, 4] {
        server.push(Script::new().text("Well."));
        world.say_and_wait(&fid, "Sure?").await;
        assert_eq!(server.chats().len(), asked);
        assert!(!sent(&server).contains("signature"), "{}", sent(&server));
    }
}

/// As Gemini sends the signature of the thoughts that led to a call.
const CALL: &str = r#"{"index":0,"id":"c1","type":"function","function":{"name":"look","arguments":"{}"},"extra_content":{"google": {"thought_signature":"s\u0069g="}}}"#;

#[tokio::test]
async fn a_call_goes_back_with_its_signature() {
    let server = Server::start();
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let call = format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{CALL}]}}}}]}}\n\n");
    server.push(Script::new().bytes(call).finish("tool_calls"));
    server.push(Script::new().text("Nothing there."));
    let (fid, finished) = world.ask_and_wait("Look").await;
    assert_eq!(finished.reason, StopReason::Complete);
    let extra = r#""extra_content":{"google": {"thought_signature":"s\u0069g="}}"#;
    assert!(sent(&server).contains(extra), "{}", sent(&server));
    // It is stored with the call.
    let mut world = world.restart().await;
    world.manager.connections().settled().await;
    server.push(Script::new().text("Yes."));
    world.open(&fid).await;
    world.say_and_wait(&fid, "Sure?").await;
    assert!(sent(&server).contains(extra), "{}", sent(&server));
}

/// Starts a program that is killed once this is in its journal, and starts the engine after it.
async fn killed_after(server: &Server, journaled: &str, script: Script) -> World {
    let gate = Gate::new();
    let world = World::of_kind(server, ConnectionKind::OpenAi).await;
    world.manager.shutdown().await;
    let folder = Arc::clone(&world.folder);
    drop(world);
    server.push(script.gate(&gate));
    let program = Talking::start("net::killed::answers_until_it_is_killed", folder.path());
    gate.reached().await;
    let database = Connection::open(Folders::below(folder.path()).database()).unwrap();
    let began = Instant::now();
    let count = "SELECT count(*) FROM journal WHERE text = ?1";
    // It is written within half a second; another program cannot be asked whether it was.
    while database.query_row(count, [journaled], |row| row.get::<_, u32>(0)).unwrap() == 0 {
        assert!(began.elapsed() < PATIENCE, "waited in vain for the journal");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    program.kill();
    World::start(folder).await
}

#[tokio::test]
async fn survives_a_kill_in_the_middle_of_the_reply() {
    let server = Server::start();
    let script = Script::new().thinking("Hm.").bytes(details(SIGNED)).text("The first half");
    let mut world = killed_after(&server, "The first half", script).await;
    let fid = world.manager.sessions().list().await.unwrap()[0].fid.clone();
    world.open(&fid).await;
    server.push(Script::new().text(" and the second."));
    world.manager.messages().resume(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    assert!(sent(&server).contains(&goes_back(SIGNED)), "{}", sent(&server));
}

#[tokio::test]
async fn thinking_that_was_cut_before_it_is_shown_and_not_sent() {
    let server = Server::start();
    let mut world = killed_after(&server, "Hm.", Script::new().thinking("Hm.")).await;
    let fid = world.manager.sessions().list().await.unwrap()[0].fid.clone();
    let shown = world.open(&fid).await.messages;
    let thinks = |part: &Part| matches!(part, Part::Thinking { text, .. } if text == "Hm.");
    assert!(shown.last().unwrap().parts.iter().any(thinks), "{shown:?}");
    server.push(Script::new().text("A story."));
    world.manager.messages().resume(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    assert!(!sent(&server).contains("reasoning_details"), "{}", sent(&server));
}

/// Has the engine go on with a reply that ended too early, and gives what was sent for it.
async fn gone_on(world: &mut World, server: &Server, fid: &Fid) -> String {
    server.push(Script::new().text("Nothing there."));
    world.manager.messages().resume(fid).await.unwrap();
    assert_eq!(world.events.finished(fid).await.reason, StopReason::Complete);
    sent(server)
}

/// A call of which only so much came.
const HALF_CALL: &str = "data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\
    \"function\":{\"name\":\"look\",\"arguments\":\"{\\\"pa\"}}]}}]}\n\n";

#[tokio::test]
async fn what_was_cut_before_its_signature_is_never_sent_back() {
    const HALF: &str = r#"{"type":"reasoning.text","text":"Well.","index":0}"#;
    let whole = || Script::new().thinking("Hm.").bytes(details(SIGNED)).text("I look.");
    let again = || whole().thinking("Well.").bytes(details(HALF));
    let cases = [
        ("a text", whole().cut(), Some(SIGNED)),
        ("a second stretch of thinking", again().cut(), Some(SIGNED)),
        ("a call", again().bytes(HALF_CALL).cut(), None),
    ];
    for (what, script, goes) in cases {
        let server = Server::start();
        let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
        server.push(script);
        let (fid, finished) = world.ask_and_wait("Look").await;
        assert_eq!(finished.reason, StopReason::Interrupted, "{what}");
        let sent = gone_on(&mut world, &server, &fid).await;
        assert!(sent.contains("I look."), "{what}: {sent}");
        match goes {
            Some(json) => assert!(sent.contains(&goes_back(json)), "{what}: {sent}"),
            None => assert!(!sent.contains("reasoning_details"), "{what}: {sent}"),
        }
    }
}

#[tokio::test]
async fn a_call_that_was_stopped_while_it_came_is_dropped() {
    let server = Server::start();
    let gate = Gate::new();
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    // In one piece, so that the call is there when the text is.
    let text = "data: {\"choices\":[{\"delta\":{\"content\":\"I look.\"}}]}\n\n";
    let piece = [&details(SIGNED), text, HALF_CALL].concat();
    server.push(Script::new().bytes(piece).gate(&gate));
    let fid = world.ask("Look").await.fid;
    world.events.shows(&fid, "I look.").await;
    world.manager.sessions().stop(&fid);
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Stopped);
    let messages = world.manager.sessions().transcript(&fid).await.unwrap();
    assert_eq!(messages[1].tool_calls().count(), 0, "{messages:?}");
    let sent = gone_on(&mut world, &server, &fid).await;
    assert!(sent.contains("I look.") && !sent.contains("\"look\""), "{sent}");
    assert!(!sent.contains("reasoning_details"), "it led to the call: {sent}");
}

#[tokio::test]
async fn another_server_of_the_same_name_is_not_sent_it() {
    let (server, other) = (Server::start(), Server::start());
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    server.push(Script::new().thinking("Hm.").bytes(details(SIGNED)).text("Yes."));
    let (fid, _) = world.ask_and_wait("Sure?").await;
    let url = other.url();
    world
        .manager
        .settings()
        .change(move |settings| settings.connections[0].url = url)
        .await
        .unwrap();
    assert_eq!(world.say_and_wait(&fid, "Really?").await.reason, StopReason::Complete);
    assert!(!sent(&other).contains("reasoning_details"), "{}", sent(&other));
}

#[tokio::test]
async fn the_meter_counts_what_goes_back() {
    let (server, other) = (Server::start(), Server::start());
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let call = format!("data: {{\"choices\":[{{\"delta\":{{\"tool_calls\":[{CALL}]}}}}]}}\n\n");
    let script = Script::new().thinking("Hm.").bytes(details(SIGNED));
    server.push(script.bytes(call).finish("tool_calls"));
    server.push(Script::new().text("Nothing there."));
    let (fid, _) = world.ask_and_wait("Look").await;
    let reasoning = async || {
        let fills = world.manager.context().usage(&fid).await.unwrap().by_category;
        fills.into_iter().find(|(filling, _)| *filling == ContextCategory::Reasoning)
    };
    let counted = reasoning().await;
    assert!(matches!(counted, Some((_, tokens)) if tokens > 20), "{counted:?}");
    let url = other.url();
    world
        .manager
        .settings()
        .change(move |settings| settings.connections[0].url = url)
        .await
        .unwrap();
    assert_eq!(reasoning().await, None, "another server gets none of it");
}

#[tokio::test]
async fn the_meter_counts_nothing_that_was_refused() {
    let server = Server::start();
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    server.push(Script::new().thinking("Hm.").bytes(details(SIGNED)).text("Yes."));
    let (fid, _) = world.ask_and_wait("Sure?").await;
    let filled = async |world: &World| {
        let fills = world.manager.context().usage(&fid).await.unwrap().by_category;
        fills.into_iter().any(|(filling, _)| filling == ContextCategory::Reasoning)
    };
    assert!(filled(&world).await);
    let words = json!({ "error": { "message": "Invalid signature in thinking block" } });
    server.push(Script::status(400, &words.to_string()));
    server.push(Script::new().text("Really."));
    assert_eq!(world.say_and_wait(&fid, "Really?").await.reason, StopReason::Complete);
    assert!(!filled(&world).await);
}
