//! The engine's one door.

mod agent_kinds;
mod agents;
mod arranging;
mod backups;
mod closing;
mod commands;
mod connection_registry;
mod connections;
mod context;
mod continuing;
mod definition_registry;
mod definitions;
mod deletion;
mod downloads;
mod export;
mod follow;
mod import;
mod lifecycle;
mod loading;
mod local_models;
mod messages;
mod models;
mod permissions;
mod repositories;
mod review;
mod server_content;
mod server_models;
mod sessions;
mod settings;
mod team;
mod trash;
mod waiting_messages;
mod web_search;
mod worktrees;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use self::connection_registry::ConnectionRegistry;
use self::definition_registry::DefinitionRegistry;
use self::follow::Fingerprint;
use crate::agent::AgentRegistry;
use crate::client::{self, Timeouts};
use crate::error::{Error, Kind, Result};
use crate::event::{ConnectionState, Event, Queued, SessionPlaceholder, Snapshot, Subscription};
use crate::message::{ChatRequest, Fid, Message, MessageId};
use crate::models::{Downloader, HubOptions, Library};
use crate::session::{EmptySession, Session, SessionServices};
use crate::settings::{
    Connection, ConnectionKind, Folders, Key, KeySource, KeyStorage, Settings, SettingsFile,
    ToolSettings,
};
use crate::store::Page;
use crate::tool::{Registry, ToolInfo, ToolServices, ToolSource, Toolbox};

pub use self::agent_kinds::{AgentKind, AgentKinds};
pub use self::agents::{Agents, NewAgent};
pub use self::backups::Backups;
pub use self::commands::BackgroundCommands;
pub use self::connection_registry::Pull;
pub use self::connections::Connections;
pub use self::context::SessionContext;
pub use self::definitions::DefinitionFiles;
pub use self::downloads::Downloads;
pub use self::import::{
    Import, ImportPreview, ImportProgress, ImportReport, MissingParts, UnreadableChat,
};
pub use self::local_models::LocalModels;
pub use self::messages::{Messages, Regenerate};
pub use self::models::Models;
pub use self::permissions::Permissions;
pub use self::repositories::Repositories;
pub use self::review::ChangeReview;
pub use self::server_content::{PromptContent, ServerContent};
pub use self::server_models::ServerModels;
pub use self::sessions::Sessions;
pub use self::settings::SettingsStore;
pub use self::trash::TRASH_AGE;
pub use self::web_search::WebSearchSetup;
pub use self::worktrees::{WorktreeRow, WorktreeState, Worktrees};
pub use crate::message::SessionChange;
pub use crate::tool::{MergedWorktree, NewWorktree};

/// In how many of the newest chats the model to begin with is looked for.
const RECENT: usize = 20;

/// The engine: cheap to clone. Holds agents, tools, connections, models, settings and sessions.
/// Never knows a front end, and has no "active" session. Each of its parts has a handle of its own,
/// which [`sessions`](Self::sessions) and its like give: owned, and as cheap to clone.
///
/// All their methods may be awaited on any executor; the work runs on the tokio runtime that
/// [`start`](Self::start) was called in.
#[derive(Clone)]
pub struct Manager {
    inner: Arc<Inner>,
}

struct Inner {
    /// What all sessions share.
    shared: Arc<SessionServices>,
    connections: Arc<ConnectionRegistry>,
    settings: Arc<SettingsFile>,
    /// Held from a change of the settings until it is taken: the later one is taken last.
    changing: tokio::sync::Mutex<()>,
    services: ToolServices,
    library: Library,
    downloads: Arc<Downloader>,
    definitions: DefinitionRegistry,
    /// The projects in which left-overs of commands were looked for.
    cleared: Mutex<HashSet<PathBuf>>,
    /// The sessions that are open or at work.
    sessions: Mutex<HashMap<Fid, Arc<Session>>>,
    /// Held while sessions are deleted or restored, which takes the gates of several.
    deleting: tokio::sync::Mutex<()>,
    /// The stored sessions as they were last seen, to find what other processes changed.
    rows: Mutex<BTreeMap<Fid, Fingerprint>>,
    notices: Vec<Error>,
    /// Ends what the Manager runs for itself.
    closing: CancellationToken,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.closing.cancel();
    }
}

