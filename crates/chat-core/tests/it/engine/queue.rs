//! Messages that wait until their session is free.

use chat_core::event::StopReason;
use chat_core::message::Role;
use chat_testkit::server::{Gate, Script, Server};

use super::world::World;

#[tokio::test]
async fn a_message_sent_while_busy_waits_and_goes_out_when_the_reply_is_done() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("first").gate(&gate));
    let mut world = World::new(&server).await;
    let fid = world.ask("one").await.fid;
    world.events.shows(&fid, "first").await;
    let two = world.say(&fid, "two").await;
    let three = world.say(&fid, "three").await;
    assert!(two.queued && three.queued);
    world.events.until(|mirror| mirror.queues[&fid].len() == 2).await;
    assert_eq!(server.chats().len(), 1, "it waits");

    gate.open();
    world.events.finished(&fid).await;
    world.events.until(|mirror| mirror.last_text(&fid) == "You said: three").await;
    // One message a turn, each with the answer to the one before it.
    let third = &server.wait_for_chats(3).await[2];
    assert_eq!(third.texts_of("user"), ["one", "two", "three"]);
    assert_eq!(third.texts_of("assistant"), ["first", "You said: two"]);
    assert!(world.events.queues[&fid].is_empty());
    let ids: Vec<_> = world.events.transcripts[&fid]
        .iter()
        .filter(|message| message.role == Role::User)
        .map(|message| message.id)
        .collect();
    assert_eq!(ids[1..], [two.message, three.message]);
}

#[tokio::test]
async fn a_waiting_message_can_be_taken_back() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("first").gate(&gate));
    let mut world = World::new(&server).await;
    let fid = world.ask("one").await.fid;
    let waiting = world.say(&fid, "never mind").await;
    let taken = world.manager.unqueue(&fid, waiting.message).await.unwrap().unwrap();
    assert_eq!(taken.content.text, "never mind");
    assert!(world.manager.unqueue(&fid, waiting.message).await.unwrap().is_none());
    gate.open();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    assert_eq!(world.transcript(&fid).await.len(), 2);
}

#[tokio::test]
async fn what_waits_behind_a_failure_waits_on_and_goes_with_the_next() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().gate(&gate).error("out of memory"));
    let mut world = World::new(&server).await;
    let fid = world.ask("one").await.fid;
    world.say(&fid, "two").await;
    gate.open();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Error);
    assert_eq!(world.events.queues[&fid].len(), 1);
    assert_eq!(server.chats().len(), 1);

    world.manager.retry(&fid).await.unwrap();
    world.events.finished(&fid).await;
    world.events.finished(&fid).await;
    assert_eq!(server.chats()[2].texts_of("user"), ["one", "two"]);
}

#[tokio::test]
async fn a_message_that_waits_is_still_there_after_the_program_ended() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("first").gate(&gate));
    let mut world = World::new(&server).await;
    let fid = world.ask("one").await.fid;
    world.events.shows(&fid, "first").await;
    world.say(&fid, "two").await;
    let mut world = world.restart().await;
    let snapshot = world.open(&fid).await;
    let waiting: Vec<_> =
        snapshot.queue.iter().map(|queued| queued.content.text.as_str()).collect();
    assert_eq!(waiting, ["two"]);
    // It goes out with what is said next, before it.
    world.say(&fid, "three").await;
    world.events.until(|mirror| mirror.last_text(&fid) == "You said: three").await;
    assert_eq!(server.chats()[2].texts_of("user"), ["one", "two", "three"]);
}
