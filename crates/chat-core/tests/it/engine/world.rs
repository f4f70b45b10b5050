//! A Manager in folders of its own, and a subscriber that mirrors what it is told.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use chat_core::client::Timeouts;
use chat_core::error::Error;
use chat_core::event::{
    Event, Queued, SessionApproval, SessionEvent, SessionPlaceholder, Snapshot, Stage, StopReason,
    Subscription, TextKind,
};
use chat_core::manager::{Manager, Sent, StartOptions};
use chat_core::message::{
    ApprovalRequest, BackgroundCommand, ChatRequest, Content, ContextUsage, Fid, Message, ModelRef,
    Part, Role, Todo, ToolResult, Usage,
};
use chat_core::settings::{Connection, ConnectionKind, Folders, KeySource};
use chat_core::tool::{Registry, ToolServices};
use chat_testkit::server::{Gate, PATIENCE, Script, Server};
use tempfile::TempDir;

/// A running engine.
pub struct World {
    pub manager: Manager,
    pub events: Mirror,
    pub folder: Arc<TempDir>,
}

/// The connection's name in these tests.
pub const CONNECTION: &str = "test";

pub fn connection(server: &Server, kind: ConnectionKind) -> Connection {
    Connection {
        name: CONNECTION.into(),
        kind: Some(kind),
        url: server.url(),
        key: KeySource::None,
        models: Vec::new(),
        requests: None,
        ..Connection::default()
    }
}

/// The scripted server's model.
pub fn model() -> ModelRef {
    ModelRef::new(CONNECTION, "scripted")
}

/// Patient with silence: a gate may keep a server silent for long on a busy machine.
pub fn timeouts() -> Timeouts {
    Timeouts {
        connect: Duration::from_secs(5),
        silence: PATIENCE,
        question: Duration::from_secs(5),
    }
}

/// Impatient with silence, so that a test of it is short.
pub fn impatient() -> Timeouts {
    Timeouts { silence: Duration::from_millis(700), ..timeouts() }
}

/// Patient with servers that are asked for their models and say nothing.
pub fn patient_questions() -> Timeouts {
    Timeouts { question: PATIENCE, ..timeouts() }
}

impl World {
    /// An engine without connections.
    pub async fn empty(timeouts: Timeouts) -> Self {
        Self::start_with(Arc::new(TempDir::new().unwrap()), timeouts, Registry::default()).await
    }

    /// An engine with one connection to this server, that asks for no better titles.
    pub async fn new(server: &Server) -> Self {
        Self::of_kind(server, ConnectionKind::Ollama).await
    }

    pub async fn of_kind(server: &Server, kind: ConnectionKind) -> Self {
        Self::with_timeouts(server, kind, timeouts()).await
    }

    pub async fn with_timeouts(server: &Server, kind: ConnectionKind, timeouts: Timeouts) -> Self {
        Self::with_tools(server, kind, timeouts, Registry::default()).await
    }

    /// An engine with these tools.
    pub async fn with_tools(
        server: &Server,
        kind: ConnectionKind,
        timeouts: Timeouts,
        tools: Registry,
    ) -> Self {
        let world = Self::start_with(Arc::new(TempDir::new().unwrap()), timeouts, tools).await;
        world.connected(server, kind).await
    }

    /// An engine with these services for the user.
    pub async fn with_services(server: &Server, services: ToolServices) -> Self {
        let folder = Arc::new(TempDir::new().unwrap());
        let folders = Folders::below(folder.path());
        let options = StartOptions { timeouts: timeouts(), services, ..StartOptions::new(folders) };
        let manager = Manager::start(options).await.unwrap();
        let events = Mirror::new(manager.subscribe());
        Self { manager, events, folder }.connected(server, ConnectionKind::Ollama).await
    }

    async fn connected(self, server: &Server, kind: ConnectionKind) -> Self {
        let connection = connection(server, kind);
        self.manager
            .settings()
            .change(move |settings| {
                settings.connections.push(connection);
                settings.chat.better_titles = false;
                settings.chat.find_local_servers = false;
            })
            .await
            .unwrap();
        self
    }

    /// An engine in this folder, as another start of the program makes it.
    pub async fn start(folder: Arc<TempDir>) -> Self {
        Self::start_with(folder, timeouts(), Registry::default()).await
    }

    async fn start_with(folder: Arc<TempDir>, timeouts: Timeouts, tools: Registry) -> Self {
        let folders = Folders::below(folder.path());
        let options = StartOptions {
            timeouts,
            better_titles: true,
            agents: chat_core::agent::AgentRegistry::built_in(),
            tools,
            ..StartOptions::new(folders)
        };
        let manager = Manager::start(options).await.unwrap();
        let events = Mirror::new(manager.subscribe());
        Self { manager, events, folder }
    }

    /// Ends the engine and starts it again in the same folder.
    pub async fn restart(self) -> Self {
        self.restart_with(Registry::default()).await
    }

    /// The same with these tools.
    pub async fn restart_with(self, tools: Registry) -> Self {
        self.manager.shutdown().await;
        let folder = Arc::clone(&self.folder);
        drop(self);
        Self::start_with(folder, timeouts(), tools).await
    }

