//! A connection answers only so many requests at the same time. The others wait for their turn.

use std::sync::Arc;

use chat_core::client::Preparing;
use chat_core::event::{Health, Stage, StopReason, Subscription};
use chat_core::message::{ChatRequest, Ending, Fid, ToolSpec};
use chat_core::permission::Mode;
use chat_core::settings::ConnectionKind;
use chat_core::tool::{Registry, Tool, ToolInfo};
use chat_testkit::server::{End, Gate, Script, Server};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Notify;

use super::rounds::Slow;
use super::world::{World, request, timeouts};

/// A chat whose reply ends when its gate is opened.
struct Talk {
    fid: Fid,
    gate: Gate,
    /// Somebody else who looks at it: the mirror of the world counts as nobody.
    watcher: Subscription,
}

impl Talk {
    async fn begin(server: &Server, world: &World, name: &str) -> Self {
        let gate = Gate::new();
        server.when(name, Script::new().gate_first(&gate).text("done"));
        let fid = world.manager.send(request(None, name)).await.unwrap().fid;
        Self { fid, gate, watcher: world.manager.subscribe() }
    }

    /// Waits until it is in this stage, and looks away again.
    async fn is_in(&mut self, world: &World, mut holds: impl FnMut(&Stage) -> bool) {
        let sessions = world.manager.sessions();
        loop {
            let stage = sessions.open(&self.fid, 1, &self.watcher).await.unwrap().stage;
            sessions.close(&self.fid, &self.watcher);
            if holds(&stage) {
                return;
            }
            tokio::task::yield_now().await;
        }
    }

    async fn waits(&mut self, world: &World) {
        self.is_in(world, awaits_slot).await;
    }
}

fn awaits_slot(stage: &Stage) -> bool {
    matches!(stage, Stage::Preparing(Preparing::AwaitingSlot { .. }))
}

async fn limit(world: &World, requests: u32) {
    let settings = world.manager.settings();
    settings.change(move |it| it.connections[0].requests = Some(requests)).await.unwrap();
}

/// Chats with these names on one connection with this limit. Nobody looks at them.
async fn talks(requests: u32, names: &[&str]) -> (Server, World, Vec<Talk>) {
    let server = Server::start();
    let world = World::new(&server).await;
    limit(&world, requests).await;
    let mut talks = Vec::new();
    for name in names {
        let mut talk = Talk::begin(&server, &world, name).await;
        if talks.len() < requests as usize {
            server.wait_for_chats(talks.len() + 1).await;
        } else {
            talk.waits(&world).await;
        }
        talks.push(talk);
    }
    (server, world, talks)
}

/// What was sent, by what was asked in it.
fn sent(server: &Server) -> Vec<String> {
    server.chats().iter().map(|chat| chat.texts_of("user").join(" ")).collect()
}

#[tokio::test]
async fn five_chats_on_a_connection_for_two_take_turns_and_the_shown_one_goes_first() {
    let (server, mut world, talks) = talks(2, &["one", "two", "three", "four", "five"]).await;
    assert_eq!(sent(&server), ["one", "two"]);
    let snapshot = world.open(&talks[4].fid).await;
    assert!(awaits_slot(&snapshot.stage), "{:?}", snapshot.stage);
    let next = Stage::Preparing(Preparing::AwaitingSlot { before: 0 });
    if snapshot.stage != next {
        world.events.until(|mirror| mirror.stages.contains(&next)).await;
    }
    for (talk, chat, next) in [(0, 0, "five"), (1, 1, "three"), (4, 2, "four")] {
        talks[talk].gate.open();
        world.events.finished(&talks[talk].fid).await;
        server.wait_for_end(chat).await;
        let all = server.wait_for_chats(chat + 3).await;
        assert_eq!(all[chat + 2].texts_of("user"), [next]);
        let open = all.iter().filter(|chat| chat.sent().end == End::Running).count();
        assert_eq!(open, 2, "never more than two at once");
    }
    assert_eq!(sent(&server), ["one", "two", "five", "three", "four"]);
    let stages = &world.events.stages;
    let at = stages.iter().rposition(awaits_slot).unwrap_or(0);
    let later = stages[at..].iter().any(|stage| matches!(stage, Stage::Waiting { .. }));
    assert!(later, "it waits for the server, once it is sent: {stages:?}");
    for talk in &talks {
        talk.gate.open();
    }
    for talk in &talks[2..4] {
        assert_eq!(world.events.finished(&talk.fid).await.reason, StopReason::Complete);
    }
}

