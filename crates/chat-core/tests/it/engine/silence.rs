//! Servers that neither answer nor refuse.

use std::sync::Arc;

use chat_core::event::{Health, StopReason};
use chat_core::message::Fid;
use chat_core::settings::{Connection, ConnectionKind, Folders, KeySource};
use chat_testkit::server::{Gate, Script, Server};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Mutex, watch};

use super::world::{World, connection, patient_questions, request};

/// Takes connections and says nothing, until it is told to hang up.
pub struct Silent {
    url: String,
    taken: watch::Receiver<usize>,
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    streams: Vec<TcpStream>,
    hangs_up: bool,
}

impl Silent {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let held = Arc::<Mutex<Held>>::default();
        let (count, taken) = watch::channel(0);
        let holding = Arc::clone(&held);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut held = holding.lock().await;
                if !held.hangs_up {
                    held.streams.push(stream);
                }
                count.send_modify(|count| *count += 1);
            }
        });
        Self { url, taken, held }
    }

    /// A connection to it.
    pub fn connection(&self, name: &str) -> Connection {
        let kind = Some(ConnectionKind::OpenAi);
        Connection {
            name: name.into(),
            kind,
            url: self.url.clone(),
            key: KeySource::None,
            models: Vec::new(),
            requests: None,
            ..Connection::default()
        }
    }

    /// Waits until so many connections have come.
    pub async fn taken(&self, wanted: usize) {
        self.taken.clone().wait_for(|taken| *taken >= wanted).await.unwrap();
    }

    pub fn count(&self) -> usize {
        *self.taken.borrow()
    }

    /// Ends what has come, and, as long as it is told so, whatever comes.
    pub async fn hang_up(&self, from_now_on: bool) {
        let mut held = self.held.lock().await;
        held.streams.clear();
        held.hangs_up = from_now_on;
    }
}

fn health(world: &World, name: &str) -> Health {
    let states = world.manager.connections().list();
    states.into_iter().find(|state| state.connection.name == name).unwrap().health
}

/// An engine that knows these connections alone.
async fn world_with(connections: Vec<Connection>) -> World {
    let world = World::empty(patient_questions()).await;
    let set = move |settings: &mut chat_core::settings::Settings| {
        settings.connections = connections;
        settings.chat.find_local_servers = false;
        settings.chat.better_titles = false;
    };
    world.manager.settings().change(set).await.unwrap();
    world
}

#[tokio::test]
async fn a_server_that_is_being_asked_is_not_asked_again() {
    let silent = Silent::start().await;
    let world = world_with(vec![silent.connection("silent")]).await;
    silent.hang_up(true).await;
    world.manager.connections().refresh();
    world.manager.connections().settled().await;
    assert!(matches!(health(&world, "silent"), Health::Failed(_)));
    let before = silent.count();
    silent.hang_up(false).await;
    world.manager.retry_connections();
    silent.taken(before + 1).await;
    for _ in 0..5 {
        world.manager.retry_connections();
    }
    silent.hang_up(true).await;
    world.manager.connections().settled().await;
    assert_eq!(silent.count(), before + 1);
    // Once it is answered it is asked again.
    world.manager.retry_connections();
    silent.taken(before + 2).await;
}

#[tokio::test]
async fn one_waits_for_what_was_being_asked_and_not_for_what_is_asked_later() {
    let (first, later) = (Silent::start().await, Silent::start().await);
    let world = world_with(vec![first.connection("first"), later.connection("later")]).await;
    world.manager.connections().refresh_one("first");
    first.taken(1).await;
    let connections = world.manager.connections();
    let mut settled = Box::pin(connections.settled());
    assert!(futures_util::poll!(&mut settled).is_pending());
    world.manager.connections().refresh_one("later");
    later.taken(1).await;
    first.hang_up(true).await;
    settled.await;
    assert!(matches!(health(&world, "first"), Health::Failed(_)));
    assert_eq!(health(&world, "later"), Health::Checking, "it is still being asked");
}

/// A chat with one answer; then its connection is gone, and a silent server is being asked, so that
/// what is sent waits.
async fn chat_whose_server_is_looked_for(server: &Server, silent: &Silent) -> (World, Fid) {
    let known = connection(server, ConnectionKind::Ollama);
    let mut world = world_with(vec![known, silent.connection("silent")]).await;
    let (fid, _) = world.ask_and_wait("zero").await;
    lose(&world, silent).await;
    (world, fid)
}

