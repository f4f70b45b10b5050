//! Messages sent while a reply runs: with the results of a step, at the end, or at once.

use std::sync::Arc;

use chat_core::event::StopReason;
use chat_core::message::{
    ChatRequest, Content, Context, Delivery, Fid, Mention, MessageId, Role, ToolSpec,
};
use chat_core::permission::Mode;
use chat_core::settings::{ConnectionKind, WhileBusy};
use chat_core::tool::{Registry, Tool, ToolInfo};
use chat_testkit::server::{Gate, Recorded, Script, Server};
use serde_json::json;
use tempfile::TempDir;
use tokio::sync::Notify;

use super::rounds::Slow;
use super::world::{World, request, timeouts};

/// How a strict template refuses.
const REFUSAL: &str = r#"{"error":{"message":"After the optional system message, conversation roles must alternate user/assistant/user/assistant/...","type":"BadRequestError","code":400}}"#;

fn calls(id: &str) -> Script {
    Script::new().tool_call(id, "slow", json!({}))
}

/// A chat in which a tool runs.
struct Scene {
    server: Server,
    world: World,
    fid: Fid,
    go: Arc<Notify>,
    _project: TempDir,
}

impl Scene {
    async fn new() -> Self {
        let server = Server::start();
        server.push(calls("c1"));
        let go = Arc::new(Notify::new());
        let info = ToolInfo::foreign(ToolSpec {
            name: "slow".to_owned(),
            description: "For tests".to_owned(),
            parameters: json!({ "type": "object" }),
        });
        let tools: [Arc<dyn Tool>; 1] = [Arc::new(Slow(info, Arc::clone(&go)))];
        let tools: Registry = tools.into_iter().collect();
        let mut world = World::with_tools(&server, ConnectionKind::OpenAi, timeouts(), tools).await;
        let project = TempDir::new().unwrap();
        let request = ChatRequest {
            project: Some(project.path().to_owned()),
            mode: Some(Mode::Ask),
            ..request(None, "Build it")
        };
        let fid = world.manager.send(request).await.unwrap().fid;
        world.open(&fid).await;
        world.events.until(|told| !told.outputs.is_empty()).await;
        Self { server, world, fid, go, _project: project }
    }

    async fn send(&self, text: &str, delivery: Option<Delivery>) -> MessageId {
        let request = ChatRequest { delivery, ..request(Some(&self.fid), text) };
        let sent = self.world.manager.send(request).await.unwrap();
        assert!(sent.queued);
        sent.message
    }

    /// Waits until the last message says this and everything has ended.
    async fn ends_with(&mut self, text: &str) {
        self.world.events.shows(&self.fid, text).await;
        let sessions = self.world.manager.sessions();
        self.world.events.until(|_| sessions.busy().is_empty()).await;
    }

    fn waiting(&self) -> Vec<(String, Delivery)> {
        let queue = &self.world.events.queues[&self.fid];
        queue.iter().map(|queued| (queued.content.text.clone(), queued.delivery)).collect()
    }

    async fn said(&self) -> Vec<(Role, String)> {
        let all = self.world.transcript(&self.fid).await;
        all.into_iter().filter(|(role, _)| *role != Role::Tool).collect()
    }
}

fn roles(chat: &Recorded) -> Vec<String> {
    let messages = chat.body["messages"].as_array().unwrap();
    let roles = messages.iter().map(|message| message["role"].as_str().unwrap().to_owned());
    roles.filter(|role| role != "system").collect()
}

#[tokio::test]
async fn what_is_said_while_a_tool_runs_reaches_the_model_with_its_result() {
    let mut scene = Scene::new().await;
    scene.server.push(Script::new().text("Done, in blue."));
    let id = scene.send("In blue", None).await;
    scene.world.events.until(|told| told.queues[&scene.fid].len() == 1).await;
    assert_eq!(scene.waiting(), [("In blue".to_owned(), Delivery::Steer)]);
    scene.go.notify_one();
    scene.ends_with("Done, in blue.").await;

    let chats = scene.server.chats();
    assert_eq!(chats.len(), 2);
    assert_eq!(roles(&chats[1]), ["user", "assistant", "tool", "user"]);
    assert_eq!(chats[1].texts_of("user"), ["Build it", "In blue"]);
    assert!(scene.waiting().is_empty());
    // What is shown is what is stored, in the same order.
    let transcript = scene.world.manager.sessions().transcript(&scene.fid).await.unwrap();
    let order: Vec<_> = transcript.iter().map(|message| message.role).collect();
    assert_eq!(order, [Role::User, Role::Assistant, Role::Tool, Role::User, Role::Assistant]);
    assert_eq!(transcript[3].id, id);
    let shown = scene.world.events.texts(&scene.fid);
    let mut world = scene.world.restart().await;
    world.open(&scene.fid).await;
    assert_eq!(world.events.texts(&scene.fid), shown);
    assert!(world.events.queues[&scene.fid].is_empty());
}

