//! Where two things happen at once: a message is being stored while its chat is left, deleted, or
//! written about by another program.

use std::sync::Arc;

use chat_core::error::Kind;
use chat_core::event::StopReason;
use chat_core::manager::SessionChange;
use chat_core::message::{Role, Thinking};
use chat_core::settings::ConnectionKind;
use chat_testkit::server::{End, Gate, Script, Server};
use serde_json::json;

use super::world::{Mirror, World, model, request};

#[tokio::test]
async fn a_chat_that_is_left_while_its_message_is_stored_keeps_its_history() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    let manager = world.manager.clone();
    let mut sending = Box::pin(manager.send(request(Some(&fid), "two")));
    let sent = loop {
        tokio::select! {
            biased;
            sent = &mut sending => break sent,
            () = tokio::task::yield_now() => world.manager.sessions().close(&fid, &world.events.subscription),
        }
    };
    sent.unwrap();
    world.events.finished(&fid).await;
    assert_eq!(server.chats()[1].texts_of("user"), ["one", "two"]);
    assert_eq!(server.chats()[1].texts_of("assistant"), ["You said: one"]);
    assert_eq!(world.open(&fid).await.messages.len(), 4);
}

#[tokio::test]
async fn another_program_at_work_takes_nothing_from_ours() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let other = World::start(Arc::clone(&world.folder)).await;
    let theirs = other.manager.send(request(None, "theirs")).await.unwrap().fid;
    let (fid, _) = world.ask_and_wait("0").await;
    let busy = tokio::spawn({
        let (manager, theirs) = (other.manager.clone(), theirs.clone());
        async move {
            for n in 0_u64.. {
                manager.sessions().rename(&theirs, &format!("theirs {n}")).await.unwrap();
            }
        }
    });
    for turn in 1..12_usize {
        world.say_and_wait(&fid, &turn.to_string()).await;
        let chats = server.chats();
        let last = chats.iter().rfind(|chat| chat.texts_of("user")[0] == "0").unwrap();
        assert_eq!(last.texts_of("user").len(), turn + 1);
        assert_eq!(last.texts_of("assistant").len(), turn);
    }
    busy.abort();
    let _ = busy.await;
    other.manager.sessions().rename(&theirs, "the last").await.unwrap();
    let last =
        |mirror: &Mirror| mirror.rows.get(&theirs).is_some_and(|row| row.title == "the last");
    world.events.until(last).await;
    assert!(world.events.resets.is_empty(), "nobody else wrote this chat");
}

#[tokio::test]
async fn a_message_that_another_program_sent_waits_here_no_longer() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().gate(&gate).error("out of memory"));
    let mut world = World::new(&server).await;
    let fid = world.ask("one").await.fid;
    let waits = world.say(&fid, "two").await.message;
    gate.open();
    world.events.finished(&fid).await;
    assert_eq!(world.events.queues[&fid][0].id, waits);

    let mut other = World::start(Arc::clone(&world.folder)).await;
    assert_eq!(other.open(&fid).await.queue[0].id, waits);
    other.say(&fid, "three").await;
    other.events.until(|mirror| mirror.last_text(&fid) == "You said: three").await;
    other.events.until(|mirror| !mirror.rows[&fid].status.is_busy()).await;
    world.events.until(|mirror| mirror.queues[&fid].is_empty()).await;
    world.events.until(|mirror| !mirror.rows[&fid].in_use).await;
    world.open(&fid).await;
    assert_eq!(world.say_and_wait(&fid, "four").await.reason, StopReason::Complete);
    let last = server.chats().pop().unwrap();
    assert_eq!(last.texts_of("user"), ["one\n\ntwo", "three", "four"]);
}

