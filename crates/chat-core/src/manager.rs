//! The engine's one door.

use std::sync::Arc;
use std::time::Duration;

use crate::client::{Capabilities, Timeouts};
use crate::error::{Error, Result};
use crate::event::{ConnectionState, ModelEntry, SessionPlaceholder, Snapshot, Subscription};
use crate::message::{ChatRequest, Fid, Message, MessageId, ModelRef, Options, Thinking};
use crate::session::EmptySession;
use crate::settings::{Connection, Folders, Kept, Key, Settings};
use crate::store::{Hit, Page};

/// The engine's handle: cheap to clone. Holds agents, tools, connections, models, settings and
/// sessions. Never knows a front end, and has no "active" session.
///
/// Its methods may be awaited on any executor; the work runs on the tokio runtime that
/// [`start`](Self::start) was called in.
#[derive(Clone, Debug)]
pub struct Manager {}

/// What an agent is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentInfo {
    /// Its name, as stored with sessions.
    pub name: String,
    /// Its title, for people, in English: front ends translate it.
    pub title: String,
    /// What it does, in a line, in English.
    pub description: String,
}

/// How the Manager is started.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// Where everything is kept.
    pub folders: Folders,
    /// How long to wait for servers.
    pub timeouts: Timeouts,
}

/// What a person may change about a session. Unset fields stay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionChange {
    /// The agent.
    pub agent: Option<String>,
    /// The model.
    pub model: Option<ModelRef>,
    /// How much to think.
    pub thinking: Option<Thinking>,
    /// Options.
    pub options: Option<Options>,
}

/// What [`Manager::send`] did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The session, also where it is new.
    pub fid: Fid,
    /// The person's message.
    pub message: MessageId,
    /// Whether it waits until the session is free.
    pub queued: bool,
}

/// What [`Manager::test_connection`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestReport {
    /// The protocol that the server speaks.
    pub kind: crate::settings::ConnectionKind,
    /// The names of its models.
    pub models: Vec<String>,
    /// How long the answer took.
    pub took: Duration,
}

impl Manager {
    /// Opens settings and store, recovers interrupted replies, and begins to look for models.
    /// Fast: nothing of the network is waited for. Problems that let it run come as notices.
    ///
    /// # Errors
    /// `DatabaseNewer`, `ReadOnly`, `DiskFull`, `Storage`.
    pub async fn start(options: StartOptions) -> Result<Self> {
        let _ = options;
        todo!()
    }

    /// Subscribes to what happens from now on.
    pub fn subscribe(&self) -> Subscription {
        todo!()
    }

    /// Problems that were met at start and that the person should hear of.
    pub fn start_notices(&self) -> Vec<Error> {
        todo!()
    }

    // Sessions

    /// What a new chat begins with.
    pub fn empty_session(&self) -> EmptySession {
        todo!()
    }

    /// All sessions, newest first.
    pub async fn sessions(&self) -> Result<Vec<SessionPlaceholder>> {
        todo!()
    }

    /// Sessions that hold the text, best first.
    pub async fn search(&self, text: &str, limit: usize) -> Result<Vec<Hit>> {
        let _ = (text, limit);
        todo!()
    }

    /// Opens a session: the last `limit` messages, and from then on, without a gap, its events in
    /// the subscription. A subscription may watch several sessions.
    pub async fn open(
        &self,
        fid: &Fid,
        limit: usize,
        subscription: &Subscription,
    ) -> Result<Snapshot> {
        let _ = (fid, limit, subscription);
        todo!()
    }

    /// Ends the watching of a session.
    pub fn close(&self, fid: &Fid, subscription: &Subscription) {
        let _ = (fid, subscription);
        todo!()
    }

    /// The `limit` messages of the shown branch before this one.
    pub async fn earlier(&self, fid: &Fid, before: MessageId, limit: usize) -> Result<Page> {
        let _ = (fid, before, limit);
        todo!()
    }

    /// The whole shown branch, oldest first.
    pub async fn transcript(&self, fid: &Fid) -> Result<Vec<Arc<Message>>> {
        let _ = fid;
        todo!()
    }

    /// Gives a session a title of the person's choice.
    pub async fn rename(&self, fid: &Fid, title: &str) -> Result<()> {
        let _ = (fid, title);
        todo!()
    }

    /// Changes a session's agent, model, thinking or options; the next request uses them.
    pub async fn change_session(&self, fid: &Fid, change: SessionChange) -> Result<()> {
        let _ = (fid, change);
        todo!()
    }

