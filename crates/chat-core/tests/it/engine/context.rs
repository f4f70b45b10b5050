//! The model's window: what goes round in circles is ended, what is too long goes out in short, and
//! how full it is is told.

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use chat_core::error::Kind;
use chat_core::event::{Stage, StopReason};
use chat_core::manager::SessionChange;
use chat_core::message::{
    ChatRequest, Content, ContextCategory, DeleteScope, Ending, Fid, Message, Options, Part,
    ReplySchema, Role, ToolSpec,
};
use chat_core::settings::ConnectionKind;
use chat_core::tool::{Registry, Tool, ToolContext, ToolFailure, ToolInfo, ToolKind, ToolOutput};
use chat_testkit::server::{Gate, Script, Server};
use serde_json::{Value, json};

use super::world::{World, model, timeouts};

/// What a model says again and again.
const ROUND: &str = "And so the king went out to see whether the moon was still there. ";

/// A tool that gives as many bytes as it is asked for, new ones each time.
struct Reads(ToolInfo);

#[async_trait]
impl Tool for Reads {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, arguments: Value, _: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let bytes = arguments["bytes"].as_u64().unwrap() as usize;
        let name = arguments["name"].as_str().unwrap();
        Ok(ToolOutput::text(format!("{name}: {}", "x".repeat(bytes))))
    }
}

fn tools() -> Registry {
    let parameters = json!({ "type": "object", "properties": {
        "bytes": { "type": "integer" }, "name": { "type": "string" },
    }});
    let spec = ToolSpec { name: "read".into(), description: "Reads.".into(), parameters };
    let info = ToolInfo { kind: ToolKind::Reads, ..ToolInfo::foreign(spec) };
    [Arc::new(Reads(info)) as Arc<dyn Tool>].into_iter().collect()
}

async fn world_with_tools(server: &Server) -> World {
    World::with_tools(server, ConnectionKind::Ollama, timeouts(), tools()).await
}

/// A request with a small window, in a folder where there are tools.
fn small(text: &str, folder: &Path) -> ChatRequest {
    ChatRequest {
        model: Some(model()),
        content: Content::text(text),
        options: Options { context_window: Some(2_048), ..Options::default() },
        project: Some(folder.to_owned()),
        ..ChatRequest::default()
    }
}

fn reads(name: &str, bytes: usize) -> Script {
    Script::new().tool_call(name, "read", json!({ "name": name, "bytes": bytes }))
}

fn markers(messages: &[Arc<Message>]) -> Vec<&Arc<Message>> {
    messages.iter().filter(|message| message.role == Role::Ui).collect()
}

/// What went out in a request, as text.
fn sent(server: &Server, at: usize) -> String {
    server.chats()[at].body["messages"].to_string()
}

