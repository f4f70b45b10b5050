//! What the commands of a killed program left in a project is removed when a chat there is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_core::manager::{Manager, NewAgent, StartOptions};
use chat_core::message::{ChatRequest, Fid};
use chat_core::settings::{ConnectionKind, Folders};
use chat_core::tool::{LeftOvers, Registry, ToolServices};
use chat_testkit::server::{Script, Server};
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::world::{World, request, timeouts};

/// Tells where it was asked to clear.
struct Tells(UnboundedSender<PathBuf>);

impl LeftOvers for Tells {
    fn clear(&self, project: &Path) {
        // Nobody may listen any more.
        let _ = self.0.send(project.to_owned());
    }
}

#[tokio::test]
async fn projects_of_a_chat_and_its_agents_are_cleared_once_when_it_is_opened() {
    let (server, mut world) = world().await;
    let folders = Folder::new();
    let [project, other] = ["project", "other"].map(|name| folders.make(name));
    let chat = begin(&server, &mut world, &project).await;
    let agent = agent_in(&server, &mut world, &chat, &other).await;
    world.manager.shutdown().await;

    let (manager, mut told) = start(&world).await;
    let events = manager.subscribe();
    manager.sessions().open(&chat, 10, &events).await.unwrap();
    let mut cleared = vec![told.recv().await.unwrap(), told.recv().await.unwrap()];
    cleared.sort();
    assert_eq!(cleared, [other, project]);
    for fid in [&chat, &agent] {
        manager.sessions().close(fid, &events);
        manager.sessions().open(fid, 10, &events).await.unwrap();
    }
    manager.shutdown().await;
    assert!(told.try_recv().is_err(), "each once");
}

#[tokio::test]
async fn agents_of_a_second_chat_in_a_project_are_not_forgotten() {
    let (server, mut world) = world().await;
    let folders = Folder::new();
    let [project, other] = ["project", "other"].map(|name| folders.make(name));
    let first = begin(&server, &mut world, &project).await;
    let second = begin(&server, &mut world, &project).await;
    agent_in(&server, &mut world, &second, &other).await;
    world.manager.shutdown().await;

    let (manager, mut told) = start(&world).await;
    let events = manager.subscribe();
    for chat in [&first, &second] {
        manager.sessions().open(chat, 10, &events).await.unwrap();
    }
    let mut cleared = vec![told.recv().await.unwrap(), told.recv().await.unwrap()];
    cleared.sort();
    assert_eq!(cleared, [other, project]);
    manager.shutdown().await;
}

#[tokio::test]
async fn a_project_in_which_no_chat_is_open_is_cleared_once_when_it_is_asked_for() {
    let (server, mut world) = world().await;
    let folders = Folder::new();
    let project = folders.make("project");
    let chat = begin(&server, &mut world, &project).await;
    world.manager.shutdown().await;

    let (manager, mut told) = start(&world).await;
    manager.sessions().clear_left_overs(&project);
    assert_eq!(told.recv().await.unwrap(), project);
    manager.sessions().clear_left_overs(&project);
    let events = manager.subscribe();
    manager.sessions().open(&chat, 10, &events).await.unwrap();
    manager.shutdown().await;
    assert!(told.try_recv().is_err(), "once");
}

/// A folder for projects.
struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn make(&self, name: &str) -> PathBuf {
        let folder = self.0.path().canonicalize().unwrap().join(name);
        std::fs::create_dir(&folder).unwrap();
        folder
    }
}

async fn world() -> (Server, World) {
    let server = Server::start();
    let tools = Registry::default();
    let world = World::with_tools(&server, ConnectionKind::OpenAi, timeouts(), tools).await;
    (server, world)
}

/// A chat in a project.
async fn begin(server: &Server, world: &mut World, project: &Path) -> Fid {
    server.push(Script::new().text("Hello."));
    let begins = ChatRequest { project: Some(project.to_owned()), ..request(None, "Hello") };
    let chat = world.manager.send(begins).await.unwrap().fid;
    world.open(&chat).await;
    world.events.finished(&chat).await;
    chat
}

/// An agent of a chat that works elsewhere, as if it had a worktree.
async fn agent_in(server: &Server, world: &mut World, chat: &Fid, project: &Path) -> Fid {
    let agents = world.manager.agents();
    let new = NewAgent { parent: Some(chat.clone()), ..NewAgent::default() };
    let agent = agents.create(new).await.unwrap().meta.fid;
    server.push(Script::new().text("Here."));
    let elsewhere =
        ChatRequest { project: Some(project.to_owned()), ..request(Some(&agent), "Look") };
    world.manager.send(elsewhere).await.unwrap();
    world.open(&agent).await;
    world.events.finished(&agent).await;
    agent
}

/// Starts again on the same data, and tells what is cleared.
async fn start(world: &World) -> (Manager, UnboundedReceiver<PathBuf>) {
    let (tell, told) = unbounded_channel();
    let services = ToolServices { left_overs: Some(Arc::new(Tells(tell))), ..Default::default() };
    let options =
        StartOptions { services, ..StartOptions::new(Folders::below(world.folder.path())) };
    (Manager::start(options).await.unwrap(), told)
}