/// How the Manager is started.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// Where everything is kept.
    pub folders: Folders,
    /// The user's home, with skills in `.agents/skills` and `.claude/skills`; none looks for none there.
    pub home: Option<PathBuf>,
    /// How long to wait for servers.
    pub timeouts: Timeouts,
    /// Where models are downloaded from.
    pub hub: HubOptions,
    /// Whether to ask the servers for their models at once, and to look for local ones. A program
    /// that knows which model it wants does without, and calls [`Connections::refresh`] where it must.
    pub discover: bool,
    /// Whether better titles may be asked of models, where the settings allow it. A program that
    /// ends with its first reply does without.
    pub better_titles: bool,
    /// The agents. Just Ask is always among them.
    pub agents: AgentRegistry,
    /// The tools that agents may offer to models.
    pub tools: Registry,
    /// Where tools come from that are not known yet.
    pub tool_source: Option<Arc<dyn ToolSource>>,
    /// What there is for the person themselves.
    pub services: ToolServices,
}

impl StartOptions {
    /// An engine in these folders without tools, with Just Ask alone, that asks no server before it must.
    pub fn new(folders: Folders) -> Self {
        Self {
            folders,
            home: None,
            timeouts: Timeouts::default(),
            hub: HubOptions::default(),
            discover: false,
            better_titles: false,
            agents: AgentRegistry::default(),
            tools: Registry::default(),
            tool_source: None,
            services: ToolServices::default(),
        }
    }
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

/// What [`Connections::test`] found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TestReport {
    /// The protocol that the server speaks.
    pub kind: ConnectionKind,
    /// What the program is called, where it says so: `llama.cpp`.
    pub program: Option<&'static str>,
    /// The names of its models.
    pub models: Vec<String>,
    /// How long the answer took.
    pub took: Duration,
}

impl Manager {
    /// Subscribes to what happens from now on.
    pub fn subscribe(&self) -> Subscription {
        self.inner.shared.hub.subscribe()
    }

    /// Problems that were met at start and that the person should hear of.
    pub fn start_notices(&self) -> Vec<Error> {
        self.inner.notices.clone()
    }

    /// Marks the [`start_notices`](Self::start_notices) as shown. The next start no longer reports a repaired database.
    pub async fn start_notices_shown(&self) {
        let store = self.inner.shared.store.clone();
        let done = self.inner.shared.runtime.spawn_blocking(move || store.notice_was_shown()).await;
        if let Ok(Err(error)) = done {
            tracing::warn!(%error, "what became of a repair will be told again");
        }
    }