#[tokio::test]
async fn a_reply_that_goes_round_in_circles_is_told_then_ended_and_gone_on_with_anew() {
    let server = Server::start();
    // The server keeps silent then: only the repetition ends the reply.
    let gate = Gate::new();
    let rounds = vec![ROUND; 39_000 / ROUND.len()];
    server.push(Script::new().text("Once upon a time. ").texts(rounds).gate(&gate));
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let (fid, finished) = world.ask_and_wait("A story").await;
    assert_eq!(finished.reason, StopReason::Interrupted);
    assert!(matches!(finished.error.unwrap().kind, Kind::Repetition { fresh: Some(_) }));
    let stored = world.manager.sessions().transcript(&fid).await.unwrap();
    let reply = stored.last().unwrap();
    assert_eq!(reply.ended, Some(Ending::Interrupted));
    let kept = reply.plain_text().len();
    assert!((30_000..40_000).contains(&kept), "what came is kept: {kept}");
    assert!(world.events.stages.contains(&Stage::Looping));
    // Going on, the model does not read all of it again.
    server.push(Script::new().text("The moon was gone."));
    world.manager.messages().resume(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    let again = sent(&server, 1);
    assert!(
        again.contains("Once upon a time") && again.contains("started repeating itself"),
        "{again}"
    );
    assert!(again.len() < 1_500, "{}", again.len());
}

#[tokio::test]
async fn a_loop_that_nobody_watches_ends_sooner() {
    let server = Server::start();
    // The server keeps silent then: only the repetition ends the reply.
    let gate = Gate::new();
    let rounds = vec![ROUND; 25_000 / ROUND.len()];
    server.push(Script::new().text("Once upon a time. ").texts(rounds).gate(&gate));
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let sent = world.manager.send(ChatRequest {
        model: Some(model()),
        content: Content::text("A story"),
        ..ChatRequest::default()
    });
    let fid = sent.await.unwrap().fid;
    let finished = world.events.finished(&fid).await;
    assert!(matches!(finished.error.unwrap().kind, Kind::Repetition { fresh: Some(_) }));
    let stored = world.manager.sessions().transcript(&fid).await.unwrap();
    let kept = stored.last().unwrap().plain_text().len();
    assert!((12_000..26_000).contains(&kept), "{kept}");
    assert!(!world.events.stages.contains(&Stage::Looping));
}

#[tokio::test]
async fn a_reply_that_repeats_itself_below_30_000_characters_comes_whole_while_somebody_watches() {
    let server = Server::start();
    server.push(Script::new().texts(vec![ROUND; 450]).text("The end."));
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let (fid, finished) = world.ask_and_wait("A story").await;
    assert_eq!((finished.reason, finished.error), (StopReason::Complete, None));
    assert!(world.events.stages.contains(&Stage::Looping));
    assert!(world.transcript(&fid).await.last().unwrap().1.ends_with("The end."));
}

#[tokio::test]
async fn the_same_call_with_the_same_result_is_told_and_then_ended() {
    let server = Server::start();
    for turn in 0..6 {
        server.push(Script::new().tool_call(&format!("c{turn}"), "list", json!({ "path": "." })));
    }
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let (fid, finished) = world.ask_and_wait("Look").await;
    let error = finished.error.unwrap();
    assert_eq!(error.kind, Kind::RepeatedCalls { tool: "list".into(), times: 5 });
    assert_eq!(server.chats().len(), 5);
    let stored = world.manager.sessions().transcript(&fid).await.unwrap();
    let told: Vec<_> = stored
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::ToolResult(result) => Some(result.text.contains("several times in a row")),
            _ => None,
        })
        .collect();
    assert_eq!(told, [false, false, true, true, true]);
    assert_eq!(stored.last().unwrap().error.as_ref().unwrap().kind, error.kind);
}

#[tokio::test]
async fn a_window_of_2048_holds_a_long_loop_of_tools() {
    let server = Server::start();
    let names: Vec<String> = (0..12).map(|at| format!("file{at}")).collect();
    for name in &names {
        server.push(reads(name, 3_000));
    }
    server.push(Script::new().text("Done."));
    // Whatever is summed up on the way.
    server.when("Summarize the conversation above", Script::new().text("- files were read"));
    let mut world = world_with_tools(&server).await;
    let folder = tempfile::tempdir().unwrap();
    let sent = world.manager.send(small("Read them all.", folder.path())).await.unwrap();
    world.open(&sent.fid).await;
    let finished = world.events.finished(&sent.fid).await;
    assert_eq!((finished.reason, finished.error), (StopReason::Complete, None));
    assert!(world.events.stages.contains(&Stage::Compacting));
    for request in server.chats() {
        let body = request.body["messages"].to_string();
        // At 3.2 bytes a token.
        assert!(body.len() < 2_048 * 32 / 10 + 1_500, "{}: {body}", body.len());
        if !body.contains("Summarize the conversation") {
            assert!(body.contains("Read them all."), "the question stays: {body}");
        }
    }
    let stored = world.manager.sessions().transcript(&sent.fid).await.unwrap();
    assert!(!markers(&stored).is_empty());
    let whole = stored
        .iter()
        .flat_map(|message| &message.parts)
        .filter(|part| matches!(part, Part::ToolResult(result) if result.text.len() > 3_000));
    assert_eq!(whole.count(), 12, "the originals stay");
}

/// A chat of a few turns.
async fn talk(server: &Server, world: &mut World) -> Fid {
    for at in 0..4 {
        server.push(Script::new().text(&format!("Answer {at}.")));
    }
    let (fid, _) = world.ask_and_wait("Question 0?").await;
    for at in 1..4 {
        world.say_and_wait(&fid, &format!("Question {at}?")).await;
    }
    fid
}

