//! Keeps the agents, commands and skills that users write as files, for each project that is worked in.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use chat_definitions::{
    DefinitionWatcher, Definitions, ForgottenTrust, ProjectDefinitions, Sources, TrustStore,
};
use chat_permission::path::{PathEnvironment, Project};
use chat_worktree::Worktrees;
use tokio::sync::Notify;

use crate::agent::AgentRegistry;
use crate::error::{Kind, Result};
use crate::event::{Event, Hub};
use crate::session::DefinitionSource;
use crate::settings::{Folders, disk};
use crate::tool::Registry;

/// How many projects are watched at once. The one that nobody asked for the longest gives way.
const MOST_PROJECTS: usize = 16;

/// How long a change of trust is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The definitions in files. Those of a project are read when somebody first asks for them, and then watched.
#[derive(Clone)]
pub(super) struct DefinitionRegistry {
    shared: Arc<Shared>,
}

struct Shared {
    hub: Arc<Hub>,
    /// Where those are that count in every project.
    sources: Sources,
    trust: TrustStore,
    path_environment: PathEnvironment,
    worktrees: Worktrees,
    known: Mutex<Known>,
    /// Held while a project is first read, so that nobody reads it twice.
    opening: Mutex<()>,
    /// Rung when something changed.
    changed: Arc<Notify>,
}

#[derive(Default)]
struct Known {
    /// By the project's folder; without one the user's own alone.
    watchers: BTreeMap<Option<PathBuf>, Watched>,
    /// The projects that worktrees were made from, as far as somebody asked for their definitions.
    made_from: BTreeMap<PathBuf, PathBuf>,
    /// Counts how often they were asked for.
    clock: u64,
}

struct Watched {
    watcher: DefinitionWatcher,
    /// When it was last asked for.
    used: u64,
}

impl Known {
    fn get(&mut self, project: Option<&Path>) -> Option<Arc<Definitions>> {
        let watched = self.watchers.get_mut(&project.map(Path::to_owned))?;
        self.clock += 1;
        watched.used = self.clock;
        Some(watched.watcher.snapshot())
    }

    fn insert(&mut self, project: Option<PathBuf>, watcher: DefinitionWatcher) {
        self.clock += 1;
        self.watchers.insert(project, Watched { watcher, used: self.clock });
        let projects = || self.watchers.iter().filter(|(project, _)| project.is_some());
        if projects().count() > MOST_PROJECTS {
            let oldest = projects().min_by_key(|(_, watched)| watched.used);
            if let Some(oldest) = oldest.map(|(project, _)| project.clone()) {
                self.made_from.retain(|_, project| Some(&*project) != oldest.as_ref());
                self.watchers.remove(&oldest);
            }
        }
    }
}

impl DefinitionRegistry {
    /// Reads the user's own. Blocks.
    pub(super) fn open(
        hub: Arc<Hub>,
        folders: &Folders,
        home: Option<PathBuf>,
        agents: &AgentRegistry,
        tools: &Registry,
        path_environment: PathEnvironment,
        worktrees: Worktrees,
    ) -> Self {
        let trust = TrustStore::new(folders.state.join("trust.json"));
        let sources = Sources {
            config: Some(folders.config.clone()),
            home,
            project: None,
            built_in: agents.iter().map(|agent| agent.name().to_owned()).collect(),
            tools: tools.names().map(str::to_owned).collect(),
            trust: Some(trust.clone()),
        };
        let registry = Self {
            shared: Arc::new(Shared {
                hub,
                sources,
                trust,
                path_environment,
                worktrees,
                known: Mutex::default(),
                opening: Mutex::default(),
                changed: Arc::default(),
            }),
        };
        registry.read(None);
        registry
    }

    /// The definitions of a project, or of chats without one, which are watched from now on. In a
    /// worktree those of the project that it was made from count: that is what the user trusts.
    pub(super) async fn load(&self, project: Option<PathBuf>) -> Arc<Definitions> {
        let made_from = self.made_from(project.as_deref());
        {
            let mut known = self.lock();
            if let (Some(project), Some(parent)) = (project, &made_from) {
                if project == *parent {
                    known.made_from.remove(&project);
                } else {
                    known.made_from.insert(project, parent.clone());
                }
            }
            if let Some(known) = known.get(made_from.as_deref()) {
                return known;
            }
        }
        let this = self.clone();
        let reading = tokio::task::spawn_blocking(move || this.read(made_from.as_deref()));
        reading.await.unwrap_or_default()
    }

    /// The same without waiting, and without a look at the disk: the user's own alone where they were not
    /// loaded for this folder yet.
    pub(super) fn current(&self, project: Option<&Path>) -> Arc<Definitions> {
        let mut known = self.lock();
        let made_from = project.and_then(|project| known.made_from.get(project).cloned());
        let found = known.get(made_from.as_deref().or(project)).or_else(|| known.get(None));
        found.unwrap_or_default()
    }

    /// The project that a worktree was made from; any other folder itself, also one whose record is damaged.
    fn made_from(&self, project: Option<&Path>) -> Option<PathBuf> {
        let project = project?;
        let worktree = self.shared.worktrees.containing(project).ok().flatten();
        Some(worktree.map_or_else(|| project.to_owned(), |it| it.parent_project().to_owned()))
    }