#[tokio::test]
async fn a_chat_deleted_while_what_waits_goes_out_is_gone() {
    for _ in 0..10 {
        let server = Server::start();
        let (first, never) = (Gate::new(), Gate::new());
        server.push(Script::new().gate(&first).text("first"));
        server.always(Script::new().gate_first(&never).text("never"));
        let mut world = World::new(&server).await;
        let fid = world.ask("one").await.fid;
        world.say(&fid, "two").await;
        first.open();
        world.events.finished(&fid).await;
        world.manager.sessions().delete(&fid).await.unwrap();
        // No request goes on that nobody could stop any more.
        for index in 0..server.chats().len() {
            assert_ne!(server.wait_for_end(index).await.sent().end, End::Running);
        }
        assert!(world.manager.sessions().list().await.unwrap().is_empty());
        world.manager.shutdown().await;
        for event in world.events.subscription.take() {
            world.events.apply(event);
        }
        assert!(!world.events.rows.contains_key(&fid), "its row came back");
        assert!(world.events.notices.is_empty(), "{:?}", world.events.notices);
        // And what was said can be brought back.
        let world = world.restart().await;
        world.manager.sessions().restore(&fid).await.unwrap();
        assert_eq!(world.transcript(&fid).await[0].1, "one");
    }
}

#[tokio::test]
async fn a_chat_in_which_another_program_writes_is_not_deleted() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("half").gate(&gate).text(", whole"));
    let mut world = World::new(&server).await;
    let fid = world.ask("one").await.fid;
    world.events.shows(&fid, "half").await;
    let other = World::start(Arc::clone(&world.folder)).await;
    let refused = other.manager.sessions().delete(&fid).await.unwrap_err();
    assert_eq!(refused.kind, Kind::SessionInUse);
    gate.open();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    assert_eq!(world.transcript(&fid).await[1].1, "half, whole");
    // Once it is done, it can be.
    world.manager.shutdown().await;
    other.manager.sessions().delete(&fid).await.unwrap();
    assert!(other.manager.sessions().list().await.unwrap().is_empty());
}

#[tokio::test]
async fn whoever_opens_again_hears_nothing_twice() {
    let server = Server::start();
    let (half, end) = (Gate::new(), Gate::new());
    let script = Script::new().thinking("so ").text("first ").gate(&half);
    server.push(script.text("second ").gate(&end).text("third"));
    let mut world = World::new(&server).await;
    let mut second = Mirror::new(world.manager.subscribe());
    let fid = world.ask("go").await.fid;
    let snapshot = world.manager.sessions().open(&fid, 50, &second.subscription).await.unwrap();
    second.take_snapshot(&snapshot);
    // The second one takes nothing while the first sees it come.
    world.events.shows(&fid, "first ").await;
    half.open();
    world.events.shows(&fid, "first second ").await;
    let snapshot = world.manager.sessions().open(&fid, 50, &second.subscription).await.unwrap();
    second.take_snapshot(&snapshot);
    end.open();
    // The mirror checks that pieces meet and nothing comes that the snapshot holds.
    second.finished(&fid).await;
    assert_eq!(second.last_text(&fid), "first second third");
}

#[tokio::test]
async fn the_models_own_default_can_be_chosen_against_its_settings() {
    let server = Server::start();
    let mut world = World::new(&server).await;
    let set = |settings: &mut chat_core::settings::Settings| {
        settings.models.entry(model().to_string()).or_default().thinking = Thinking::High;
    };
    world.manager.settings().change(set).await.unwrap();
    let (fid, _) = world.ask_and_wait("one").await;
    assert_eq!(server.chats()[0].body["think"], "high", "as the settings say");
    let default = SessionChange { thinking: Some(Thinking::Default), ..SessionChange::default() };
    world.manager.sessions().change(&fid, default).await.unwrap();
    world.say_and_wait(&fid, "two").await;
    assert!(server.chats()[1].body.get("think").is_none(), "{:?}", server.chats()[1].body);
}