    /// Runs on the engine's runtime, whichever executor awaits it. What was begun is carried out
    /// also where the caller gives up.
    async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        let task = self.inner.shared.runtime.spawn(work);
        task.await.unwrap_or_else(|_| Err(Kind::Internal.into()))
    }

    // Requests

    /// Sends what a person said. Resolves when it is on disk; the answer comes as events. While
    /// the session is busy it waits in the session's queue, until its [delivery](ChatRequest::delivery).
    ///
    /// # Errors
    /// `NothingToSend`, `SessionNotFound`, `SessionInUse`, `NoModel`, `AgentMissing`,
    /// `ConnectionMissing`, and the store's. Nothing was stored then.
    pub async fn send(&self, mut request: ChatRequest) -> Result<Sent> {
        if request.content.is_empty() {
            return Err(Kind::NothingToSend.into());
        }
        let this = self.clone();
        let is_chosen = request.model.is_some();
        self.run(async move {
            let project = this.context().project(&request).await?;
            let ChatRequest { content, context, .. } = &mut request;
            this.server_content().read_mentioned(project, content, context).await?;
            let Some(fid) = request.session.clone() else {
                if request.model.is_none() {
                    let recent = this.inner.shared.store.recent(RECENT).await?;
                    this.remember_last_used(&recent).await;
                }
                let register = |session: &Arc<Session>| this.register(session);
                let (fid, message) = Session::create(&this.inner.shared, request, register).await?;
                if let Some(session) = this.loaded(&fid) {
                    this.remember_model(&session.placeholder().meta, is_chosen).await;
                }
                return Ok(Sent { fid, message, queued: false });
            };
            let session = this.session(&fid).await?;
            let (message, queued) = session.send(request).await?;
            this.remember_model(&session.placeholder().meta, is_chosen).await;
            Ok(Sent { fid, message, queued })
        })
        .await
    }

    /// What is known of the tools that there are. [`Event::ToolsChanged`] tells when it changes.
    pub fn tools(&self) -> Toolbox {
        self.inner.shared.known_tools().toolbox()
    }

    /// Whether a tool is there with these settings; one that is not is offered to no model.
    pub fn is_set_up(&self, tool: &ToolInfo, settings: &ToolSettings) -> bool {
        let tools = self.inner.shared.known_tools();
        tools.get(tool.name()).is_some_and(|tool| tool.is_set_up(settings))
    }

    // The handles

    /// The sessions.
    pub fn sessions(&self) -> Sessions {
        Sessions(self.clone())
    }

    /// The messages of sessions.
    pub fn messages(&self) -> Messages {
        Messages(self.clone())
    }

    /// The models that can be talked to.
    pub fn models(&self) -> Models {
        Models(self.clone())
    }

    /// The files of models on this machine.
    pub fn local_models(&self) -> LocalModels {
        LocalModels(self.clone())
    }

    /// The repositories that models can be downloaded from.
    pub fn repositories(&self) -> Repositories {
        Repositories(self.clone())
    }

    /// The downloads of models.
    pub fn downloads(&self) -> Downloads {
        Downloads(self.clone())
    }

    /// The approval requests that wait for the user, and the rules of single sessions.
    pub fn permissions(&self) -> Permissions {
        Permissions(self.clone())
    }

    /// The review of what tools changed in a session's project.
    pub fn review(&self) -> ChangeReview {
        ChangeReview(self.clone())
    }

    /// The commands that run in the background.
    pub fn commands(&self) -> BackgroundCommands {
        BackgroundCommands(self.clone())
    }

    /// What goes out to a session's model, and how full its window is.
    pub fn context(&self) -> SessionContext {
        SessionContext(self.clone())
    }

    /// The agents: sessions with a name, each in the tree of those that it works for.
    pub fn agents(&self) -> Agents {
        Agents(self.clone())
    }

    /// The worktrees, in which chats and agents work apart from the user's files.
    pub fn worktrees(&self) -> Worktrees {
        Worktrees(self.clone())
    }

    /// The kinds of agents that there are.
    pub fn agent_kinds(&self) -> AgentKinds {
        AgentKinds(self.clone())
    }

    /// The agents, commands and skills that users write as files.
    pub fn definitions(&self) -> DefinitionFiles {
        DefinitionFiles(self.clone())
    }

    /// The import of chats from exports of other programs, and of Natter itself.
    pub fn import(&self) -> Import {
        Import(self.clone())
    }

    /// The backups of the chats.
    pub fn backups(&self) -> Backups {
        Backups(self.clone())
    }

    /// The connections to servers, and their keys.
    pub fn connections(&self) -> Connections {
        Connections(self.clone())
    }

    /// What MCP servers have for the user: resources to attach, and prompts to send.
    pub fn server_content(&self) -> ServerContent {
        ServerContent(self.clone())
    }

    /// The models that servers themselves have.
    pub fn server_models(&self) -> ServerModels {
        ServerModels(self.clone())
    }

    /// The settings.
    pub fn settings(&self) -> SettingsStore {
        SettingsStore(self.clone())
    }

    /// Where the web is searched, and the keys for it.
    pub fn web_search(&self) -> WebSearchSetup {
        WebSearchSetup(self.clone())
    }

    /// Rules or a mode changed: what they decide now waits no longer, in whichever session.
    fn rejudge(&self) {
        let sessions: Vec<_> = self.sessions_lock().values().cloned().collect();
        for session in sessions {
            session.approvals().rejudge();
        }
    }

    /// Takes over the settings on disk, and notifies subscribers.
    fn take_settings(&self, settings: Settings) {
        self.inner.connections.take_settings(Arc::new(settings));
        self.rejudge();
        let hub = &self.inner.shared.hub;
        hub.tell(&Event::SettingsChanged);
        hub.tell(&Event::ConnectionsChanged);
        hub.tell(&Event::ModelsChanged);
    }
}

impl std::fmt::Debug for Manager {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Manager").finish_non_exhaustive()
    }
}