#[tokio::test]
async fn what_the_person_has_summed_up_goes_out_in_short_until_it_is_taken_back() {
    let server = Server::start();
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let fid = talk(&server, &mut world).await;
    server.push(Script::new().text("- three questions were answered"));
    assert!(world.manager.context().compact(&fid).await.unwrap());
    let asked = sent(&server, 4);
    assert!(asked.contains("User: Question 0?") && !asked.contains("Question 3?"), "{asked}");
    for text in ["five", "six"] {
        server.push(Script::new().text(text));
        world.say_and_wait(&fid, "And now?").await;
    }
    let (five, six) = (sent(&server, 5), sent(&server, 6));
    assert!(five.contains("three questions were answered") && !five.contains("Question 0?"));
    assert!(five.contains("Question 3?") && five.contains("Answer 3."));
    assert!(six.starts_with(five.trim_end_matches(']')), "what went out stays the same");
    // The originals are there, also after a restart; and so is the marker.
    let mut world = world.restart().await;
    let stored = world.manager.sessions().transcript(&fid).await.unwrap();
    assert_eq!(stored.iter().filter(|message| message.role == Role::User).count(), 6);
    assert_eq!(markers(&stored).len(), 1);
    world.open(&fid).await;
    assert!(world.manager.context().usage(&fid).await.unwrap().shortened);
    assert!(world.manager.context().undo_compaction(&fid).await.unwrap());
    assert!(!world.manager.context().usage(&fid).await.unwrap().shortened);
    assert!(!world.manager.context().undo_compaction(&fid).await.unwrap());
    server.push(Script::new().text("seven"));
    world.say_and_wait(&fid, "All of it?").await;
    let seven = sent(&server, 7);
    assert!(seven.contains("Question 0?") && !seven.contains("three questions were answered"));
}

#[tokio::test]
async fn a_summary_that_is_stopped_or_fails_changes_nothing() {
    let server = Server::start();
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let fid = talk(&server, &mut world).await;
    let gate = Gate::new();
    server.push(Script::new().gate_first(&gate).text("never"));
    let manager = world.manager.clone();
    let of = fid.clone();
    let asked = tokio::spawn(async move { manager.context().compact(&of).await });
    gate.reached().await;
    assert_eq!(world.manager.sessions().busy(), std::slice::from_ref(&fid));
    world.manager.sessions().stop(&fid);
    assert!(!asked.await.unwrap().unwrap());
    server.push(Script::status(500, "{}"));
    assert!(world.manager.context().compact(&fid).await.is_err());
    assert!(world.manager.sessions().busy().is_empty());
    assert!(markers(&world.manager.sessions().transcript(&fid).await.unwrap()).is_empty());
    server.push(Script::new().text("Fine."));
    assert_eq!(world.say_and_wait(&fid, "And now?").await.reason, StopReason::Complete);
}

#[tokio::test]
async fn a_deleted_message_is_told_by_no_summary() {
    let server = Server::start();
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let fid = talk(&server, &mut world).await;
    server.push(Script::new().text("- three questions were answered"));
    assert!(world.manager.context().compact(&fid).await.unwrap());
    let first = world.manager.sessions().transcript(&fid).await.unwrap()[0].id;
    let messages = world.manager.messages();
    let deleted = messages.delete(&fid, first, DeleteScope::Message).await.unwrap();
    messages.restore(&fid, deleted).await.unwrap();
    server.push(Script::new().text("five"));
    world.say_and_wait(&fid, "And now?").await;
    assert!(sent(&server, 5).contains("three questions were answered"), "it is back, too");
    messages.delete(&fid, first, DeleteScope::Message).await.unwrap();
    server.push(Script::new().text("six"));
    world.say_and_wait(&fid, "And again?").await;
    let now = sent(&server, 6);
    assert!(!now.contains("three questions") && !now.contains("Question 0?"), "{now}");
    assert!(now.contains("Question 1?") && now.contains("Answer 3."), "{now}");
}

