//! Rounds of tools: results that come before others, the limit, and what goes on in the background.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use async_trait::async_trait;
use chat_core::event::{CallState, StopReason};
use chat_core::message::{
    Answer, ApprovalKind, BackgroundCommand, ChatRequest, Fid, Message, Part, Role, ToolResult,
    ToolSpec,
};
use chat_core::permission::Mode;
use chat_core::settings::ConnectionKind;
use chat_core::tool::{
    Background, Memory, Registry, Text, Tool, ToolContext, ToolFailure, ToolInfo, ToolOutput,
};
use chat_testkit::server::{Gate, Script, Server};
use jiff::Timestamp;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::Notify;

use super::world::{Mirror, World, request, timeouts};

/// Is done at once.
struct Quick(ToolInfo);

/// Lasts until it is let go, or the person stops it.
pub struct Slow(pub ToolInfo, pub Arc<Notify>);

/// Begins something in the background.
struct Begins(ToolInfo);

/// Begins something that takes its time to end, and notes that it did.
struct Lingers(ToolInfo, Arc<AtomicBool>);

/// What goes on in the background.
struct Goes(AtomicBool, Weak<Memory>);

fn info(name: &str) -> ToolInfo {
    ToolInfo::foreign(ToolSpec {
        name: name.to_owned(),
        description: "For tests".to_owned(),
        parameters: json!({ "type": "object" }),
    })
}

#[async_trait]
impl Tool for Quick {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, _: Value, _: ToolContext) -> Result<ToolOutput, ToolFailure> {
        Ok(ToolOutput::text("changed"))
    }
}

#[async_trait]
impl Tool for Slow {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, _: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        context.host.on_output("10 %", 4);
        tokio::select! {
            () = context.cancel.cancelled() => Err(ToolFailure::new("stopped")),
            () = self.1.notified() => Ok(ToolOutput::text("built")),
        }
    }
}

#[async_trait]
impl Tool for Begins {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, _: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let memory = Arc::downgrade(&context.memory);
        context.memory.add_background(Arc::new(Goes(AtomicBool::new(true), memory)));
        Ok(ToolOutput::text("begun"))
    }
}

#[async_trait]
impl Tool for Lingers {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, _: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let (stopped, busy) = (context.memory.stopped(), context.memory.keep());
        let ended = Arc::clone(&self.1);
        tokio::spawn(async move {
            stopped.cancelled().await;
            for _ in 0..50_000 {
                tokio::task::yield_now().await;
            }
            ended.store(true, Ordering::Relaxed);
            drop(busy);
        });
        Ok(ToolOutput::text("begun"))
    }
}

#[async_trait]
impl Background for Goes {
    fn running(&self) -> Option<BackgroundCommand> {
        self.0.load(Ordering::Relaxed).then(|| BackgroundCommand {
            id: "out1".to_owned(),
            command: "serve".to_owned(),
            since: Timestamp::UNIX_EPOCH,
            bytes: 7,
        })
    }

    async fn end(&self) {
        self.0.store(false, Ordering::Relaxed);
        if let Some(memory) = self.1.upgrade() {
            memory.changed();
        }
    }
}

struct Scene {
    world: World,
    project: TempDir,
    go: Arc<Notify>,
}

impl Scene {
    async fn new(server: &Server) -> Self {
        let go = Arc::new(Notify::new());
        let tools: [Arc<dyn Tool>; 3] = [
            Arc::new(Quick(info("quick"))),
            Arc::new(Slow(info("slow"), Arc::clone(&go))),
            Arc::new(Begins(info("begins"))),
        ];
        let tools: Registry = tools.into_iter().collect();
        let world = World::with_tools(server, ConnectionKind::OpenAi, timeouts(), tools).await;
        Self { world, project: TempDir::new().unwrap(), go }
    }

    async fn ask(&mut self) -> Fid {
        let request = ChatRequest {
            project: Some(self.project.path().to_owned()),
            mode: Some(Mode::Ask),
            ..request(None, "Build it")
        };
        let fid = self.world.manager.send(request).await.unwrap().fid;
        self.world.open(&fid).await;
        fid
    }

