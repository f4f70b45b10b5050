//! Stop, at any moment.

use std::time::Duration;

use chat_core::event::StopReason;
use chat_core::message::{Ending, Part};
use chat_core::settings::ConnectionKind;
use chat_testkit::server::{Gate, Script, Server};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use serde_json::json;

use super::world::{World, request};

#[tokio::test]
async fn a_stop_at_any_moment_keeps_a_beginning_and_the_next_turn_works() {
    let seed = std::env::var("NATTER_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| StdRng::from_os_rng().random::<u64>());
    println!("NATTER_TEST_SEED={seed}");
    let mut random = StdRng::seed_from_u64(seed);
    for turn in 0..12 {
        let server = Server::start();
        let kind = [ConnectionKind::Ollama, ConnectionKind::OpenAi][turn % 2];
        let mut script = Script::new().thinking("ein Gedanke ✓ ");
        for n in 0..random.random_range(0..30) {
            script = script.text(&format!("{n} 東京 "));
            if random.random_bool(0.2) {
                script = script.pause(Duration::from_millis(random.random_range(0..8)));
            }
        }
        if random.random_bool(0.3) {
            script = script.tool_call("c1", "none", json!({"a": [1, 2, 3]}));
        }
        server.push(script);
        let mut world = World::of_kind(&server, kind).await;
        let fid = world.ask("go").await.fid;
        // Nothing is waited for here: this is the moment that is tried.
        tokio::time::sleep(Duration::from_micros(random.random_range(0..40_000))).await;
        world.manager.sessions().stop(&fid);
        world.events.finished(&fid).await;

        let world_after = world.restart().await;
        let messages = world_after.manager.sessions().transcript(&fid).await.unwrap();
        let sent: String = server.chats().iter().map(|chat| chat.sent().text).collect();
        let tools = |part: &Part| matches!(part, Part::ToolResult(_));
        assert!(messages.iter().all(|message| message.ended.is_some()), "{messages:?}");
        let spoken = messages[1..].iter().filter(|m| !m.parts.iter().any(tools));
        let spoken: String = spoken.map(|message| message.plain_text()).collect();
        assert!(sent.starts_with(&spoken), "{spoken:?} is no beginning of {sent:?}");
        let mut world = world_after;
        let shown = world.open(&fid).await;
        assert!(!shown.session.in_use);
        let before = server.chats().len();
        assert_eq!(world.say_and_wait(&fid, "and now?").await.reason, StopReason::Complete);
        let next = &server.chats()[before];
        assert_eq!(next.texts_of("user").join("\n\n"), "go\n\nand now?");
    }
}

#[tokio::test]
async fn a_stop_between_two_requests_stops_the_one_that_begins() {
    let server = Server::start();
    let (first, never) = (Gate::new(), Gate::new());
    server.push(Script::new().gate(&first).text("first"));
    server.always(Script::new().gate_first(&never).text("never"));
    let mut world = World::new(&server).await;
    let fid = world.ask("one").await.fid;
    world.say(&fid, "two").await;
    first.open();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    // What waited is being stored now, or has begun.
    world.manager.sessions().stop(&fid);
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Stopped);
    let messages = world.manager.sessions().transcript(&fid).await.unwrap();
    assert_eq!(messages[2].plain_text(), "two", "what was said stays");
    assert_eq!(messages[3].ended, Some(Ending::Stopped));
}

#[tokio::test]
async fn a_stop_while_nothing_runs_stops_nothing_to_come() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    world.manager.sessions().stop(&fid);
    assert_eq!(world.say_and_wait(&fid, "two").await.reason, StopReason::Complete);
    world.manager.sessions().stop(&fid);
    world.manager.messages().retry(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
}

#[tokio::test]
async fn a_stop_while_the_server_is_still_unknown_ends_at_once() {
    // Something that accepts and never answers: what it speaks cannot be found out.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let server = Server::start();
    let mut world = World::new(&server).await;
    let unknown = move |settings: &mut chat_core::settings::Settings| {
        settings.connections[0].url = url;
        settings.connections[0].kind = None;
    };
    world.manager.settings().change(unknown).await.unwrap();
    let fid = world.manager.send(request(None, "go")).await.unwrap().fid;
    world.open(&fid).await;
    world.manager.sessions().stop(&fid);
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Stopped);
    assert!(world.manager.sessions().busy().is_empty());
}
