//! Defines the services that all sessions share. The Manager provides them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use async_trait::async_trait;
use chat_definitions::{Definitions, ItemKind, nearest};
use chat_permission::path::{PathEnvironment, Project};
use chat_worktree::Worktrees;
use tokio_util::task::TaskTracker;

use super::WaitingApprovals;
use super::parts::steering::Unsteerable;
use crate::agent::{Agent, AgentRegistry, FileAgent};
use crate::client::{Capabilities, Client, ContextWindow, Price, Requester};
use crate::error::{Kind, NoAgent, Result};
use crate::event::Hub;
use crate::message::{Fid, ModelRef, Options};
use crate::settings::{ModelUsage, Settings};
use crate::store::Store;
use crate::tool::{Journals, Registry, Team, ToolSource};

/// The services that all sessions share.
pub(crate) struct SessionServices {
    pub store: Store,
    pub hub: Arc<Hub>,
    /// What waits for the person in any of them.
    pub asks: WaitingApprovals,
    pub agents: RwLock<AgentRegistry>,
    pub definitions: Arc<dyn DefinitionSource>,
    pub tools: Registry,
    /// Where tools come from that are not known at the start.
    pub tool_source: Option<Arc<dyn ToolSource>>,
    /// The person's home, and where Natter's own files lie: no tool may touch these.
    pub path_environment: PathEnvironment,
    /// The journals of the projects that are worked in.
    pub journals: Arc<Journals>,
    /// The worktrees of all projects.
    pub worktrees: Worktrees,
    pub clients: Arc<dyn Clients>,
    /// The configuration file.
    pub settings_path: PathBuf,
    /// Where the teams of tools come from. Set when the Manager has started.
    pub teams: OnceLock<Arc<dyn Teams>>,
    /// The models that took no message of the person's after the results of tools.
    pub unsteerable: Unsteerable,
    /// Whether better titles may be asked for.
    pub better_titles: bool,
    /// Everything that runs and must end before the program does.
    pub tasks: TaskTracker,
    pub runtime: tokio::runtime::Handle,
}

impl SessionServices {
    /// Why there is no model: nobody knows what the user set up while the settings cannot be read.
    pub(crate) fn no_model(&self) -> Kind {
        if self.clients.settings().permissions.are_unread {
            return Kind::ConfigInvalid { path: self.settings_path.clone() };
        }
        Kind::NoModel
    }

    /// All tools that are known.
    pub(crate) fn known_tools(&self) -> Registry {
        let foreign = self.tool_source.as_ref().map(|source| source.known());
        self.tools.clone().with(foreign.unwrap_or_default())
    }

    /// The agent of this name for a project: a registered one, or one in a file that counts there.
    pub(crate) fn agent(&self, name: &str, project: Option<&Path>) -> Result<Arc<dyn Agent>> {
        let agents = self.agents.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(agent) = agents.get(name) {
            return Ok(Arc::clone(agent));
        }
        let definitions = self.definitions.current(project);
        if let Some(agent) = definitions.agents.iter().find(|agent| agent.name == name) {
            return Ok(Arc::new(FileAgent::new(agent)));
        }
        let why = definitions.unusable(ItemKind::Agent, name).map_or_else(
            || {
                let in_files = definitions.agents.iter().map(|agent| agent.name.as_str());
                let names = agents.iter().map(|agent| agent.name()).chain(in_files);
                NoAgent::Unknown { nearest: nearest(name, names).map(str::to_owned) }
            },
            NoAgent::from,
        );
        Err(Kind::AgentMissing { name: name.to_owned(), why }.into())
    }

    /// A model by its name, with its connection or on that of another model.
    pub(crate) fn model_named(&self, name: &str, own: Option<&ModelRef>) -> ModelRef {
        let named = name.split_once('/');
        match (named.filter(|(connection, _)| self.clients.has(connection)), named, own) {
            (Some((connection, model)), ..) | (None, Some((connection, model)), None) => {
                ModelRef::new(connection, model)
            }
            (None, _, Some(own)) => ModelRef::new(own.connection.clone(), name),
            (None, None, None) => ModelRef::new("", name),
        }
    }

    /// Removes sessions and single messages for good that were deleted longer ago than `age`, with what the journals of
    /// their projects keep for them.
    pub(crate) async fn purge(&self, age: Duration) -> Result<()> {
        self.store.purge_messages(age).await?;
        let expired = self.store.expired(age).await?;
        self.remove_for_good(expired).await.map(drop)
    }