    async fn answer(&mut self, fid: &Fid, answer: Answer) {
        self.world
            .events
            .until(|told| told.asks.get(fid).is_some_and(|asks| asks.len() == 1))
            .await;
        let ask = Arc::clone(&self.world.events.asks[fid][0]);
        assert_eq!(ask.kind, ApprovalKind::GoOn { rounds: 1 });
        assert!(self.world.manager.permissions().answer(fid, ask.id, answer).await.unwrap());
    }
}

fn results(messages: &[Arc<chat_core::message::Message>]) -> Vec<ToolResult> {
    let parts = messages.iter().flat_map(|message| message.parts.clone());
    let results = parts.filter_map(|part| match part {
        Part::ToolResult(result) => Some(result),
        _ => None,
    });
    results.collect()
}

fn told(results: &[ToolResult]) -> Vec<(&str, &str)> {
    results.iter().map(|result| (result.call.as_str(), result.text.as_str())).collect()
}

/// A reply that changes something, builds for long, and changes something again.
fn long_round() -> Script {
    let call = |script: Script, id, name| script.tool_call(id, name, json!({}));
    call(call(call(Script::new(), "c1", "quick"), "c2", "slow"), "c3", "quick")
}

#[tokio::test]
async fn a_result_is_told_shown_and_stored_while_others_are_still_to_come() {
    let server = Server::start();
    server.push(long_round());
    server.push(Script::new().text("Done."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask().await;
    scene.world.events.until(|told| told.results.len() == 1 && !told.outputs.is_empty()).await;
    let (call, result) = &scene.world.events.results[0];
    assert_eq!((call.as_str(), result.text.as_str()), ("c1", "changed"));

    // Whoever opens the chat now knows of every call.
    let subscription = scene.world.manager.subscribe();
    let snapshot = scene.world.manager.sessions().open(&fid, 50, &subscription).await.unwrap();
    let states: Vec<_> = snapshot.calls.iter().map(|open| &open.state).collect();
    let [CallState::Done(done), CallState::Running { tail, bytes: 4, ran, .. }, CallState::Waiting] =
        &states[..]
    else {
        panic!("{states:?}");
    };
    assert_eq!((done.text.as_str(), &**tail), ("changed", "10 %"));
    assert!(!ran.is_zero(), "since when it runs is known");
    let reply = snapshot.messages.iter().find(|message| message.tool_calls().count() == 3).unwrap();
    assert!(snapshot.calls.iter().all(|open| open.message == reply.id));
    assert_eq!(told(&results(&snapshot.messages)), [("c1", "changed")]);

    // It is on disk: another program reads it.
    let other = World::start(Arc::clone(&scene.world.folder)).await;
    let stored = other.manager.sessions().transcript(&fid).await.unwrap();
    assert_eq!(told(&results(&stored)), [("c1", "changed")]);

    scene.go.notify_one();
    assert_eq!(scene.world.events.finished(&fid).await.reason, StopReason::Complete);
    let all = [("c1", "changed"), ("c2", "built"), ("c3", "changed")];
    let stored = scene.world.manager.sessions().transcript(&fid).await.unwrap();
    assert_eq!(told(&results(&stored)), all, "each once");
    let events = &scene.world.events.results;
    assert_eq!(
        events.iter().map(|(call, _)| call.as_str()).collect::<Vec<_>>(),
        ["c1", "c2", "c3"]
    );
    let snapshot = scene.world.manager.sessions().open(&fid, 50, &subscription).await.unwrap();
    assert!(snapshot.calls.is_empty(), "the round is over");
}

#[tokio::test]
async fn what_had_come_before_a_stop_stays_and_the_others_say_that_they_have_none() {
    let server = Server::start();
    server.push(long_round());
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask().await;
    scene.world.events.until(|told| !told.outputs.is_empty()).await;
    scene.world.manager.sessions().stop(&fid);
    assert_eq!(scene.world.events.finished(&fid).await.reason, StopReason::Stopped);
    let world = scene.world.restart().await;
    let stored = results(&world.manager.sessions().transcript(&fid).await.unwrap());
    assert_eq!(
        told(&stored),
        [
            ("c1", "changed"),
            ("c2", "tool_call_fail: stopped"),
            ("c3", "The user stopped this call."),
        ]
    );
    let stopped: Vec<_> = stored.iter().map(|result| result.stopped).collect();
    assert_eq!(stopped, [false, true, true], "that it was the person is known ever after");
}

#[tokio::test]
async fn at_the_limit_of_rounds_the_person_is_asked_and_gives_as_many_again() {
    let server = Server::start();
    for id in ["c1", "c2"] {
        server.push(Script::new().tool_call(id, "quick", json!({})));
    }
    let mut scene = Scene::new(&server).await;
    scene.world.manager.settings().change(|settings| settings.tools.rounds = 1).await.unwrap();
    let fid = scene.ask().await;
    scene.answer(&fid, Answer::Allow(None)).await;
    // Another question, after as many rounds again.
    scene.world.events.until(|told| told.asks.get(&fid).is_some_and(Vec::is_empty)).await;
    scene.answer(&fid, Answer::Nobody).await;
    assert_eq!(scene.world.events.finished(&fid).await.reason, StopReason::Limit);
    assert_eq!(server.chats().len(), 2);
}

#[tokio::test]
async fn another_limit_reaches_a_request_that_runs() {
    let server = Server::start();
    for id in ["c1", "c2"] {
        server.push(Script::new().tool_call(id, "quick", json!({})));
    }
    server.push(Script::new().text("Built."));
    let mut scene = Scene::new(&server).await;
    scene.world.manager.settings().change(|settings| settings.tools.rounds = 1).await.unwrap();
    let fid = scene.ask().await;
    scene.world.events.until(|told| told.asks.get(&fid).is_some_and(|asks| asks.len() == 1)).await;
    scene.world.manager.settings().change(|settings| settings.tools.rounds = 9).await.unwrap();
    scene.answer(&fid, Answer::Allow(None)).await;
    let finished = scene.world.events.finished(&fid).await;
    assert_eq!((finished.reason, finished.error), (StopReason::Complete, None));
}

#[tokio::test]
async fn going_on_after_a_stop_in_thought_keeps_the_rounds_before() {
    let server = Server::start();
    server.push(Script::new().tool_call("c1", "quick", json!({})));
    server.push(Script::new().thinking("Hm.").gate(&Gate::new()));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask().await;
    let thinks = |part: &Part| matches!(part, Part::Thinking { text, .. } if text == "Hm.");
    let shown = |told: &Mirror| told.transcripts[&fid].last().unwrap().parts.iter().any(thinks);
    scene.world.events.until(shown).await;
    scene.world.manager.sessions().stop(&fid);
    assert_eq!(scene.world.events.finished(&fid).await.reason, StopReason::Stopped);
    server.push(Script::new().text("Done."));
    scene.world.manager.messages().resume(&fid).await.unwrap();
    assert_eq!(scene.world.events.finished(&fid).await.reason, StopReason::Complete);
    let roles = |messages: &[Arc<Message>]| messages.iter().map(|it| it.role).collect::<Vec<_>>();
    let stored = scene.world.manager.sessions().transcript(&fid).await.unwrap();
    assert_eq!(roles(&stored), [Role::User, Role::Assistant, Role::Tool, Role::Assistant]);
    assert_eq!(server.chats().len(), 3, "the round is not made again");
}

#[tokio::test]
async fn a_stop_ends_the_question_whether_to_go_on() {
    let server = Server::start();
    server.push(Script::new().tool_call("c1", "quick", json!({})));
    let mut scene = Scene::new(&server).await;
    scene.world.manager.settings().change(|settings| settings.tools.rounds = 1).await.unwrap();
    let fid = scene.ask().await;
    scene.world.events.until(|told| told.asks.get(&fid).is_some_and(|asks| asks.len() == 1)).await;
    scene.world.manager.sessions().stop(&fid);
    let finished = scene.world.events.finished(&fid).await;
    assert_eq!((finished.reason, finished.error), (StopReason::Stopped, None));
    assert!(scene.world.manager.permissions().pending().is_empty());
    let stored = scene.world.manager.sessions().transcript(&fid).await.unwrap();
    assert_eq!(told(&results(&stored)), [("c1", "changed")]);
}

#[tokio::test]
async fn commands_in_the_background_are_listed_and_ended() {
    let server = Server::start();
    server.push(Script::new().tool_call("c1", "begins", json!({})));
    server.push(Script::new().text("It runs."));
    let mut scene = Scene::new(&server).await;
    let fid = scene.ask().await;
    scene.world.events.finished(&fid).await;
    let manager = scene.world.manager.clone();
    let running = manager.commands().list(&fid);
    assert!(matches!(&running[..], [BackgroundCommand { id, bytes: 7, .. }] if id == "out1"));
    scene.world.events.until(|told| told.commands == running).await;
    let subscription = manager.subscribe();
    assert_eq!(manager.sessions().open(&fid, 1, &subscription).await.unwrap().commands, running);
    assert!(!manager.commands().end(&fid, "out2").await.unwrap());
    assert!(manager.commands().end(&fid, "out1").await.unwrap());
    scene.world.events.until(|told| told.commands.is_empty()).await;
    assert!(manager.commands().list(&fid).is_empty());
    assert!(!manager.commands().end(&fid, "out1").await.unwrap());
}

#[tokio::test]
async fn a_call_keeps_what_a_tool_of_others_calls_itself_and_no_model_hears_of_it() {
    let server = Server::start();
    server.push(Script::new().tool_call("c1", "quick", json!({})).tool_call(
        "c2",
        "begins",
        json!({}),
    ));
    server.push(Script::new().text("Done."));
    let title = Text::Verbatim("The Quick One".to_owned());
    let tools: [Arc<dyn Tool>; 2] =
        [Arc::new(Quick(ToolInfo { title, ..info("quick") })), Arc::new(Begins(info("begins")))];
    let tools: Registry = tools.into_iter().collect();
    let mut world = World::with_tools(&server, ConnectionKind::OpenAi, timeouts(), tools).await;
    let project = TempDir::new().unwrap();
    let asked = ChatRequest { project: Some(project.path().to_owned()), ..request(None, "Go") };
    let fid = world.manager.send(asked).await.unwrap().fid;
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    let stored = world.manager.sessions().transcript(&fid).await.unwrap();
    let calls: Vec<_> = stored.iter().flat_map(|message| message.tool_calls()).collect();
    assert_eq!(calls[0].title.as_deref(), Some("The Quick One"));
    let plain = serde_json::to_value(calls[1]).unwrap();
    assert_eq!(plain, json!({ "id": "c2", "name": "begins", "arguments": {} }));
    let sent = &server.chats()[1].body;
    assert!(
        sent.to_string().contains("quick") && !sent.to_string().contains("Quick One"),
        "{sent}"
    );
}

#[tokio::test]
async fn the_program_ends_behind_what_goes_on_in_the_background() {
    let server = Server::start();
    server.push(Script::new().tool_call("c1", "lingers", json!({})));
    server.push(Script::new().text("It runs."));
    let ended = Arc::new(AtomicBool::new(false));
    let tool: Arc<dyn Tool> = Arc::new(Lingers(info("lingers"), Arc::clone(&ended)));
    let tools = Registry::from_iter([tool]);
    let mut world = World::with_tools(&server, ConnectionKind::OpenAi, timeouts(), tools).await;
    let project = TempDir::new().unwrap();
    let asked = ChatRequest { project: Some(project.path().to_owned()), ..request(None, "Go") };
    let fid = world.manager.send(asked).await.unwrap().fid;
    world.open(&fid).await;
    world.events.finished(&fid).await;
    // Also where its chat is gone before.
    world.manager.sessions().delete(&fid).await.unwrap();
    world.manager.shutdown().await;
    assert!(ended.load(Ordering::Relaxed));
}
