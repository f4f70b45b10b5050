//! Tests reports of several agents that wait for their chat.

use chat_core::event::{Event, SessionEvent, StopReason};
use chat_core::message::{Fid, Role};
use chat_testkit::server::{Gate, Script, Server};
use serde_json::json;

use super::world::{World, last_text, spawn};

fn in_background(name: &str, task: &str) -> serde_json::Value {
    json!({ "name": name, "task": task, "background": true })
}

/// A chat that has two agents look, and what they wait for.
fn two_look(server: &Server) -> Gate {
    let gate = Gate::new();
    for (task, text) in [("Look at a", "A is fine."), ("Look at b", "B is fine.")] {
        server.when(task, Script::new().gate_first(&gate).text(text));
    }
    let calls = spawn("c1", in_background("first", "Look at a"));
    server.push(calls.tool_call("c2", "spawn_agent", in_background("second", "Look at b")));
    gate
}

/// Waits until two reports wait in a chat.
async fn until_two_wait(world: &mut World, of: &Fid) {
    let opened = world.manager.sessions().open(of, 10, &world.events).await.unwrap();
    if opened.queue.len() == 2 {
        return;
    }
    world
        .until(|event| match event {
            Event::Session { fid, event: SessionEvent::QueueChanged { queue }, .. }
                if fid == of && queue.len() == 2 =>
            {
                Some(())
            }
            _ => None,
        })
        .await;
}

#[tokio::test]
async fn reports_that_wait_for_an_idle_chat_are_one_turn() {
    let server = Server::start();
    let gate = two_look(&server);
    server.push(Script::new().text("They are looked at."));
    let mut world = World::new(&server).await;
    world.limit(|agents| agents.wake = false).await;
    let fid = world.ask("Have both looked at").await;
    world.finished(&fid).await;
    gate.open();
    until_two_wait(&mut world, &fid).await;
    server.push(Script::new().text("Both are fine."));
    world.manager.sessions().send_waiting(&fid).await.unwrap();
    assert_eq!(world.finished(&fid).await, StopReason::Complete);

    let messages = world.messages(&fid).await;
    assert_eq!(last_text(&messages), "Both are fine.");
    // Each is a message of its own, and both go out in one request.
    let from: Vec<_> = messages.iter().map(|message| message.role).collect();
    assert_eq!(from[from.len() - 3..], [Role::User, Role::User, Role::Assistant]);
    let chats = server.chats();
    assert_eq!(chats.len(), 5);
    let told = chats[4].texts_of("user").concat();
    assert!(told.contains("A is fine.") && told.contains("B is fine."), "{told}");
    let opened = world.manager.sessions().open(&fid, 1, &world.events).await.unwrap();
    assert!(opened.queue.is_empty());
    // All of it is stored.
    let world = world.restart().await;
    assert_eq!(world.messages(&fid).await.len(), messages.len());
}

#[tokio::test]
async fn reports_that_come_during_a_reply_are_one_turn_after_it() {
    let server = Server::start();
    let gate = two_look(&server);
    let replies = Gate::new();
    server.push(Script::new().text("They are ").gate(&replies).text("looked at."));
    server.push(Script::new().text("Both are fine."));
    let mut world = World::new(&server).await;
    let fid = world.ask("Have both looked at").await;
    // No more results of tools follow, after which they could be told.
    replies.reached().await;
    gate.open();
    until_two_wait(&mut world, &fid).await;
    replies.open();
    // The reply, and what it goes on with by itself.
    for _ in 0..2 {
        assert_eq!(world.finished(&fid).await, StopReason::Complete);
    }
    assert_eq!(last_text(&world.messages(&fid).await), "Both are fine.");
    assert_eq!(server.chats().len(), 5);
}