#[tokio::test]
async fn where_nothing_was_said_there_is_nothing_to_go_on_from() {
    let server = Server::start();
    server.push(Script::new().thinking("hm").cut());
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    world.manager.messages().resume(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    assert_eq!(server.chats()[1].texts_of("user"), ["one"], "it is asked again");
    assert_eq!(world.transcript(&fid).await.len(), 2);
}

#[tokio::test]
async fn a_larger_window_is_offered_where_the_input_was_too_long_and_helps() {
    let server = Server::start();
    server.push(Script::status(400, r#"{"error":"the input length exceeds the context length"}"#));
    let mut world = World::new(&server).await;
    let (fid, finished) = world.ask_and_wait("long").await;
    let error = finished.error.unwrap();
    let chat_core::error::Kind::InputTooLong { largest, .. } = error.kind else {
        panic!("{error:?}")
    };
    let options = chat_core::message::Options {
        context_window: Some(largest.expect("the server says how large it can be")),
        ..chat_core::message::Options::default()
    };
    let change = SessionChange { options: Some(options), ..SessionChange::default() };
    world.manager.sessions().change(&fid, change).await.unwrap();
    world.manager.messages().retry(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    let windows: Vec<_> =
        server.chats().iter().map(|chat| chat.body["options"]["num_ctx"].as_u64()).collect();
    assert!(windows[1] > windows[0] && windows[1] == largest.map(u64::from), "{windows:?}");
}

#[tokio::test]
async fn a_request_costs_what_all_its_rounds_cost() {
    let server = Server::start();
    server.push(Script::new().tool_call("c1", "none", json!({})).usage(10, 4));
    server.push(Script::new().text("done").usage(20, 3));
    let mut world = World::of_kind(&server, ConnectionKind::OpenAi).await;
    let (fid, finished) = world.ask_and_wait("go").await;
    let usage = finished.usage;
    assert_eq!((usage.prompt_tokens, usage.completion_tokens), (Some(30), Some(7)));
    let messages = world.manager.sessions().transcript(&fid).await.unwrap();
    let last = messages.iter().rfind(|m| m.role == Role::Assistant).unwrap();
    assert_eq!(last.usage.as_ref().unwrap().prompt_tokens, Some(20));
}

#[tokio::test]
async fn a_chat_opens_while_its_message_waits_for_servers_to_be_found() {
    // Something that accepts and never answers: the looking goes on.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let server = Server::start();
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    let gone = move |settings: &mut chat_core::settings::Settings| {
        settings.connections[0].name = "silent".into();
        settings.connections[0].url = url;
    };
    world.manager.settings().change(gone).await.unwrap();
    world.manager.connections().refresh();
    let (manager, request) = (world.manager.clone(), request(Some(&fid), "two"));
    let sending = tokio::spawn(async move { manager.send(request).await });
    // Often enough that the message comes in between.
    for _ in 0..20 {
        assert_eq!(world.open(&fid).await.messages.len(), 2);
        tokio::task::yield_now().await;
    }
    assert!(!sending.is_finished(), "it waits, and nobody else does");
    let refused = sending.await.unwrap().unwrap_err();
    assert_eq!(refused.kind.name(), "connection_missing");
}

#[tokio::test]
async fn what_was_said_twice_in_a_row_goes_out_as_one() {
    let server = Server::start();
    server.push(Script::status(500, r#"{"error":"out of memory"}"#));
    let mut world = World::new(&server).await;
    let (fid, _) = world.ask_and_wait("one").await;
    world.say_and_wait(&fid, "two").await;
    assert_eq!(server.chats()[1].texts_of("user"), ["one\n\ntwo"]);
    let said: Vec<_> = world.transcript(&fid).await.into_iter().map(|(_, text)| text).collect();
    assert_eq!(said, ["one", "", "two", "You said: one\n\ntwo"], "the transcript stays");
    // And so it goes out ever after.
    world.say_and_wait(&fid, "three").await;
    assert_eq!(server.chats()[2].texts_of("user"), ["one\n\ntwo", "three"]);
}
