//! Two programs on one set of folders, as window and terminal are.

use std::sync::Arc;

use chat_core::error::Kind;
use chat_core::event::SessionPlaceholder;
use chat_core::message::{Answer, Role};
use chat_core::permission::Mode;
use chat_testkit::server::{Gate, Script, Server};

use super::permissions::{Scene, touches};
use super::world::{World, request};

#[tokio::test]
async fn a_session_being_written_is_read_live_by_others_and_written_by_none() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("the first half").gate(&gate).text(", the second"));
    let mut writer = World::new(&server).await;
    let mut reader = World::start(Arc::clone(&writer.folder)).await;
    let fid = writer.ask("go").await.fid;
    writer.events.shows(&fid, "the first half").await;

    reader.events.until(|mirror| mirror.rows.contains_key(&fid)).await;
    // It follows the journal.
    loop {
        let snapshot = reader.open(&fid).await;
        assert!(snapshot.session.in_use);
        if snapshot.messages.last().unwrap().plain_text() == "the first half" {
            break;
        }
        let seen = reader.events.resets.len();
        reader.events.until(|mirror| mirror.resets.len() > seen).await;
    }
    let refused = reader.manager.send(request(Some(&fid), "mine")).await.unwrap_err();
    assert_eq!(refused.kind, Kind::SessionInUse);

    gate.open();
    writer.events.finished(&fid).await;
    reader.events.until(|mirror| !mirror.rows[&fid].in_use).await;
    // Now it can go on there, with all that was said.
    reader.open(&fid).await;
    reader.say_and_wait(&fid, "mine").await;
    let expected = "the first half, the second";
    assert_eq!(server.chats()[1].texts_of("assistant"), [expected]);
    writer.events.until(|mirror| mirror.resets.contains(&fid)).await;
    writer.open(&fid).await;
    assert_eq!(writer.events.texts(&fid)[2], (Role::User, "mine".to_owned()));
}

#[tokio::test]
async fn what_waits_for_the_user_in_one_program_is_known_to_the_other() {
    let server = Server::start();
    server.push(touches("c1", "new.txt"));
    server.push(Script::new().text("Done."));
    let mut scene = Scene::new(&server).await;
    let mut other = World::start(Arc::clone(&scene.world.folder)).await;
    let fid = scene.ask(Mode::Ask).await;
    scene.waits(&fid, 1).await;
    let waits = |row: &SessionPlaceholder| row.in_use && row.asks;
    other.events.until(|mirror| mirror.rows.get(&fid).is_some_and(waits)).await;
    scene.answer(&fid, Answer::Allow(None)).await;
    scene.world.events.finished(&fid).await;
    other.events.until(|mirror| !mirror.rows[&fid].in_use && !mirror.rows[&fid].asks).await;
}

#[tokio::test]
async fn settings_changed_by_one_program_reach_the_other() {
    let server = Server::start();
    let one = World::new(&server).await;
    let mut other = World::start(Arc::clone(&one.folder)).await;
    let renamed = "renamed";
    one.manager
        .settings()
        .change(|settings| settings.connections[0].name = renamed.into())
        .await
        .unwrap();
    while other.manager.settings().current().connections[0].name != renamed {
        other.events.step().await;
    }
}

#[tokio::test]
async fn what_is_pinned_archived_or_restored_in_one_program_is_seen_in_the_other() {
    let server = Server::start();
    let mut one = World::new(&server).await;
    let mut other = World::start(Arc::clone(&one.folder)).await;
    let (fid, _) = one.ask_and_wait("hi").await;
    other.events.until(|mirror| mirror.rows.contains_key(&fid)).await;
    let sessions = one.manager.sessions();
    sessions.set_pinned(&fid, true).await.unwrap();
    other.events.until(|mirror| mirror.rows[&fid].pinned.is_some()).await;
    sessions.set_archived(&fid, true).await.unwrap();
    other.events.until(|mirror| mirror.rows[&fid].archived.is_some()).await;
    sessions.delete(&fid).await.unwrap();
    other.events.until(|mirror| !mirror.rows.contains_key(&fid)).await;
    assert_eq!(other.manager.sessions().trash().await.unwrap()[0].meta.fid, fid);
    other.manager.sessions().restore(&fid).await.unwrap();
    one.events.until(|mirror| mirror.rows.contains_key(&fid)).await;
}