    /// Begins a chat, and watches it.
    pub async fn ask(&mut self, text: &str) -> Sent {
        let sent = self.manager.send(request(None, text)).await.unwrap();
        self.open(&sent.fid).await;
        sent
    }

    /// An engine with a chat whose reply to “one” has come to “half”, and goes on once the gate opens.
    pub async fn in_mid_reply(server: &Server) -> (Self, Fid, Gate) {
        let gate = Gate::new();
        server.push(Script::new().text("half").gate(&gate));
        let mut world = Self::new(server).await;
        let fid = world.ask("one").await.fid;
        world.events.shows(&fid, "half").await;
        (world, fid, gate)
    }

    /// Says more in a chat.
    pub async fn say(&self, fid: &Fid, text: &str) -> Sent {
        self.manager.send(request(Some(fid), text)).await.unwrap()
    }

    pub async fn open(&mut self, fid: &Fid) -> Snapshot {
        let snapshot =
            self.manager.sessions().open(fid, 50, &self.events.subscription).await.unwrap();
        self.events.take_snapshot(&snapshot);
        snapshot
    }

    /// Asks and waits for the end.
    pub async fn ask_and_wait(&mut self, text: &str) -> (Fid, Finished) {
        let fid = self.ask(text).await.fid;
        let finished = self.events.finished(&fid).await;
        (fid, finished)
    }

    pub async fn say_and_wait(&mut self, fid: &Fid, text: &str) -> Finished {
        self.say(fid, text).await;
        self.events.finished(fid).await
    }

    /// Role and text of what is stored, as the Manager gives it.
    pub async fn transcript(&self, fid: &Fid) -> Vec<(Role, String)> {
        texts(&self.manager.sessions().transcript(fid).await.unwrap())
    }
}

pub fn request(fid: Option<&Fid>, text: &str) -> ChatRequest {
    ChatRequest {
        session: fid.cloned(),
        model: fid.is_none().then(model),
        content: Content::text(text),
        ..ChatRequest::default()
    }
}

pub fn texts<'a>(messages: impl IntoIterator<Item = &'a Arc<Message>>) -> Vec<(Role, String)> {
    messages.into_iter().map(|message| (message.role, message.plain_text())).collect()
}

/// How a request ended.
#[derive(Clone, Debug)]
pub struct Finished {
    pub reason: StopReason,
    pub error: Option<Error>,
    pub usage: Usage,
}

/// What a front end knows: made of events alone, and checked against their promises.
pub struct Mirror {
    pub subscription: Subscription,
    pub transcripts: HashMap<Fid, Vec<Message>>,
    pub rows: HashMap<Fid, SessionPlaceholder>,
    pub queues: HashMap<Fid, Vec<Queued>>,
    pub asks: HashMap<Fid, Vec<Arc<ApprovalRequest>>>,
    /// What waits in all sessions, also in those that are not watched.
    pub all_asks: Vec<SessionApproval>,
    pub todos: HashMap<Fid, Vec<Todo>>,
    /// How often it was told that files changed.
    pub files: usize,
    pub outputs: Vec<(String, u64)>,
    /// The calls that ended, each with its result, as they were told.
    pub results: Vec<(String, Arc<ToolResult>)>,
    pub commands: Vec<BackgroundCommand>,
    pub stages: Vec<Stage>,
    pub notices: Vec<Error>,
    pub resets: Vec<Fid>,
    pub meters: Vec<ContextUsage>,
    finished: HashMap<Fid, Vec<Finished>>,
    /// The place of the last snapshot of each session.
    seqs: HashMap<Fid, u64>,
}

impl Mirror {
    pub fn new(subscription: Subscription) -> Self {
        Self {
            subscription,
            transcripts: HashMap::new(),
            rows: HashMap::new(),
            queues: HashMap::new(),
            asks: HashMap::new(),
            all_asks: Vec::new(),
            todos: HashMap::new(),
            files: 0,
            outputs: Vec::new(),
            results: Vec::new(),
            commands: Vec::new(),
            stages: Vec::new(),
            notices: Vec::new(),
            resets: Vec::new(),
            meters: Vec::new(),
            finished: HashMap::new(),
            seqs: HashMap::new(),
        }
    }

    pub fn take_snapshot(&mut self, snapshot: &Snapshot) {
        let fid = snapshot.session.fid.clone();
        let messages = snapshot.messages.iter().map(|message| Message::clone(message)).collect();
        self.transcripts.insert(fid.clone(), messages);
        self.queues.insert(fid.clone(), snapshot.queue.clone());
        self.asks.insert(fid.clone(), snapshot.asks.clone());
        self.todos.insert(fid.clone(), snapshot.todos.clone());
        self.seqs.insert(fid, snapshot.seq);
    }

    /// Waits for the next batch, and applies it.
    pub async fn step(&mut self) {
        let batch = tokio::time::timeout(PATIENCE, self.subscription.next()).await;
        for event in batch.expect("events come").expect("the Manager lives") {
            self.apply(event);
        }
    }

