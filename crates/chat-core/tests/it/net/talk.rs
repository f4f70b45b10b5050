//! A conversation that is recorded: an engine, a scripted server and a project.

use std::path::PathBuf;

use chat_core::event::StopReason;
use chat_core::message::{ChatRequest, Fid};
use chat_core::settings::ConnectionKind;
use chat_testkit::recording::{self, Placeholders};
use chat_testkit::server::{Recorded, Script, Server};
use tempfile::TempDir;

use super::tools::tools;
use crate::engine::world::{World, request, timeouts};

/// A conversation that is recorded.
pub struct Talk {
    pub server: Server,
    pub world: World,
    pub project: TempDir,
}

impl Talk {
    pub async fn new(kind: ConnectionKind) -> Self {
        let server = Server::start();
        let world = World::with_tools(&server, kind, timeouts(), tools()).await;
        // Asked in the background, the server could hear of this at any moment.
        world.manager.connections().settled().await;
        Self { server, world, project: tempfile::tempdir().unwrap() }
    }

    pub fn push(&self, script: Script) {
        self.server.push(script);
    }

    /// A file of the project.
    pub fn at(&self, name: &str) -> PathBuf {
        self.project.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        std::fs::write(self.at(name), text).unwrap();
    }

    /// A request of a new chat in the project.
    pub fn in_project(&self, text: &str) -> ChatRequest {
        ChatRequest { project: Some(self.project.path().to_owned()), ..request(None, text) }
    }

    /// Sends a request, and opens its chat.
    pub async fn send(&mut self, request: ChatRequest) -> Fid {
        let fid = self.world.manager.send(request).await.unwrap().fid;
        self.world.open(&fid).await;
        fid
    }

    /// Sends a request, and waits until it ended like this.
    pub async fn ask(&mut self, request: ChatRequest, reason: StopReason) -> Fid {
        let fid = self.send(request).await;
        self.ends(&fid, reason).await;
        fid
    }

    /// Says more in a chat, and waits until the reply is complete.
    pub async fn say(&mut self, fid: &Fid, text: &str) {
        self.world.say(fid, text).await;
        self.ends(fid, StopReason::Complete).await;
    }

    /// Waits until a request ended, which must be like this.
    pub async fn ends(&mut self, fid: &Fid, reason: StopReason) {
        let finished = self.world.events.finished(fid).await;
        assert_eq!(finished.reason, reason, "{finished:?}");
    }

    /// Ends the engine: all that it has to say and to store is said and stored.
    pub async fn end(&self) {
        for row in self.world.manager.sessions().list().await.unwrap() {
            // Whether a reply was done before its chat was opened is a matter of time.
            self.world.manager.sessions().mark_read(&row.fid).await.unwrap();
        }
        self.world.manager.shutdown().await;
    }

    pub fn placeholders(&self) -> Placeholders {
        let path = |folder: &TempDir| folder.path().to_str().unwrap().to_owned();
        Placeholders::default()
            .word(path(&self.world.folder), "home")
            .word(path(&self.project), "project")
            .word(self.server.url(), "server")
    }

    /// All that the server was asked. What is asked before the first chat is asked at the same time, and stands in the
    /// order of its addresses.
    pub fn requests(&self) -> String {
        let mut requests = self.server.requests();
        let before = requests.iter().position(Recorded::is_chat).unwrap_or(requests.len());
        requests[..before].sort_by(|one, other| one.path.cmp(&other.path));
        self.placeholders().apply(&recording::requests(&requests))
    }
}
