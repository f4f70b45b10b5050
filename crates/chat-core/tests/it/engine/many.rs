//! Many sessions at once, and a front end that goes from one to the other.

use std::collections::HashMap;
use std::sync::Arc;

use chat_core::message::{Ending, Fid};
use chat_core::settings::{Connection, Settings};
use chat_testkit::server::{Gate, Script, Server};

use super::world::{World, request};

fn pieces(session: usize) -> Vec<String> {
    (0..20).map(|n| format!("{session}:{n} ✓ ")).collect()
}

#[tokio::test]
async fn a_hundred_sessions_at_once_keep_each_its_own() {
    const COUNT: usize = 100;
    /// More are not sent at the same time.
    const MOST: usize = Connection::MOST_REQUESTS as usize;
    let server = Server::start();
    let gate = Gate::new();
    for i in 0..COUNT {
        server.when(&format!("<{i}>"), Script::new().gate(&gate).texts(pieces(i)));
    }
    let mut world = World::new(&server).await;
    let most = |it: &mut Settings| it.connections[0].requests = Some(Connection::MOST_REQUESTS);
    world.manager.settings().change(most).await.unwrap();
    let sends = (0..COUNT).map(|i| world.manager.send(request(None, &format!("<{i}>"))));
    let sent = futures_util::future::join_all(sends).await;
    let fids: Vec<Fid> = sent.into_iter().map(|sent| sent.unwrap().fid).collect();
    server.wait_for_chats(MOST).await;
    assert_eq!(world.manager.sessions().busy().len(), COUNT);
    gate.open();
    for fid in &fids {
        world.events.finished(fid).await;
    }
    for (i, fid) in fids.iter().enumerate() {
        let messages = world.manager.sessions().transcript(fid).await.unwrap();
        assert_eq!(messages[0].plain_text(), format!("<{i}>"));
        assert_eq!(messages[1].plain_text(), pieces(i).concat());
        assert_eq!(messages[1].ended, Some(Ending::Complete));
    }
    assert!(world.manager.sessions().busy().is_empty());
}

#[tokio::test]
async fn ten_switches_between_three_that_stream_lose_nothing() {
    let server = Server::start();
    let names = ["alpha", "beta", "gamma"];
    let end = Gate::new();
    for name in names {
        let pieces: Arc<[String]> = (0..400).map(|n| format!("{name}{n} ")).collect();
        let script = Script::new().thinking("so ").paced(pieces, 1_000.0);
        server.when(name, script.gate(&end).text("end"));
    }
    let mut world = World::new(&server).await;
    let mut fids = HashMap::new();
    for name in names {
        fids.insert(name, world.manager.send(request(None, name)).await.unwrap().fid);
    }
    for switch in 0..10 {
        let fid = &fids[names[switch % 3]];
        world.open(fid).await;
        // Something of it comes while it is shown, or it has come to its gate.
        let before = world.events.last_text(fid);
        let all = |text: &str| text.ends_with("399 ");
        if !all(&before) {
            world.events.until(|mirror| mirror.last_text(fid) != before).await;
        }
        // Each second one goes on being watched while others are shown.
        if switch % 2 == 0 {
            world.manager.sessions().close(fid, &world.events.subscription);
        }
    }
    for fid in fids.values() {
        world.open(fid).await;
    }
    end.open();
    for fid in fids.values() {
        world.events.finished(fid).await;
    }
    for (name, fid) in &fids {
        let chats = server.chats();
        let chat = chats.iter().find(|chat| chat.texts_of("user") == [*name]).unwrap();
        let told = world.events.texts(fid);
        assert_eq!(told[1].1, chat.sent().text);
        assert_eq!(told, world.transcript(fid).await);
    }
}
