//! A program that is killed in the middle of a reply: what it leaves in the database, what the next
//! start makes of that, and how the reply goes on.

use std::sync::Arc;
use std::time::{Duration, Instant};

use chat_core::event::StopReason;
use chat_core::manager::{Manager, StartOptions};
use chat_core::settings::{ConnectionKind, Folders};
use chat_testkit::recording;
use chat_testkit::server::{Gate, PATIENCE, Script};
use rusqlite::Connection;

use super::rows::rows;
use super::talk::Talk;
use crate::another::{self, Talking};
use crate::engine::world::{Mirror, World, request, timeouts};

#[tokio::test]
#[ignore = "run by another test, in a process of its own"]
async fn answers_until_it_is_killed() {
    let options = StartOptions {
        timeouts: timeouts(),
        ..StartOptions::new(Folders::below(another::folder()))
    };
    let manager = Manager::start(options).await.unwrap();
    let mut events = Mirror::new(manager.subscribe());
    let fid = manager.send(request(None, "A story, please")).await.unwrap().fid;
    events.take_snapshot(&manager.sessions().open(&fid, 50, &events.subscription).await.unwrap());
    loop {
        events.step().await;
    }
}

#[tokio::test]
async fn killed_in_the_middle_of_a_reply() {
    let talk = Talk::new(ConnectionKind::Ollama).await;
    let mut placeholders = talk.placeholders();
    talk.end().await;
    let Talk { server, world, .. } = talk;
    let folder = Arc::clone(&world.folder);
    drop(world);

    let gate = Gate::new();
    server.push(Script::new().thinking("Let me see.").text("The first half").gate(&gate));
    let program = Talking::start("net::killed::answers_until_it_is_killed", folder.path());
    gate.reached().await;
    let database = Connection::open(Folders::below(folder.path()).database()).unwrap();
    let began = Instant::now();
    // It is written within half a second; another program cannot be asked whether it was.
    while !is_journaled(&database, "The first half") {
        assert!(began.elapsed() < PATIENCE, "waited in vain for the journal");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    program.kill();
    drop(database);
    insta::assert_snapshot!("killed", rows(folder.path(), &mut placeholders));

    let mut world = World::start(Arc::clone(&folder)).await;
    world.manager.connections().settled().await;
    let fid = world.manager.sessions().list().await.unwrap()[0].fid.clone();
    world.open(&fid).await;
    insta::assert_snapshot!("started_again", rows(folder.path(), &mut placeholders));

    server.push(Script::new().text(" and the second."));
    world.manager.messages().resume(&fid).await.unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    world.manager.shutdown().await;
    insta::assert_snapshot!("gone_on", rows(folder.path(), &mut placeholders));
    let requests = placeholders.apply(&recording::requests(&server.requests()));
    insta::assert_snapshot!("requests", requests);
}

fn is_journaled(database: &Connection, text: &str) -> bool {
    let count = "SELECT count(*) FROM journal WHERE text = ?1";
    database.query_row(count, [text], |row| row.get::<_, u32>(0)).unwrap() > 0
}