    fn read(&self, project: Option<&Path>) -> Arc<Definitions> {
        let shared = &self.shared;
        let _one = shared.opening.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = self.lock().get(project) {
            return known;
        }
        let mut sources = shared.sources.clone();
        if let Some(folder) = project {
            match Project::open(folder, &shared.path_environment) {
                Ok(opened) => sources.project = Some(opened),
                Err(error) => {
                    tracing::info!(%error, "the definitions of a project are not read");
                    return self.current(None);
                }
            }
        }
        let folder = project.map(Path::to_owned);
        let changed = reporter(folder.clone(), &shared.hub, &shared.changed);
        match DefinitionWatcher::open(sources.clone(), changed) {
            Ok(watcher) => {
                let definitions = watcher.snapshot();
                self.lock().insert(folder, watcher);
                definitions
            }
            Err(error) => {
                tracing::warn!(%error, "definitions are not watched");
                Arc::new(chat_definitions::load(&sources))
            }
        }
    }

    /// Trusts a project's definitions as the user has seen them, and waits until they are in use.
    pub(super) async fn trust(&self, seen: ProjectDefinitions) -> Result<()> {
        let trusted = seen.clone();
        self.store(move |store| store.trust(&trusted)).await?;
        // What changed since the user saw it is not trusted, and not waited for.
        self.read_again(&seen.root, |now| now.digest != seen.digest || now.is_trusted()).await;
        Ok(())
    }

    /// Forgets a project, and waits until its definitions are out of use.
    pub(super) async fn forget(&self, root: PathBuf) -> Result<Option<ForgottenTrust>> {
        let folder = root.clone();
        let forgotten = self.store(move |store| store.forget(&folder)).await?;
        self.read_again(&root, |now| now.items.iter().all(|item| !item.is_trusted)).await;
        Ok(forgotten)
    }

    /// Trusts again what was forgotten, and waits until it is in use.
    pub(super) async fn restore(&self, forgotten: ForgottenTrust) -> Result<()> {
        let again = forgotten.clone();
        self.store(move |store| store.restore(&again)).await?;
        if let Some(root) = forgotten.root() {
            let is_back = |now: &ProjectDefinitions| {
                now.items.iter().all(|item| item.is_trusted || !forgotten.has(item))
            };
            self.read_again(&root, is_back).await;
        }
        Ok(())
    }

    /// The projects that the user trusts.
    pub(super) async fn trusted(&self) -> Vec<PathBuf> {
        let store = self.shared.trust.clone();
        let reading = tokio::task::spawn_blocking(move || store.projects());
        reading.await.unwrap_or_default()
    }

    async fn store<T: Send + 'static>(
        &self,
        change: impl FnOnce(&TrustStore) -> io::Result<T> + Send + 'static,
    ) -> Result<T> {
        let store = self.shared.trust.clone();
        let stored = tokio::task::spawn_blocking(move || {
            change(&store).map_err(|error| disk::fault(store.path(), &error))
        });
        stored.await.unwrap_or_else(|_| Err(Kind::Internal.into()))
    }

    /// Reads the project of this real path again, and waits for a while until it is as it must be.
    async fn read_again(&self, root: &Path, is_read: impl Fn(&ProjectDefinitions) -> bool) {
        let of_root = |definitions: &Definitions| {
            definitions.project.clone().filter(|project| project.root == root)
        };
        for watched in self.lock().watchers.values() {
            if of_root(&watched.watcher.snapshot()).is_some() {
                watched.watcher.reload();
            }
        }
        let reading = async {
            loop {
                let changed = self.shared.changed.notified();
                let all: Vec<_> = {
                    let known = self.lock();
                    known.watchers.values().map(|watched| watched.watcher.snapshot()).collect()
                };
                if all.iter().filter_map(|it| of_root(it)).all(|project| is_read(&project)) {
                    return;
                }
                changed.await;
            }
        };
        if tokio::time::timeout(PATIENCE, reading).await.is_err() {
            tracing::info!("what a project's trust changes is read later");
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.shared.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl DefinitionSource for DefinitionRegistry {
    async fn load(&self, project: Option<&Path>) -> Arc<Definitions> {
        self.load(project.map(Path::to_owned)).await
    }

    fn current(&self, project: Option<&Path>) -> Arc<Definitions> {
        self.current(project)
    }
}

/// Tells subscribers of a change. The watcher's thread does not keep the Manager.
fn reporter(
    project: Option<PathBuf>,
    hub: &Arc<Hub>,
    bell: &Arc<Notify>,
) -> impl Fn(Arc<Definitions>) + Send + use<> {
    let (hub, bell) = (Arc::downgrade(hub), Arc::clone(bell));
    move |_| {
        bell.notify_waiters();
        if let Some(hub) = Weak::upgrade(&hub) {
            hub.tell(&Event::DefinitionsChanged { project: project.clone() });
            hub.tell(&Event::AgentKindsChanged);
        }
    }
}