#[tokio::test]
async fn several_go_out_as_one_and_the_same_ever_after() {
    let mut scene = Scene::new().await;
    scene.server.push(calls("c2"));
    scene.server.push(Script::new().text("Done."));
    scene.send("In blue", None).await;
    scene.send("And large", None).await;
    scene.go.notify_one();
    scene.world.events.until(|told| told.results.len() == 1).await;
    scene.go.notify_one();
    scene.ends_with("Done.").await;
    scene.world.say_and_wait(&scene.fid, "Thanks").await;
    let chats = scene.server.chats();
    assert_eq!(chats[1].texts_of("user"), ["Build it", "In blue\n\nAnd large"]);
    for (earlier, later) in chats.iter().zip(&chats[1..]) {
        let earlier = earlier.body["messages"].as_array().unwrap();
        let later = later.body["messages"].as_array().unwrap();
        assert_eq!(later[..earlier.len()], earlier[..]);
    }
}

#[tokio::test]
async fn what_waits_for_the_end_does() {
    let mut scene = Scene::new().await;
    scene.server.push(Script::new().text("Done."));
    scene.send("And then?", Some(Delivery::Queue)).await;
    scene.go.notify_one();
    scene.ends_with("You said: And then?").await;
    let chats = scene.server.chats();
    assert_eq!(roles(&chats[1]), ["user", "assistant", "tool"]);
    assert_eq!(roles(&chats[2]), ["user", "assistant", "tool", "assistant", "user"]);
}

#[tokio::test]
async fn the_setting_decides_where_the_message_does_not() {
    let mut scene = Scene::new().await;
    let queue = |settings: &mut chat_core::settings::Settings| {
        settings.chat.while_busy = WhileBusy::Queue;
    };
    scene.world.manager.settings().change(queue).await.unwrap();
    scene.send("later", None).await;
    scene.send("now", Some(Delivery::Steer)).await;
    scene.world.events.until(|told| told.queues[&scene.fid].len() == 2).await;
    assert_eq!(
        scene.waiting(),
        [("later".to_owned(), Delivery::Queue), ("now".to_owned(), Delivery::Steer)]
    );
    scene.server.push(Script::new().text("Done."));
    scene.go.notify_one();
    scene.ends_with("You said: later").await;
    let chats = scene.server.chats();
    assert_eq!(chats[1].texts_of("user"), ["Build it", "now"]);
    assert_eq!(chats[2].texts_of("user"), ["Build it", "now", "later"]);
}

#[tokio::test]
async fn what_asks_for_another_mode_or_agent_waits_for_the_end() {
    let mut scene = Scene::new().await;
    scene.server.push(Script::new().text("Done."));
    let other_mode = ChatRequest { mode: Some(Mode::Plan), ..request(Some(&scene.fid), "Plan it") };
    let other_agent = ChatRequest {
        agent: Some("code-assistant".to_owned()),
        ..request(Some(&scene.fid), "Code it")
    };
    let same =
        ChatRequest { agent: Some("just-ask".to_owned()), ..request(Some(&scene.fid), "Same") };
    for request in [other_mode, other_agent, same] {
        scene.world.manager.send(request).await.unwrap();
    }
    scene.world.events.until(|told| told.queues[&scene.fid].len() == 3).await;
    let deliveries: Vec<_> = scene.waiting().into_iter().map(|(_, delivery)| delivery).collect();
    assert_eq!(deliveries, [Delivery::Queue, Delivery::Queue, Delivery::Steer]);
    scene.go.notify_one();
    scene.ends_with("You said: Code it").await;
    let chats = scene.server.chats();
    assert_eq!(chats[1].texts_of("user"), ["Build it", "Same"]);
}