#[tokio::test]
async fn a_stop_while_it_waits_leaves_the_queue_and_stores_a_stopped_reply() {
    let (server, mut world, talks) = talks(1, &["one", "two", "three"]).await;
    world.manager.sessions().stop(&talks[1].fid);
    assert_eq!(world.events.finished(&talks[1].fid).await.reason, StopReason::Stopped);
    let messages = world.manager.sessions().transcript(&talks[1].fid).await.unwrap();
    assert_eq!(messages[1].ended, Some(Ending::Stopped));
    talks[0].gate.open();
    talks[2].gate.open();
    world.events.finished(&talks[2].fid).await;
    assert_eq!(sent(&server), ["one", "three"]);
}

#[tokio::test]
async fn a_chat_that_is_deleted_while_it_waits_leaves_the_queue() {
    let (server, mut world, talks) = talks(1, &["one", "two", "three"]).await;
    world.manager.sessions().delete(&talks[1].fid).await.unwrap();
    talks[0].gate.open();
    talks[2].gate.open();
    world.events.finished(&talks[2].fid).await;
    assert_eq!(sent(&server), ["one", "three"]);
}

#[tokio::test]
async fn a_higher_limit_counts_at_once_and_the_server_stays_known() {
    let (server, world, _talks) = talks(1, &["one", "two", "three"]).await;
    let connections = world.manager.connections();
    connections.refresh();
    connections.settled().await;
    limit(&world, 2).await;
    let state = connections.list().remove(0);
    assert!(matches!(state.health, Health::Ready { .. }), "{state:?}");
    assert_eq!(state.connection.requests, Some(2));
    server.wait_for_chats(2).await;
    assert_eq!(sent(&server), ["one", "two"]);
}

#[tokio::test]
async fn tools_run_without_a_slot() {
    let server = Server::start();
    let go = Arc::new(Notify::new());
    let info = ToolInfo::foreign(ToolSpec {
        name: "slow".to_owned(),
        description: "For tests".to_owned(),
        parameters: json!({ "type": "object" }),
    });
    let slow: Arc<dyn Tool> = Arc::new(Slow(info, Arc::clone(&go)));
    let tools: Registry = [slow].into_iter().collect();
    let kind = ConnectionKind::OpenAi;
    let mut world = World::with_tools(&server, kind, timeouts(), tools).await;
    limit(&world, 1).await;
    server.push(Script::new().tool_call("c1", "slow", json!({})));
    let project = TempDir::new().unwrap();
    let asked = ChatRequest {
        project: Some(project.path().to_owned()),
        mode: Some(Mode::Ask),
        ..request(None, "build")
    };
    let builds = world.manager.send(asked).await.unwrap().fid;
    world.open(&builds).await;
    world.events.until(|mirror| mirror.stages.contains(&Stage::RunningTools)).await;
    let mut other = Talk::begin(&server, &world, "other").await;
    server.wait_for_chats(2).await;
    // The round after the tools has to wait for the other chat.
    go.notify_one();
    world.events.until(|mirror| mirror.stages.iter().any(awaits_slot)).await;
    assert_eq!(sent(&server), ["build", "other"]);
    other.is_in(&world, |stage| matches!(stage, Stage::Waiting { .. })).await;
    other.gate.open();
    assert_eq!(world.events.finished(&builds).await.reason, StopReason::Complete);
    assert_eq!(server.chats().len(), 3);
}