    /// Takes batches until a condition holds.
    pub async fn until(&mut self, mut holds: impl FnMut(&Self) -> bool) {
        while !holds(self) {
            self.step().await;
        }
    }

    /// Waits until a request of the session has ended, and takes its end.
    pub async fn finished(&mut self, fid: &Fid) -> Finished {
        self.until(|mirror| mirror.finished.get(fid).is_some_and(|all| !all.is_empty())).await;
        self.finished.get_mut(fid).unwrap().remove(0)
    }

    /// Waits until the last message of the session has this text.
    pub async fn shows(&mut self, fid: &Fid, text: &str) {
        self.until(|mirror| mirror.last_text(fid) == text).await;
    }

    pub fn last_text(&self, fid: &Fid) -> String {
        self.transcripts
            .get(fid)
            .and_then(|all| all.last())
            .map(Message::plain_text)
            .unwrap_or_default()
    }

    pub fn texts(&self, fid: &Fid) -> Vec<(Role, String)> {
        self.transcripts[fid].iter().map(|message| (message.role, message.plain_text())).collect()
    }

    fn follows(&self, fid: &Fid, seq: u64) {
        // Events may be merged, never repeated: those that the snapshot holds do not come again.
        assert!(seq > self.seqs[fid], "{seq} is in the snapshot");
    }

    pub fn apply(&mut self, event: Event) {
        match event {
            Event::SessionAdded(row) | Event::SessionChanged(row) => {
                self.rows.insert(row.fid.clone(), row);
            }
            Event::SessionRemoved { fid } => {
                self.rows.remove(&fid);
            }
            Event::Session { fid, seq, event } => {
                self.follows(&fid, seq);
                self.apply_to(fid, event);
            }
            Event::RequestFinished { fid, reason, usage, error } => {
                self.finished.entry(fid).or_default().push(Finished { reason, error, usage });
            }
            Event::ApprovalsChanged { asks } => self.all_asks = asks,
            Event::Notice(failure) => self.notices.push(failure.error),
            Event::ModelsChanged
            | Event::ToolsChanged
            | Event::ConnectionsChanged
            | Event::ShowRequested { .. }
            | Event::AgentKindsChanged
            | Event::DefinitionsChanged { .. }
            | Event::DownloadsChanged
            | Event::SettingsChanged => {}
        }
    }

    fn apply_to(&mut self, fid: Fid, event: SessionEvent) {
        match event {
            SessionEvent::MessageAdded { message } => {
                let transcript = self.transcripts.get_mut(&fid).expect("only what is watched");
                assert!(transcript.iter().all(|known| known.id != message.id), "added twice");
                transcript.push(Message::clone(&message));
            }
            SessionEvent::TextAdded { message, part, kind, range, text } => {
                let transcript = self.transcripts.get_mut(&fid).expect("only what is watched");
                let known = transcript.iter_mut().find(|known| known.id == message).unwrap();
                grow(known, part, kind, range, &text);
            }
            SessionEvent::MessageChanged { message } => {
                let transcript = self.transcripts.get_mut(&fid).expect("only what is watched");
                let known = transcript.iter_mut().find(|known| known.id == message.id).unwrap();
                assert_eq!(known.plain_text(), message.plain_text(), "its texts were told");
                *known = Message::clone(&message);
            }
            SessionEvent::Reset => self.resets.push(fid),
            SessionEvent::QueueChanged { queue } => {
                self.queues.insert(fid, queue);
            }
            SessionEvent::StageChanged { stage } => {
                self.stages.push(stage);
            }
            SessionEvent::ApprovalsChanged { asks } => {
                self.asks.insert(fid, asks);
            }
            SessionEvent::FilesChanged => self.files += 1,
            SessionEvent::TodosChanged { todos } => {
                self.todos.insert(fid, todos);
            }
            SessionEvent::ToolOutput { tail, bytes, .. } => {
                self.outputs.push((tail.to_string(), bytes));
            }
            SessionEvent::ToolCallChanged { call, running, result, .. } => {
                assert_eq!(running, result.is_none(), "what ended has a result");
                self.results.extend(result.map(|result| (call.as_str().to_owned(), result)));
            }
            SessionEvent::ToolCallPermitted { .. } | SessionEvent::AgentsAtWork { .. } => {}
            SessionEvent::CommandsChanged { commands } => {
                self.commands = commands;
            }
            SessionEvent::ContextUsageChanged { usage } => {
                self.meters.push(usage);
            }
        }
    }
}

fn grow(
    message: &mut Message,
    part: usize,
    kind: TextKind,
    range: std::ops::Range<usize>,
    more: &str,
) {
    if part == message.parts.len() {
        message.parts.push(match kind {
            TextKind::Text => Part::Text(String::new()),
            TextKind::Thinking => {
                Part::Thinking { text: String::new(), took: None, provider: None }
            }
        });
    }
    let (Part::Text(text) | Part::Thinking { text, .. }) = &mut message.parts[part] else {
        panic!("only texts grow")
    };
    assert_eq!(range, text.len()..text.len() + more.len(), "the pieces meet");
    text.push_str(more);
}