#[tokio::test]
async fn what_a_steering_message_points_at_goes_with_it() {
    let mut scene = Scene::new().await;
    scene.server.push(Script::new().text("Done."));
    let page = Mention::Page { url: "https://example.org/".to_owned(), text: "A page.".to_owned() };
    let request = ChatRequest {
        context: Context { mentions: vec![page], ..Context::default() },
        ..request(Some(&scene.fid), "As there")
    };
    scene.world.manager.send(request).await.unwrap();
    scene.go.notify_one();
    scene.ends_with("Done.").await;
    let sent = &scene.server.chats()[1].texts_of("user")[1];
    assert!(sent.contains("A page.") && sent.contains("As there"), "{sent}");
}

#[tokio::test]
async fn a_message_that_interrupts_stops_the_reply_keeps_it_and_goes_out_next() {
    let server = Server::start();
    let (mut world, fid, _gate) = World::in_mid_reply(&server).await;
    world.say(&fid, "two").await;
    let now = ChatRequest { delivery: Some(Delivery::Interrupt), ..request(Some(&fid), "three") };
    world.manager.send(now).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Stopped);
    world.events.shows(&fid, "You said: two").await;
    let chats = server.chats();
    assert_eq!(chats[1].texts_of("user"), ["one", "three"]);
    assert_eq!(chats[1].texts_of("assistant"), ["half"]);
    assert_eq!(chats[2].texts_of("user"), ["one", "three", "two"]);
}

#[tokio::test]
async fn a_stop_after_an_interruption_sends_nothing() {
    let scene = Scene::new().await;
    scene.send("now", Some(Delivery::Interrupt)).await;
    scene.world.manager.sessions().stop(&scene.fid);
    let mut scene = scene;
    let sessions = scene.world.manager.sessions();
    scene.world.events.until(|_| sessions.busy().is_empty()).await;
    // It was stopped in time, or the message had gone out: never both, and never lost.
    let waits = scene.waiting().len();
    let said = scene.said().await.iter().filter(|(_, text)| text == "now").count();
    assert_eq!(waits + said, 1);
}

#[tokio::test]
async fn a_waiting_message_is_edited_moved_and_sent_now() {
    let server = Server::start();
    let (mut world, fid, _gate) = World::in_mid_reply(&server).await;
    let mut ids = Vec::new();
    for text in ["a", "b", "c"] {
        ids.push(world.say(&fid, text).await.message);
    }
    let sessions = world.manager.sessions();
    let better = Content::text("b, better");
    assert!(sessions.edit_waiting(&fid, ids[1], better, Context::default()).await.unwrap());
    assert!(sessions.move_waiting(&fid, ids[2], Some(ids[0])).await.unwrap());
    assert!(sessions.move_waiting(&fid, ids[0], None).await.unwrap());
    // Where the other one does not wait, it stays where it is.
    assert!(sessions.move_waiting(&fid, ids[2], Some(MessageId::new())).await.unwrap());
    let texts = |queue: &[chat_core::message::Queued]| -> Vec<String> {
        queue.iter().map(|queued| queued.content.text.clone()).collect()
    };
    world.events.until(|told| texts(&told.queues[&fid]) == ["c", "b, better", "a"]).await;
    sessions.stop(&fid);
    world.events.finished(&fid).await;

    // Another start finds them in this order, and sends the one that is asked for.
    let mut world = world.restart().await;
    assert_eq!(texts(&world.open(&fid).await.queue), ["c", "b, better", "a"]);
    let held = Gate::new();
    server.push(Script::new().text("to b").gate(&held));
    let sessions = world.manager.sessions();
    assert!(sessions.deliver_now(&fid, ids[1]).await.unwrap());
    world.events.shows(&fid, "to b").await;
    assert_eq!(texts(&world.events.queues[&fid]), ["c", "a"]);
    // And stops what is at work for another.
    assert!(sessions.deliver_now(&fid, ids[0]).await.unwrap());
    world.events.shows(&fid, "You said: c").await;
    let said = server.chats().last().unwrap().texts_of("user");
    assert_eq!(said, ["one", "b, better", "a", "c"]);

    for id in ids {
        let text = Content::text("late");
        assert!(!sessions.edit_waiting(&fid, id, text, Context::default()).await.unwrap());
        assert!(!sessions.move_waiting(&fid, id, None).await.unwrap());
        assert!(!sessions.deliver_now(&fid, id).await.unwrap());
    }
}

