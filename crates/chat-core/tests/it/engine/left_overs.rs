//! What the commands of a killed program left in a project is removed when a chat there is opened.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_core::manager::{Manager, NewAgent, StartOptions};
use chat_core::message::ChatRequest;
use chat_core::settings::{ConnectionKind, Folders};
use chat_core::tool::{LeftOvers, Registry, ToolServices};
use chat_testkit::server::{Script, Server};
use tempfile::TempDir;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

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
    let server = Server::start();
    let tools = Registry::default();
    let mut world = World::with_tools(&server, ConnectionKind::OpenAi, timeouts(), tools).await;
    let folders = TempDir::new().unwrap();
    let root = folders.path().canonicalize().unwrap();
    let (project, other) = (root.join("project"), root.join("other"));
    for folder in [&project, &other] {
        std::fs::create_dir(folder).unwrap();
    }
    server.push(Script::new().text("Hello."));
    let begins = ChatRequest { project: Some(project.clone()), ..request(None, "Hello") };
    let chat = world.manager.send(begins).await.unwrap().fid;
    world.open(&chat).await;
    world.events.finished(&chat).await;
    let agents = world.manager.agents();
    let new = NewAgent { parent: Some(chat.clone()), ..NewAgent::default() };
    let agent = agents.create(new).await.unwrap().meta.fid;
    // As if it had a worktree.
    server.push(Script::new().text("Here."));
    let elsewhere = ChatRequest { project: Some(other.clone()), ..request(Some(&agent), "Look") };
    world.manager.send(elsewhere).await.unwrap();
    world.open(&agent).await;
    world.events.finished(&agent).await;
    world.manager.shutdown().await;

    let (tell, mut told) = unbounded_channel();
    let services = ToolServices { left_overs: Some(Arc::new(Tells(tell))), ..Default::default() };
    let options =
        StartOptions { services, ..StartOptions::new(Folders::below(world.folder.path())) };
    let manager = Manager::start(options).await.unwrap();
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
