//! Messages that wait until their session is free.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::sync::Arc;

use chat_core::event::StopReason;
use chat_core::message::{ChatRequest, Content, Context, Fid, Mention, MessageId, OpenFile, Role};
use chat_testkit::server::{Gate, Script, Server};

use super::world::World;

/// A world whose first reply has begun, and does not end before its gate is opened.
async fn busy() -> (Server, Gate, World, Fid) {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("first").gate(&gate));
    let mut world = World::new(&server).await;
    let fid = world.ask("one").await.fid;
    world.events.shows(&fid, "first").await;
    (server, gate, world, fid)
}

#[tokio::test]
async fn a_message_sent_while_busy_waits_and_goes_out_when_the_reply_is_done() {
    let (server, gate, mut world, fid) = busy().await;
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
async fn the_program_does_not_seem_done_between_a_reply_and_the_next_message() {
    let (server, gate, mut world, fid) = busy().await;
    let second = Gate::new();
    server.push(Script::new().text("second").gate(&second));
    world.say(&fid, "two").await;
    gate.open();
    world.events.finished(&fid).await;
    let sessions = world.manager.sessions();
    // At every event until the next reply has begun.
    world
        .events
        .until(|mirror| {
            assert_eq!(sessions.busy(), std::slice::from_ref(&fid));
            mirror.last_text(&fid) == "second"
        })
        .await;
    second.open();
    world.events.finished(&fid).await;
    assert!(world.manager.sessions().busy().is_empty());
    assert_eq!(server.chats().len(), 2);
}

#[tokio::test]
async fn a_waiting_message_can_be_taken_back() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("first").gate(&gate));
    let mut world = World::new(&server).await;
    let fid = world.ask("one").await.fid;
    let waiting = world.say(&fid, "never mind").await;
    let taken = world.manager.sessions().unqueue(&fid, waiting.message).await.unwrap().unwrap();
    assert_eq!(taken.content.text, "never mind");
    assert!(world.manager.sessions().unqueue(&fid, waiting.message).await.unwrap().is_none());
    gate.open();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    assert_eq!(world.transcript(&fid).await.len(), 2);
}

#[tokio::test]
async fn a_message_that_was_taken_back_can_wait_again_at_its_place() {
    let (server, gate, mut world, fid) = busy().await;
    let two = world.say(&fid, "two").await.message;
    let three = world.say(&fid, "three").await.message;
    let texts = |world: &World| -> Vec<String> {
        world.events.queues[&fid].iter().map(|queued| queued.content.text.clone()).collect()
    };
    let sessions = world.manager.sessions();
    world.events.until(|mirror| mirror.queues[&fid].len() == 2).await;
    let taken = sessions.unqueue(&fid, two).await.unwrap().unwrap();
    world.events.until(|mirror| mirror.queues[&fid].len() == 1).await;
    sessions.requeue(&fid, taken.clone(), Some(three)).await.unwrap();
    world.events.until(|mirror| mirror.queues[&fid].len() == 2).await;
    assert_eq!(texts(&world), ["two", "three"]);
    // Twice is once, and without the other it is the last.
    sessions.requeue(&fid, taken, None).await.unwrap();
    let [first, second] = [two, three].map(|id| sessions.unqueue(&fid, id));
    let (first, second) = (first.await.unwrap().unwrap(), second.await.unwrap().unwrap());
    assert!(sessions.unqueue(&fid, two).await.unwrap().is_none());
    sessions.requeue(&fid, second, None).await.unwrap();
    sessions.requeue(&fid, first, Some(MessageId::new())).await.unwrap();
    gate.open();
    world.events.until(|mirror| mirror.last_text(&fid) == "You said: two").await;
    assert_eq!(server.chats()[2].texts_of("user"), ["one", "three", "two"]);
}