    /// Removes these deleted sessions for good, with what the journals of their projects keep for them. Gives
    /// those that were removed.
    pub(crate) async fn remove_for_good(
        &self,
        expired: Vec<(Fid, Option<PathBuf>)>,
    ) -> Result<Vec<Fid>> {
        // First the journals: what is cut off in between is done at the next start.
        self.in_journals(&expired, Journals::forget).await?;
        drop(self.journals.tidy());
        self.store.remove(expired).await
    }

    /// Removes what the journals of their projects keep for temporary sessions. For the end of the program.
    pub(crate) async fn erase_temporary(&self) -> Result<()> {
        let temporary = self.store.temporary().await?;
        self.in_journals(&temporary, Journals::erase).await
    }

    /// Has the journals of their projects do something with sessions.
    async fn in_journals(
        &self,
        sessions: &[(Fid, Option<PathBuf>)],
        act: fn(&Journals, &Project, &[String]) -> Result<(), chat_journal::Error>,
    ) -> Result<()> {
        let mut by_project: BTreeMap<PathBuf, Vec<String>> = BTreeMap::new();
        for (fid, project) in sessions {
            if let Some(project) = project {
                by_project.entry(project.clone()).or_default().push(fid.to_string());
            }
        }
        let (journals, kept) = (Arc::clone(&self.journals), self.path_environment.clone());
        let acting = tokio::task::spawn_blocking(move || {
            for (folder, sessions) in by_project {
                // A folder that is gone takes no journal's word.
                let Ok(project) = Project::open(&folder, &kept) else { continue };
                if let Err(error) = act(&journals, &project, &sessions) {
                    tracing::warn!(%error, "a journal still knows sessions that are gone");
                }
            }
        });
        Ok(acting.await.map_err(|_| Kind::Internal)?)
    }

    /// Runs a task that the end of the program waits for.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn_on(task, &self.runtime);
    }
}

/// Where the agents, commands and skills in files come from; implemented above, by the Manager.
#[async_trait]
pub(crate) trait DefinitionSource: Send + Sync {
    /// Those that count in a project, or in chats without one. They are read where they are not known yet.
    async fn load(&self, project: Option<&Path>) -> Arc<Definitions>;

    /// The same as far as they are known, without waiting.
    fn current(&self, project: Option<&Path>) -> Arc<Definitions>;
}

/// Where the other agents of a session come from; implemented above, by the Manager.
pub(crate) trait Teams: Send + Sync {
    /// The team of a session, for one call. `at_work` is told the agents that the call has started,
    /// or waits for.
    fn team(&self, member: &Fid, at_work: AgentsAtWork) -> Arc<dyn Team>;
}

/// Told the agents that a call has started, or waits for.
pub(crate) type AgentsAtWork = Arc<dyn Fn(Vec<Fid>) + Send + Sync>;

/// Where clients come from; implemented above, by the Manager's connections.
#[async_trait]
pub(crate) trait Clients: Send + Sync {
    /// Waits until it is known whether there is such a connection; of none, whether there is a
    /// model to begin with.
    async fn wait_until_known(&self, connection: Option<&str>);

    /// Whether there is such a connection.
    fn has(&self, connection: &str) -> bool;

    /// The client of a model's connection; may ask the server what it speaks. Each of its requests
    /// waits for a slot of the connection.
    async fn client(&self, model: &ModelRef, requester: Requester) -> Result<Arc<dyn Client>>;

    /// A session whose request awaits a slot is shown now, or no more.
    fn shown_changed(&self);

    /// Has the next request to a connection take its key again: the server refused this one.
    fn forget_key(&self, connection: &str);

    /// The model of a new chat.
    fn default_model(&self) -> Option<ModelRef>;

    /// What a model can do, as far as it is known; may ask its server.
    async fn capabilities(&self, model: &ModelRef) -> Capabilities;

    /// What was set for a model.
    fn usage(&self, model: &ModelRef) -> ModelUsage;

    /// The longest window that a model has, where it is known.
    fn longest_window(&self, model: &ModelRef) -> Option<u32>;

    /// The room that a model has for a request of so many tokens. Its server may be asked, where
    /// the request is long enough for that to matter.
    async fn context_window(
        &self,
        model: &ModelRef,
        options: &Options,
        tokens: u64,
    ) -> ContextWindow;

    /// What a model costs, where its server says so.
    fn price(&self, model: &ModelRef) -> Option<Price>;

    /// The settings as they are now.
    fn settings(&self) -> Arc<Settings>;
}
