//! A database that an earlier program wrote: opened with the engine of today it must give what it
//! gave then, and go on as it went on then.
//!
//! It was written by [`writes_the_database`], which is not to be run again: what is new gets a
//! database of its own.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_core::event::StopReason;
use chat_core::settings::{ConnectionKind, Folders};
use chat_testkit::recording::{self, indented};
use chat_testkit::server::{Script, Server};
use rusqlite::Connection;
use serde_json::{Value, json};

use super::talk::Talk;
use super::{talks, telling};
use crate::engine::world::{World, connection};

/// The database and its attachments.
fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/net")
}

#[tokio::test]
#[ignore = "writes the database, once"]
async fn writes_the_database() {
    let mut talk = Talk::new(ConnectionKind::Ollama).await;
    talks::code(&mut talk).await;
    talks::permissions(&mut talk).await;
    talks::failed(&mut talk).await;
    talks::everything(&mut talk).await;
    talk.end().await;
    let folders = Folders::below(talk.world.folder.path());
    std::fs::create_dir_all(fixture().join("attachments")).unwrap();
    let target = fixture().join("natter.db");
    let database = Connection::open(folders.database()).unwrap();
    database.execute("VACUUM INTO ?1", [target.to_str().unwrap()]).unwrap();
    copy_all(&folders.data.join("attachments"), &fixture().join("attachments"));
}

fn copy_all(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

/// An engine with a copy of the fixture, and a server for its chats.
async fn opened(server: &Server) -> World {
    let folder = Arc::new(tempfile::tempdir().unwrap());
    let folders = Folders::below(folder.path());
    std::fs::create_dir_all(&folders.data).unwrap();
    std::fs::copy(fixture().join("natter.db"), folders.database()).unwrap();
    copy_all(&fixture().join("attachments"), &folders.data.join("attachments"));
    let world = World::start(folder).await;
    let connection = connection(server, ConnectionKind::Ollama);
    let set = move |settings: &mut chat_core::settings::Settings| {
        settings.connections.push(connection);
        settings.chat.better_titles = false;
    };
    world.manager.settings().change(set).await.unwrap();
    world.manager.connections().settled().await;
    world
}

fn shown(value: &Value) -> String {
    indented(&value.to_string())
}

#[tokio::test]
async fn gives_what_it_gave() {
    let server = Server::start();
    let world = opened(&server).await;
    assert!(world.manager.start_notices().is_empty(), "{:?}", world.manager.start_notices());
    let rows = world.manager.sessions().list().await.unwrap();
    let list: Vec<_> = rows.iter().map(telling::row).collect();
    insta::assert_snapshot!("list", shown(&json!(list)));
    for (at, row) in rows.iter().enumerate() {
        let subscription = world.manager.subscribe();
        let snapshot = world.manager.sessions().open(&row.fid, 50, &subscription).await.unwrap();
        let mut told = telling::snapshot(&snapshot);
        told["branches"] = json!(world.manager.messages().branches(&row.fid).await.unwrap());
        let rules = world.manager.permissions().session_rules(&row.fid).await.unwrap();
        told["rules"] = json!(rules.iter().map(|it| it.rule.to_string()).collect::<Vec<_>>());
        let last = snapshot.messages.last().unwrap();
        let page = world.manager.sessions().earlier(&row.fid, last.id, 2).await.unwrap();
        told["two_before_the_last"] =
            json!(page.messages.iter().map(|message| message.id).collect::<Vec<_>>());
        insta::assert_snapshot!(format!("chat_{}", at + 1), shown(&told));
    }
    let mut found = Vec::new();
    for words in ["dot", "alph", "Änswer", "colour sea"] {
        let hits = world.manager.sessions().search(words, 20).await.unwrap();
        let hits = hits.hits.iter().map(|hit| {
            json!({ "chat": hit.session.fid, "message": hit.message, "excerpt": hit.excerpt })
        });
        found.push(json!({ "words": words, "found": hits.collect::<Vec<_>>() }));
    }
    insta::assert_snapshot!("found", shown(&json!(found)));
    world.manager.shutdown().await;
}

#[tokio::test]
async fn goes_on_as_it_went_on() {
    let server = Server::start();
    let mut world = opened(&server).await;
    let rows = world.manager.sessions().list().await.unwrap();
    // What waited goes out; other chats are asked for more.
    let mut sent = Vec::new();
    for row in rows.iter().filter(|row| row.project.is_none()) {
        server.push(Script::new().text("Fine."));
        if world.open(&row.fid).await.queue.is_empty() {
            world.say(&row.fid, "And now?").await;
        } else {
            world.manager.sessions().send_waiting(&row.fid).await.unwrap();
        }
        let finished = world.events.finished(&row.fid).await;
        assert_eq!(finished.reason, StopReason::Complete, "{finished:?}");
        sent.push(row.fid.clone());
    }
    assert_eq!(sent.len(), 3, "one with a message that waits, two without");
    world.manager.shutdown().await;
    insta::assert_snapshot!("requests", recording::requests(&server.requests()));
}
