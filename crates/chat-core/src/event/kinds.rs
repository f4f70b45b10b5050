//! Defines the events and the plain data in them.

use std::ops::{Deref, DerefMut};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use super::SessionEvent;
use crate::client::{ModelInfo, Preparing};
use crate::error::Error;
use crate::message::{
    ApprovalRequest, BackgroundCommand, Fid, Message, MessageId, ModelRef, Queued, SessionMeta,
    Todo, ToolCall, ToolCallId, ToolResult, Usage,
};
use crate::settings::Connection;

/// Something that happened. [`Event::Session`] reaches only subscriptions that watch the session
/// ([`Sessions::open`](crate::manager::Sessions::open)); all others reach every one.
///
/// A subscriber that takes them late gets fewer: each comes in its latest state, and text in
/// larger pieces, always the whole of it.
#[derive(Clone, Debug)]
pub enum Event {
    /// A session was stored for the first time, or restored.
    SessionAdded(SessionPlaceholder),
    /// A session's title, agent, model, status or unread mark changed, or it was closed. Of an agent
    /// also what it works on.
    SessionChanged(SessionPlaceholder),
    /// A session was deleted.
    SessionRemoved {
        /// Which.
        fid: Fid,
    },
    /// Something happened in a session; only those who watch it hear of it.
    Session {
        /// The session.
        fid: Fid,
        /// Its place in the order of the session's events, and of snapshots.
        seq: u64,
        /// What happened.
        event: SessionEvent,
    },
    /// What waits for the user's answer in any session changed.
    ApprovalsChanged {
        /// All that waits, by session and in the order in which it was asked.
        asks: Vec<SessionApproval>,
    },
    /// A request ended: all its messages are stored.
    RequestFinished {
        /// The session.
        fid: Fid,
        /// Why.
        reason: StopReason,
        /// What it cost, over all its rounds.
        usage: Usage,
        /// What went wrong, where something did.
        error: Option<Error>,
    },
    /// The list of models changed: those of the servers, or those on this machine.
    ModelsChanged,
    /// Tools came or went: see `Manager::tools`.
    ToolsChanged,
    /// A download of a model began, went on, or ended.
    DownloadsChanged,
    /// A connection was added, changed, removed, or found to be well or ill.
    ConnectionsChanged,
    /// Front ends should show this session now; what they do is theirs to decide
    /// ([`Agents`](crate::manager::Agents)).
    ShowRequested {
        /// The session.
        fid: Fid,
    },
    /// The kinds of agents changed.
    AgentKindsChanged,
    /// The agents, commands and skills in files changed, or whether a project's are trusted
    /// ([`DefinitionFiles`](crate::manager::DefinitionFiles)).
    DefinitionsChanged {
        /// The project's folder; none for those of chats without a project.
        project: Option<PathBuf>,
    },
    /// The settings changed, here or in another process.
    SettingsChanged,
    /// Something that the person should know and that belongs to no request.
    Notice(Failure),
}

/// Something that waits for the user's answer in a session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionApproval {
    /// The session.
    pub fid: Fid,
    /// What is asked.
    pub ask: Arc<ApprovalRequest>,
}

/// What an [`Event::Notice`] is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What happened.
    pub error: Error,
    /// The session that it happened to, where it happened to one.
    pub session: Option<Fid>,
}

/// Why a request ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// The model was done.
    Complete,
    /// The person stopped it.
    Stopped,
    /// It failed before or after it said something.
    Error,
    /// The round limit, or the model's limit of length.
    Limit,
    /// The stream was cut.
    Interrupted,
}

/// What a request does while no text comes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// No request is at work.
    #[default]
    Idle,
    /// The server has not answered: it may load the model or have others before us.
    Waiting {
        /// Since when.
        since: Timestamp,
    },
    /// Servers are started whose tools nobody knows yet.
    StartingServers {
        /// Their names.
        servers: Vec<String>,
    },
    /// The model is being loaded, or reads what was said.
    Preparing(Preparing),
    /// Earlier messages are being summed up, so that the next request fits the model's window.
    Compacting,
    /// The server asked us to wait.
    RateLimited {
        /// Until when.
        until: Timestamp,
    },
    /// Text comes.
    Streaming,
    /// Text comes, and looks like a loop: somebody watches, who can stop it.
    Looping,
    /// Tools run.
    RunningTools,
}