#[tokio::test]
async fn a_summary_is_written_without_what_the_user_wants_of_replies() {
    let server = Server::start();
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let fid = talk(&server, &mut world).await;
    let schema = ReplySchema::try_from(r#"{"type":"object"}"#.to_owned()).unwrap();
    let options = Options {
        stop: vec!["END".to_owned()],
        temperature: Some(0.5),
        schema: Some(schema),
        ..Options::default()
    };
    let change = SessionChange { options: Some(options), ..SessionChange::default() };
    world.manager.sessions().change(&fid, change).await.unwrap();
    server.push(Script::new().text("- three questions were answered"));
    assert!(world.manager.context().compact(&fid).await.unwrap());
    let asked = &server.chats()[4].body;
    assert_eq!(asked["temperature"], 0.5);
    assert!(asked.get("stop").is_none() && asked.get("response_format").is_none(), "{asked}");
}

#[tokio::test]
async fn the_meter_counts_as_the_server_does() {
    let server = Server::start();
    server.push(Script::new().text("It is blue.").usage(40, 5));
    let mut world = World::of_kind(&server, ConnectionKind::Ollama).await;
    let (fid, _) = world.ask_and_wait(&"Why is the sky blue? ".repeat(6)).await;
    let usage = world.manager.context().usage(&fid).await.unwrap();
    assert!(usage.measured && usage.window == Some(8_192), "{usage:?}");
    assert_eq!(usage.limit, Some(32_768 * 80 / 100));
    assert!((41..60).contains(&usage.tokens), "{usage:?}");
    assert_eq!(usage.by_category.iter().map(|(_, tokens)| tokens).sum::<u64>(), usage.tokens);
    assert_eq!(usage.by_category[0].0, ContextCategory::Person);
    assert_eq!(world.events.meters.last().map(|told| told.tokens), Some(usage.tokens));
}

#[tokio::test]
async fn a_preview_is_what_goes_out() {
    let server = Server::start();
    let world = world_with_tools(&server).await;
    let folder = tempfile::tempdir().unwrap();
    let request = ChatRequest {
        agent: Some("code-assistant".into()),
        ..small("Look around.", folder.path())
    };
    let preview = world.manager.context().preview(request.clone()).await.unwrap();
    assert_eq!(preview.tools.len(), 1);
    assert!(preview.tokens > 100 && preview.bytes > 300, "{preview:?}");
    assert!(server.chats().is_empty() && world.manager.sessions().list().await.unwrap().is_empty());
    server.push(Script::new().text("Fine."));
    let mut world = world;
    let sent = world.manager.send(request).await.unwrap();
    world.open(&sent.fid).await;
    world.events.finished(&sent.fid).await;
    let body = &server.chats()[0].body["messages"];
    assert_eq!(body[0]["content"], *preview.system);
    let said = format!("{}\n\nLook around.", preview.context);
    assert_eq!(body[1]["content"].as_str().unwrap().trim_start(), said.trim_start());
}

#[tokio::test]
async fn a_preview_tells_of_a_conversation_what_the_meter_tells() {
    let server = Server::start();
    let mut world = world_with_tools(&server).await;
    let folder = tempfile::tempdir().unwrap();
    let request = ChatRequest {
        agent: Some("code-assistant".into()),
        ..small("Look around.", folder.path())
    };
    server.push(Script::new().text("Fine."));
    let sent = world.manager.send(request).await.unwrap();
    world.open(&sent.fid).await;
    world.events.finished(&sent.fid).await;
    let next = || ChatRequest {
        session: Some(sent.fid.clone()),
        content: Content::text("And around again, with a longer message."),
        ..ChatRequest::default()
    };
    let before = world.manager.context().usage(&sent.fid).await.unwrap().tokens;
    // Rules that came since are told by both.
    std::fs::write(folder.path().join("AGENTS.md"), "Use four spaces. ".repeat(40)).unwrap();
    let usage = world.manager.context().usage(&sent.fid).await.unwrap();
    let preview = world.manager.context().preview(next()).await.unwrap();
    assert!(usage.tokens > before + 50, "{before} {usage:?}");
    assert_eq!(preview.now, usage.tokens);
    assert!(preview.tokens > preview.now, "{} {}", preview.tokens, preview.now);
}

#[tokio::test]
async fn the_window_that_ollama_is_asked_for_grows_with_the_conversation_and_stays() {
    let server = Server::start();
    let mut world = World::of_kind(&server, ConnectionKind::Ollama).await;
    for text in ["one", "two", "three"] {
        server.push(Script::new().text(text));
    }
    let (fid, _) = world.ask_and_wait("Hello").await;
    world.say_and_wait(&fid, &"a long file ".repeat(2_500)).await;
    world.ask_and_wait("Hello again").await;
    let windows: Vec<_> =
        server.chats().iter().map(|chat| chat.body["options"]["num_ctx"].clone()).collect();
    assert_eq!(windows, [8_192, 16_384, 16_384]);
}