#[tokio::test]
async fn a_message_that_is_put_back_after_the_reply_waits_until_it_is_sent() {
    let (server, gate, mut world, fid) = busy().await;
    let two = world.say(&fid, "two").await.message;
    let taken = world.manager.sessions().unqueue(&fid, two).await.unwrap().unwrap();
    gate.open();
    world.events.finished(&fid).await;
    world.manager.sessions().requeue(&fid, taken, None).await.unwrap();
    assert_eq!(world.open(&fid).await.queue[0].id, two);
    assert_eq!(server.chats().len(), 1, "nobody sent it");
    world.manager.sessions().send_waiting(&fid).await.unwrap();
    world.events.until(|mirror| mirror.last_text(&fid) == "You said: two").await;
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

    world.manager.messages().retry(&fid).await.unwrap();
    world.events.finished(&fid).await;
    world.events.finished(&fid).await;
    assert_eq!(server.chats()[2].texts_of("user"), ["one", "two"]);
}

#[tokio::test]
async fn a_message_that_waits_is_still_there_after_the_program_ended() {
    let (server, _gate, world, fid) = busy().await;
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

#[tokio::test]
async fn what_a_waiting_message_points_at_goes_with_it_after_the_program_ended() {
    let (server, _gate, world, fid) = busy().await;
    let page = Mention::Page { url: "https://example.org/".to_owned(), text: "A page.".to_owned() };
    let context = Context { mentions: vec![page], ..Context::default() };
    let request = ChatRequest {
        session: Some(fid.clone()),
        content: Content::text("two"),
        context: context.clone(),
        ..ChatRequest::default()
    };
    world.manager.send(request).await.unwrap();
    let mut world = world.restart().await;
    assert_eq!(world.open(&fid).await.queue[0].context, context);
    server.push(Script::new().text("second"));
    world.manager.sessions().send_waiting(&fid).await.unwrap();
    world.events.finished(&fid).await;
    let sent = server.chats()[1].texts_of("user");
    assert!(sent[1].contains("A page.") && sent[1].contains("two"), "{sent:?}");
}

#[tokio::test]
async fn what_cannot_be_kept_of_a_waiting_message_leaves_its_words() {
    let (_server, _gate, world, fid) = busy().await;
    let path = PathBuf::from(OsStr::from_bytes(b"/p/\xff.rs"));
    let open = OpenFile { path: path.clone(), ..OpenFile::default() };
    let page = Mention::Page { url: "https://example.org/".to_owned(), text: "A page.".to_owned() };
    let mentions = vec![Mention::Folder { path }, page.clone()];
    let request = ChatRequest {
        session: Some(fid.clone()),
        content: Content::text("two"),
        context: Context { open_files: vec![open], mentions },
        ..ChatRequest::default()
    };
    world.manager.send(request).await.unwrap();
    let mut world = world.restart().await;
    let waiting = &world.open(&fid).await.queue[0];
    assert_eq!(waiting.content.text, "two");
    assert_eq!(waiting.context, Context { mentions: vec![page], ..Context::default() });
}

#[tokio::test]
async fn what_waits_when_the_person_stops_waits_until_it_is_sent() {
    let server = Server::start();
    let (mut world, fid, _gate) = World::in_mid_reply(&server).await;
    world.say(&fid, "two").await;
    world.manager.sessions().stop(&fid);
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Stopped);
    let snapshot = world.open(&fid).await;
    assert_eq!(snapshot.queue[0].content.text, "two", "it is still to be seen");
    assert!(!snapshot.session.status.is_busy());
    // Also after the program was ended and begun again.
    let mut world = world.restart().await;
    assert_eq!(world.open(&fid).await.queue.len(), 1);
    assert_eq!(server.chats().len(), 1, "stop means stop");

    world.manager.sessions().send_waiting(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    assert_eq!(server.chats()[1].texts_of("user"), ["one", "two"]);
    assert!(world.events.queues[&fid].is_empty());
    world.manager.sessions().send_waiting(&fid).await.unwrap();
    assert_eq!(server.chats().len(), 2, "nothing waits");
}

/// Two programs; half of a reply has come to the first.
async fn one_answers_one_looks_on(server: &Server, gate: &Gate) -> (World, World, Fid) {
    server.push(Script::new().text("half").gate(gate));
    let mut writer = World::new(server).await;
    let reader = World::start(Arc::clone(&writer.folder)).await;
    let fid = writer.ask("one").await.fid;
    writer.events.shows(&fid, "half").await;
    (writer, reader, fid)
}

#[tokio::test]
async fn what_one_program_takes_back_waits_in_no_other() {
    let server = Server::start();
    let gate = Gate::new();
    let (mut writer, mut reader, fid) = one_answers_one_looks_on(&server, &gate).await;
    let two = writer.say(&fid, "two").await.message;
    let three = writer.say(&fid, "three").await.message;
    reader.events.until(|mirror| mirror.rows.contains_key(&fid)).await;
    assert_eq!(reader.open(&fid).await.queue.len(), 2);
    // The one that looks on takes one back, the one at work hears of it, and the other way round.
    assert!(reader.manager.sessions().unqueue(&fid, two).await.unwrap().is_some());
    writer.events.until(|mirror| mirror.queues[&fid].len() == 1).await;
    assert!(writer.manager.sessions().unqueue(&fid, three).await.unwrap().is_some());
    reader.events.until(|mirror| mirror.queues[&fid].is_empty()).await;
    gate.open();
    writer.events.finished(&fid).await;
    // Now nothing is at work, and no row changes with what waits.
    writer.manager.sessions().stop(&fid);
    assert_eq!(server.chats().len(), 1);
}

#[tokio::test]
async fn what_one_program_takes_back_of_a_chat_at_rest_waits_in_no_other() {
    let server = Server::start();
    let gate = Gate::new();
    let (mut writer, mut reader, fid) = one_answers_one_looks_on(&server, &gate).await;
    let two = writer.say(&fid, "two").await.message;
    writer.manager.sessions().stop(&fid);
    writer.events.finished(&fid).await;
    reader.events.until(|mirror| mirror.rows.get(&fid).is_some_and(|row| !row.in_use)).await;
    assert_eq!(reader.open(&fid).await.queue.len(), 1);
    assert!(writer.manager.sessions().unqueue(&fid, two).await.unwrap().is_some());
    reader.events.until(|mirror| mirror.queues[&fid].is_empty()).await;
}

/// Two programs that show a chat at rest, in which a message waits.
async fn two_with_one_message(server: &Server) -> (World, World, Fid, MessageId) {
    let gate = Gate::new();
    let (mut one, mut other, fid) = one_answers_one_looks_on(server, &gate).await;
    let waits = one.say(&fid, "two").await.message;
    one.manager.sessions().stop(&fid);
    one.events.finished(&fid).await;
    other.events.until(|mirror| mirror.rows.get(&fid).is_some_and(|row| !row.in_use)).await;
    assert_eq!(other.open(&fid).await.queue.len(), 1);
    (one, other, fid, waits)
}

#[tokio::test]
async fn what_two_programs_take_back_at_once_is_given_to_one() {
    let server = Server::start();
    let (mut one, mut other, fid, waits) = two_with_one_message(&server).await;
    let (ours, others) = (one.manager.sessions(), other.manager.sessions());
    let (mine, theirs) = tokio::join!(ours.unqueue(&fid, waits), others.unqueue(&fid, waits));
    let given = [mine.unwrap(), theirs.unwrap()].into_iter().flatten().count();
    assert_eq!(given, 1);
    one.events.until(|mirror| mirror.queues[&fid].is_empty()).await;
    other.events.until(|mirror| mirror.queues[&fid].is_empty()).await;
}

#[tokio::test]
async fn what_one_program_takes_back_while_the_other_sends_it_is_taken_back_or_sent() {
    for _ in 0..5 {
        let server = Server::start();
        let (mut one, other, fid, waits) = two_with_one_message(&server).await;
        let (ours, others) = (one.manager.sessions(), other.manager.sessions());
        let (sent, taken) = tokio::join!(ours.send_waiting(&fid), others.unqueue(&fid, waits));
        sent.unwrap();
        let taken = taken.unwrap().is_some();
        one.events.until(|mirror| mirror.queues[&fid].is_empty()).await;
        if !taken {
            one.events.finished(&fid).await;
        }
        let said = one.transcript(&fid).await.iter().any(|(_, text)| text == "two");
        assert!(said != taken, "said: {said}, taken back: {taken}");
        assert!(one.manager.sessions().busy().is_empty());
        assert!(one.events.notices.is_empty(), "{:?}", one.events.notices);
    }
}