/// What a session does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Nothing.
    #[default]
    Idle,
    /// A request is at work, and nothing of the reply has come.
    Waiting,
    /// A request is at work: text comes, or tools run.
    Answering,
    /// A question waits for the person.
    NeedsInput,
}

impl Status {
    /// Whether a request is at work.
    pub fn is_busy(self) -> bool {
        self != Self::Idle
    }
}

/// A session as a row of the history list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionPlaceholder {
    /// What is known of it.
    pub meta: SessionMeta,
    /// What it does.
    pub status: Status,
    /// What it works on, where it is an agent at work.
    pub activity: Option<AgentActivity>,
}

/// What an agent at work does.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentActivity {
    /// When it began.
    pub since: Timestamp,
    /// The tool call that runs; of several the last one that began.
    pub call: Option<Arc<ToolCall>>,
    /// Tokens that it has spent since it began, read and written, as far as its server counts them.
    pub tokens: u64,
}

impl Deref for SessionPlaceholder {
    type Target = SessionMeta;

    fn deref(&self) -> &SessionMeta {
        &self.meta
    }
}

impl DerefMut for SessionPlaceholder {
    fn deref_mut(&mut self) -> &mut SessionMeta {
        &mut self.meta
    }
}

impl From<SessionMeta> for SessionPlaceholder {
    /// Nothing is at work in it.
    fn from(meta: SessionMeta) -> Self {
        Self { meta, ..Self::default() }
    }
}

/// A session as it is opened: the end of its shown branch, and its place in the events.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// The session.
    pub session: SessionPlaceholder,
    /// The last messages of the shown branch, oldest first, the one being written included.
    pub messages: Vec<Arc<Message>>,
    /// Whether there are earlier ones ([`Sessions::earlier`](crate::manager::Sessions::earlier)).
    pub more: bool,
    /// What waits to be sent.
    pub queue: Vec<Queued>,
    /// What the request at work does.
    pub stage: Stage,
    /// What waits for the person's answer.
    pub asks: Vec<Arc<ApprovalRequest>>,
    /// The reply's calls that run now, in order.
    pub calls: Vec<OpenCall>,
    /// The commands that run in its background, the oldest first.
    pub commands: Vec<BackgroundCommand>,
    /// Its plan.
    pub todos: Vec<Todo>,
    /// The sequence number of the last event that this holds.
    pub seq: u64,
}

/// A call that runs now.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    /// The assistant's message that holds the call.
    pub message: MessageId,
    /// The call.
    pub call: ToolCallId,
    /// How far it is.
    pub state: CallState,
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub enum CallState {
    /// Others run before it.
    Waiting,
    /// It runs, or waits for the person ([`Snapshot::asks`]).
    Running {
        /// The end of what its command wrote so far.
        tail: Arc<str>,
        /// How many bytes that was in all.
        bytes: u64,
        /// How long it runs, without the time that the person takes to answer.
        ran: Duration,
        /// The agents that it has started, or waits for.
        agents: Vec<Fid>,
    },
    /// It ended. The result is among the messages too, once it is stored.
    Done(Arc<ToolResult>),
}

/// A model that can be chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelEntry {
    /// Its name.
    pub model: ModelRef,
    /// What its server says about it.
    pub info: ModelInfo,
}

/// A connection and how it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionState {
    /// The connection.
    pub connection: Connection,
    /// Whether it was found on this machine rather than configured.
    pub discovered: bool,
    /// Whether it is Natter's own engine, which nobody configures.
    pub built_in: bool,
    /// How it is.
    pub health: Health,
}

/// How a connection is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Health {
    /// It is being asked.
    Checking,
    /// It answers and has this many models.
    Ready {
        /// How many.
        models: usize,
    },
    /// It does not answer as it should.
    Failed(Error),
}