    /// Stops and deletes a session. [`restore`](Self::restore) takes that back while the
    /// program runs.
    pub async fn delete(&self, fid: &Fid) -> Result<()> {
        let _ = fid;
        todo!()
    }

    /// Takes a deletion back.
    pub async fn restore(&self, fid: &Fid) -> Result<()> {
        let _ = fid;
        todo!()
    }

    /// The person has looked at the session.
    pub async fn mark_read(&self, fid: &Fid) -> Result<()> {
        let _ = fid;
        todo!()
    }

    // Requests

    /// Sends what a person said. Resolves when it is on disk; the answer comes as events. While
    /// the session is busy it waits in the session's queue.
    ///
    /// # Errors
    /// `NothingToSend`, `SessionNotFound`, `SessionInUse`, `NoModel`, `AgentMissing`,
    /// `ConnectionMissing`, and the store's. Nothing was stored then.
    pub async fn send(&self, request: ChatRequest) -> Result<Sent> {
        let _ = request;
        todo!()
    }

    /// Stops the request at work and all that belongs to it. What had arrived stays.
    pub fn stop(&self, fid: &Fid) {
        let _ = fid;
        todo!()
    }

    /// Answers the last user message again, on a new branch; the failed or interrupted reply
    /// stays in the tree.
    pub async fn retry(&self, fid: &Fid) -> Result<()> {
        let _ = fid;
        todo!()
    }

    /// Asks the model to go on where its last reply was interrupted or stopped.
    pub async fn resume(&self, fid: &Fid) -> Result<()> {
        let _ = fid;
        todo!()
    }

    /// Takes a waiting message back, and gives it, so that it can be put into the composer.
    pub async fn unqueue(&self, fid: &Fid, id: MessageId) -> Result<Option<crate::event::Queued>> {
        let _ = (fid, id);
        todo!()
    }

    /// The sessions that have a request at work.
    pub fn busy(&self) -> Vec<Fid> {
        todo!()
    }

    // Agents, models, connections, settings

    /// The agents, the default first.
    pub fn agents(&self) -> Vec<AgentInfo> {
        todo!()
    }

    /// The models of all connections that answered, in the person's order of connections.
    pub fn models(&self) -> Vec<ModelEntry> {
        todo!()
    }

    /// What a model can do, as far as it is known: asks its server once.
    pub async fn capabilities(&self, model: &ModelRef) -> Result<Capabilities> {
        let _ = model;
        todo!()
    }

    /// Finds a model by what a person typed: `connection/model`, or a name alone, which means the
    /// first connection that has it. Waits for connections that are being asked.
    ///
    /// # Errors
    /// `ModelNotFound`, `ConnectionMissing`, or the connection's own error.
    pub async fn find_model(&self, name: &str) -> Result<ModelRef> {
        let _ = name;
        todo!()
    }

    /// Asks all connections for their models again, and looks for local servers again.
    pub fn refresh(&self) {
        todo!()
    }

    /// Waits until every connection has answered or failed since start or the last refresh.
    pub async fn settled(&self) {
        todo!()
    }

    /// The connections, configured ones first, then those found on this machine.
    pub fn connections(&self) -> Vec<ConnectionState> {
        todo!()
    }

    /// Asks a server that need not be configured for its models.
    pub async fn test_connection(
        &self,
        connection: &Connection,
        key: Option<Key>,
    ) -> Result<TestReport> {
        let _ = (connection, key);
        todo!()
    }

    /// Stores a connection: adds it, or changes the one named `replaces`. A key given goes to the
    /// Secret Service, or lasts for this run where there is none: the answer says which.
    pub async fn save_connection(
        &self,
        connection: Connection,
        key: Option<Key>,
        replaces: Option<&str>,
    ) -> Result<Option<Kept>> {
        let _ = (connection, key, replaces);
        todo!()
    }

    /// Removes a connection and its stored key. Chats that used it stay.
    pub async fn remove_connection(&self, name: &str) -> Result<()> {
        let _ = name;
        todo!()
    }

    /// The settings as they are now.
    pub fn settings(&self) -> Arc<Settings> {
        todo!()
    }

    /// Changes settings and stores them.
    pub async fn change_settings(
        &self,
        change: impl FnOnce(&mut Settings) + Send + 'static,
    ) -> Result<()> {
        let _ = Box::new(change);
        todo!()
    }

    /// Stops everything, stores what had arrived, and waits until it is on disk.
    pub async fn shutdown(&self) {
        todo!()
    }
}
