//! A full disk through the whole engine: a real one, small and in memory.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use chat_core::client::Timeouts;
use chat_core::error::Kind;
use chat_core::event::StopReason;
use chat_core::manager::{Manager, StartOptions};
use chat_core::message::{Ending, Role};
use chat_core::settings::{ConnectionKind, Folders};
use chat_testkit::server::{Gate, Script, Server, text};

use super::world::{Mirror, connection, request, texts};
use crate::another;

#[test]
fn a_full_disk_refuses_what_is_new_and_loses_nothing_that_came() {
    let folder = tempfile::tempdir().unwrap();
    another::run_on_small_disk("engine::full_disk::talks_until_it_is_full", 10, folder.path());
}

#[test]
fn what_tools_gave_on_a_full_disk_is_kept_and_told() {
    let folder = tempfile::tempdir().unwrap();
    another::run_on_small_disk("engine::full_disk::calls_a_tool_when_it_is_full", 6, folder.path());
}

#[tokio::test]
#[ignore = "run by another test, on a small disk"]
async fn calls_a_tool_when_it_is_full() {
    let folder = another::folder();
    let server = Server::start();
    let (manager, mut events) = start_with(&folder, &server).await;
    let gate = Gate::new();
    // What it is told repeats the name, and is too large for what is left in the database's files.
    let name = "none".repeat(300_000);
    let script = Script::new().text("I look. ").gate(&gate);
    server.push(script.tool_call("c1", &name, serde_json::json!({})));
    let fid = manager.send(request(None, "one")).await.unwrap().fid;
    let snapshot = manager.sessions().open(&fid, 50, &events.subscription).await.unwrap();
    events.take_snapshot(&snapshot);
    events.shows(&fid, "I look. ").await;
    let filler = folder.join("filler");
    fill(&filler);
    gate.open();
    let finished = events.finished(&fid).await;
    assert_eq!(finished.reason, StopReason::Error);
    assert_eq!(finished.error.unwrap().kind, Kind::DiskFull, "the person hears of it");
    let roles = |messages: &[std::sync::Arc<chat_core::message::Message>]| -> Vec<Role> {
        messages.iter().map(|message| message.role).collect()
    };
    let kept = [Role::User, Role::Assistant, Role::Tool];
    manager.sessions().close(&fid, &events.subscription);
    assert_eq!(roles(&manager.sessions().transcript(&fid).await.unwrap()), kept);

    std::fs::remove_file(&filler).unwrap();
    let reader = chat_core::store::Store::open(&Folders::below(&folder)).unwrap().store;
    let mut changes = reader.changes();
    while roles(&reader.page(&fid, None, 10).await.unwrap().messages) != kept
        || reader.session(&fid).await.unwrap().in_use
    {
        let told = tokio::time::timeout(chat_testkit::server::PATIENCE, changes.next()).await;
        told.expect("it is stored");
    }
    // It goes on from there.
    manager.messages().resume(&fid).await.unwrap();
    assert_eq!(events.finished(&fid).await.reason, StopReason::Complete);
    let next = server.chats()[1].body["messages"].clone();
    let sent: Vec<_> = next.as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(sent, ["user", "assistant", "tool"]);
    manager.shutdown().await;
}

/// Takes all that is left.
fn fill(filler: &Path) {
    let mut file = File::options().append(true).create(true).open(filler).unwrap();
    while file.write_all(&[0; 4096]).is_ok() {}
    while file.write_all(&[0; 1]).is_ok() {}
}

/// An engine that knows this server.
async fn start_with(folder: &Path, server: &Server) -> (Manager, Mirror) {
    let connection = connection(server, ConnectionKind::Ollama);
    let manager = start(folder).await;
    let add = move |settings: &mut chat_core::settings::Settings| {
        settings.connections.push(connection);
        // A reply that fills the disk fills each window.
        settings.chat.compact_at = 0;
    };
    manager.settings().change(add).await.unwrap();
    let events = Mirror::new(manager.subscribe());
    (manager, events)
}

async fn start(folder: &Path) -> Manager {
    let folders = Folders::below(folder);
    let timeouts = Timeouts::default();
    let options = StartOptions { timeouts, ..StartOptions::new(folders) };
    Manager::start(options).await.unwrap()
}

#[tokio::test]
#[ignore = "run by another test, on a small disk"]
async fn talks_until_it_is_full() {
    let folder = another::folder();
    let server = Server::start();
    let (manager, mut events) = start_with(&folder, &server).await;
    let (begun, gate) = (Gate::new(), Gate::new());
    let long = text::words(10_000).concat().repeat(30);
    server.push(Script::new().text("begins, ").gate(&begun).text(&long).gate(&gate).text("ends"));
    let fid = manager.send(request(None, "one")).await.unwrap().fid;
    let snapshot = manager.sessions().open(&fid, 50, &events.subscription).await.unwrap();
    events.take_snapshot(&snapshot);
    events.shows(&fid, "begins, ").await;

    // Somebody else fills the disk while the reply streams.
    let filler = folder.join("filler");
    fill(&filler);
    begun.open();
    events.until(|mirror| mirror.notices.iter().any(|n| n.kind == Kind::DiskFull)).await;
    fill(&filler);
    gate.open();
    let whole = format!("begins, {long}ends");
    assert_eq!(events.finished(&fid).await.reason, StopReason::Complete);
    assert_eq!(events.last_text(&fid), whole);

    // What cannot be stored is refused, in a new chat and in this one.
    let large = "large ".repeat(1_000_000);
    for session in [None, Some(&fid)] {
        let refused = manager.send(request(session, &large)).await.unwrap_err();
        assert_eq!(refused.kind, Kind::DiskFull);
    }
    assert_eq!(manager.sessions().list().await.unwrap().len(), 1);
    assert_eq!(server.chats().len(), 1);

    // The reply is there, also for somebody who leaves and comes again.
    manager.sessions().close(&fid, &events.subscription);
    let messages = manager.sessions().transcript(&fid).await.unwrap();
    assert_eq!(texts(&messages)[1], (Role::Assistant, whole.clone()));
    assert_eq!(messages[1].ended, Some(Ending::Complete));
    assert_eq!(messages.len(), 2, "what was refused is not there");

    // There is room again: it is stored without anybody's doing, and the chat is free.
    std::fs::remove_file(&filler).unwrap();
    let reader = chat_core::store::Store::open(&Folders::below(&folder)).unwrap().store;
    let mut changes = reader.changes();
    loop {
        let page = reader.page(&fid, None, 10).await.unwrap();
        let stored = page.messages[1].ended == Some(Ending::Complete);
        if stored && !reader.session(&fid).await.unwrap().in_use {
            assert_eq!(page.messages[1].plain_text(), whole);
            break;
        }
        let told = tokio::time::timeout(chat_testkit::server::PATIENCE, changes.next()).await;
        told.expect("it is stored");
    }
    let snapshot = manager.sessions().open(&fid, 50, &events.subscription).await.unwrap();
    events.take_snapshot(&snapshot);
    manager.send(request(Some(&fid), "two")).await.unwrap();
    assert_eq!(events.finished(&fid).await.reason, StopReason::Complete);
    assert_eq!(server.chats()[1].texts_of("assistant"), [whole]);
    manager.shutdown().await;
}