#[tokio::test]
async fn what_a_strict_server_refuses_goes_out_at_the_end_once() {
    let mut scene = Scene::new().await;
    let gate = Gate::new();
    scene.server.push(Script::status(400, REFUSAL));
    scene.server.push(Script::new().text("Done.").gate(&gate));
    let id = scene.send("In blue", None).await;
    scene.send("Wait", Some(Delivery::Queue)).await;
    scene.go.notify_one();
    scene.world.events.until(|told| !told.resets.is_empty()).await;
    gate.reached().await;
    scene.world.open(&scene.fid).await;
    let at_end = |text: &str| (text.to_owned(), Delivery::Queue);
    assert_eq!(scene.waiting(), [at_end("In blue"), at_end("Wait")]);
    // It is known from now on.
    scene.send("And large", None).await;
    scene.world.events.until(|told| told.queues[&scene.fid].len() == 3).await;
    assert_eq!(scene.waiting()[2], at_end("And large"));
    gate.open();
    scene.ends_with("You said: And large").await;

    let chats = scene.server.chats();
    assert_eq!(roles(&chats[1]), ["user", "assistant", "tool", "user"]);
    assert_eq!(roles(&chats[2]), ["user", "assistant", "tool"]);
    assert_eq!(chats[3].texts_of("user"), ["Build it", "In blue"]);
    assert_eq!(chats[5].texts_of("user"), ["Build it", "In blue", "Wait", "And large"]);
    let said = scene.world.manager.sessions().transcript(&scene.fid).await.unwrap();
    assert_eq!(said.iter().filter(|message| message.id == id).count(), 1);
    assert!(said.windows(2).all(|pair| pair[1].parent == Some(pair[0].id)));
    let found = scene.world.manager.sessions().search("In blue", 9).await.unwrap();
    assert_eq!(found.hits.len(), 1);
}

#[tokio::test]
async fn what_steers_and_is_not_heard_by_a_failed_server_stays_said() {
    let mut scene = Scene::new().await;
    scene.server.push(Script::status(500, r#"{"error":{"message":"out of memory"}}"#));
    scene.send("In blue", None).await;
    scene.go.notify_one();
    assert_eq!(scene.world.events.finished(&scene.fid).await.reason, StopReason::Error);
    assert!(scene.waiting().is_empty());
    scene.world.manager.messages().retry(&scene.fid).await.unwrap();
    scene.world.events.finished(&scene.fid).await;
    let last = scene.server.chats().pop().unwrap();
    assert_eq!(roles(&last), ["user", "assistant", "tool", "user"]);
}

#[tokio::test]
async fn what_one_program_takes_back_edits_or_moves_another_steers_with_or_without() {
    for _ in 0..5 {
        let mut scene = Scene::new().await;
        scene.server.push(Script::new().text("Done."));
        let other = World::start(Arc::clone(&scene.world.folder)).await;
        let blue = scene.send("In blue", None).await;
        let large = scene.send("And large", None).await;
        let sessions = other.manager.sessions();
        scene.go.notify_one();
        let (taken, edited) = tokio::join!(
            sessions.unqueue(&scene.fid, blue),
            sessions.edit_waiting(
                &scene.fid,
                large,
                Content::text("And small"),
                Context::default()
            ),
        );
        let (taken, edited) = (taken.unwrap().is_some(), edited.unwrap());
        scene.world.events.until(|told| told.queues[&scene.fid].is_empty()).await;
        let sessions = scene.world.manager.sessions();
        scene.world.events.until(|_| sessions.busy().is_empty()).await;
        let said = scene.said().await;
        let count = |text: &str| said.iter().filter(|(_, said)| said == text).count();
        assert_eq!(count("In blue"), usize::from(!taken), "{said:?}");
        // An edit in the very moment in which it goes out may come too late, and says so.
        assert_eq!(count("And large") + count("And small"), 1, "{said:?}");
        assert!(edited || count("And large") == 1, "{said:?}");
    }
}

#[tokio::test]
async fn a_steering_message_is_still_there_after_the_program_ended() {
    let scene = Scene::new().await;
    scene.send("In blue", None).await;
    let Scene { server, world, fid, .. } = scene;
    let mut world = world.restart().await;
    let queue = world.open(&fid).await.queue;
    assert_eq!((queue.len(), queue[0].delivery), (1, Delivery::Steer));
    world.manager.sessions().send_waiting(&fid).await.unwrap();
    world.events.finished(&fid).await;
    let last = server.chats().pop().unwrap();
    assert_eq!(last.texts_of("user"), ["Build it", "In blue"]);
}