/// The same with a first answer that is still to come; nobody watches the chat.
async fn busy_chat_whose_server_is_looked_for(server: &Server, silent: &Silent) -> (World, Fid) {
    let known = connection(server, ConnectionKind::Ollama);
    let world = world_with(vec![known, silent.connection("silent")]).await;
    let fid = world.manager.send(request(None, "one")).await.unwrap().fid;
    server.wait_for_chats(1).await;
    lose(&world, silent).await;
    (world, fid)
}

/// The chat's connection is gone, and a silent server is being asked.
async fn lose(world: &World, silent: &Silent) {
    world.manager.settings().change(|settings| drop(settings.connections.remove(0))).await.unwrap();
    world.manager.connections().refresh_one("silent");
    silent.taken(1).await;
}

/// The chat's connection is found, and nothing is asked any more.
async fn find(world: &World, server: &Server, silent: &Silent) {
    let known = connection(server, ConnectionKind::Ollama);
    world.manager.settings().change(|settings| settings.connections.push(known)).await.unwrap();
    silent.hang_up(true).await;
}

/// Lets all tasks go as far as they come; they run on this thread.
async fn pause() {
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_stop_of_a_message_that_waits_for_its_server_outlives_what_is_sent_after_it() {
    let (server, silent) = (Server::start(), Silent::start().await);
    let (mut world, fid) = chat_whose_server_is_looked_for(&server, &silent).await;
    let send = |text: &str| {
        let (manager, request) = (world.manager.clone(), request(Some(&fid), text));
        tokio::spawn(async move { manager.send(request).await.unwrap() })
    };
    let stopped = send("one");
    pause().await;
    world.manager.sessions().stop(&fid);
    let waits = send("two");
    pause().await;
    assert!(!stopped.is_finished() && !waits.is_finished());
    find(&world, &server, &silent).await;
    assert!(!stopped.await.unwrap().queued);
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Stopped);
    assert!(waits.await.unwrap().queued, "it was sent later");
    assert_eq!(world.open(&fid).await.queue[0].content.text, "two");
    assert_eq!(server.chats().len(), 1, "stop means stop");
}

#[tokio::test]
async fn a_message_for_a_busy_chat_is_kept_before_its_server_is_found() {
    let (server, silent) = (Server::start(), Silent::start().await);
    let gate = Gate::new();
    server.push(Script::new().gate(&gate).text("first"));
    let (mut world, fid) = busy_chat_whose_server_is_looked_for(&server, &silent).await;
    assert!(world.say(&fid, "two").await.queued);
    assert_eq!(health(&world, "silent"), Health::Checking, "it is still being asked");
    assert_eq!(world.open(&fid).await.queue[0].content.text, "two");
    gate.open();
}

#[tokio::test]
async fn a_stop_while_the_end_of_a_reply_is_stored_holds_what_waits() {
    let (server, silent) = (Server::start(), Silent::start().await);
    let gate = Gate::new();
    server.push(Script::new().gate(&gate).text("first"));
    // Nobody watches the chat, so that its end is written down as unread.
    let (mut world, fid) = busy_chat_whose_server_is_looked_for(&server, &silent).await;
    world.say(&fid, "two").await;
    let data = Folders::below(world.folder.path()).data;
    let database = rusqlite::Connection::open(data.join("natter.db")).unwrap();
    let ended = || {
        let count = "SELECT count(*) FROM messages WHERE role = 'assistant' AND ended IS NOT NULL";
        database.query_row(count, [], |row| row.get::<_, i64>(0)).unwrap() == 1
    };
    gate.open();
    while !ended() {
        tokio::task::yield_now().await;
    }
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    find(&world, &server, &silent).await;
    while !world.manager.sessions().busy().is_empty() {
        tokio::task::yield_now().await;
    }
    world.manager.sessions().stop(&fid);
    database.execute_batch("ROLLBACK").unwrap();
    assert_eq!(world.events.finished(&fid).await.reason, StopReason::Complete);
    let waiting = world.open(&fid).await.queue;
    assert_eq!(waiting.len(), 1, "stop means stop");
    assert_eq!(waiting[0].content.text, "two");
    assert_eq!(server.chats().len(), 1);
}
