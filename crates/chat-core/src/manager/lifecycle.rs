//! Starts and ends the Manager.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, RwLock};
use std::time::Duration;

use chat_journal::Limits;
use chat_permission::path::PathEnvironment;
use chat_worktree::Worktrees;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::connection_registry::ConnectionRegistry;
use super::definition_registry::DefinitionRegistry;
use super::{Inner, Kind, Manager, Result, SessionServices, SettingsFile, StartOptions};
use crate::client::{BuiltIn, Client as _, EngineOptions};
use crate::event::{Event, Hub};
use crate::models::{self, CONNECTION, DownloadNews, Downloader, Library};
use crate::session::{Unsteerable, WaitingApprovals};
use crate::settings::Folders;
use crate::store::{Opened, Store};
use crate::tool::Journals;

/// How long the end of the program waits for what must be stored, where the store refuses it.
const LAST_WAIT: Duration = Duration::from_secs(5);

impl Manager {
    /// Asks connections that failed once more, and looks for local servers, without saying so.
    pub fn retry_connections(&self) {
        self.inner.connections.retry_failed();
    }

    /// Opens settings and store, ends replies that were interrupted, and begins to look for
    /// models. Fast: nothing of the network is waited for. Problems that let it run come as
    /// [`start_notices`](Self::start_notices).
    ///
    /// # Errors
    /// `DatabaseNewer`, `ReadOnly`, `DiskFull`, `Storage`.
    pub async fn start(options: StartOptions) -> Result<Self> {
        let folders = options.folders.clone();
        let library = Library::of(&folders);
        let opening = tokio::task::spawn_blocking(move || {
            let (file, settings, problem) = SettingsFile::load(&folders);
            Store::open(&folders).map(|opened| (opened, file, settings, problem))
        });
        let opened = opening.await.map_err(|_| Kind::Internal)?;
        let (Opened { store, notice, earlier }, file, settings, problem) = opened?;
        let mut notices: Vec<_> = earlier.into_iter().chain(notice).chain(problem).collect();
        if let Err(error) = store.recover().await {
            notices.push(error);
        }
        let hub = Arc::new(Hub::default());
        let settings = Arc::new(settings);
        let engine = EngineOptions::of(&options.folders, &settings.engine);
        let built_in = Arc::new(BuiltIn::new(library.clone(), engine, options.timeouts));
        // The list is at hand, and what is not on it is not begun with.
        let own = built_in.models().await.unwrap_or_default();
        let connections = ConnectionRegistry::new(
            Arc::clone(&hub),
            options.timeouts,
            settings,
            built_in as _,
            own,
        );
        let site = Arc::new(models::Hub::new(options.hub));
        let (told, asked) = (Arc::clone(&hub), Arc::clone(&connections));
        let downloads = Downloader::new(site, library.clone(), move |what| match what {
            DownloadNews::Downloads => told.tell(&Event::DownloadsChanged),
            DownloadNews::Library => {
                asked.ask(CONNECTION.to_owned());
                told.tell(&Event::ModelsChanged);
            }
        });
        let home = Folders::home();
        let path_environment = PathEnvironment { home: home.clone(), own: options.folders.all() };
        let worktrees = Worktrees::new(
            Worktrees::default_root(&options.folders.data),
            Worktrees::default_shadow(&options.folders.state),
        );
        let definitions = {
            let worktrees = worktrees.clone();
            let (hub, environment) = (Arc::clone(&hub), path_environment.clone());
            let (folders, agents) = (options.folders.clone(), options.agents.clone());
            let tools = options.tools.clone();
            let reading = tokio::task::spawn_blocking(move || {
                DefinitionRegistry::open(
                    hub,
                    &folders,
                    options.home,
                    &agents,
                    &tools,
                    environment,
                    worktrees,
                )
            });
            reading.await.map_err(|_| Kind::Internal)?
        };
        let shared = SessionServices {
            store,
            hub,
            asks: WaitingApprovals::default(),
            agents: RwLock::new(options.agents),
            definitions: Arc::new(definitions.clone()),
            tools: options.tools,
            tool_source: options.tool_source,
            path_environment,
            journals: Arc::new(Journals::new(
                options.folders.state.clone(),
                home,
                Limits::default(),
            )),
            worktrees,
            clients: Arc::clone(&connections) as _,
            settings_path: options.folders.settings(),
            teams: OnceLock::new(),
            unsteerable: Unsteerable::default(),
            better_titles: options.better_titles,
            tasks: TaskTracker::new(),
            runtime: tokio::runtime::Handle::current(),
        };
        let manager = Self {
            inner: Arc::new(Inner {
                shared: Arc::new(shared),
                connections,
                settings: Arc::new(file),
                changing: tokio::sync::Mutex::default(),
                services: options.services,
                library,
                downloads,
                definitions,
                cleared: Mutex::default(),
                sessions: Mutex::default(),
                deleting: tokio::sync::Mutex::default(),
                rows: Mutex::new(BTreeMap::new()),
                notices,
                closing: CancellationToken::new(),
            }),
        };
        manager.form_teams();
        manager.find_left_over_worktrees();
        manager.follow();
        manager.keep_backups();
        if options.discover {
            manager.connections().refresh();
        }
        manager.keep_trash();
        Ok(manager)
    }

    /// Stops everything, stores what had arrived, and waits until it is on disk.
    pub async fn shutdown(&self) {
        let this = self.clone();
        let ending = async move {
            this.inner.closing.cancel();
            this.inner.downloads.close().await;
            let sessions: Vec<_> = this.sessions_lock().values().cloned().collect();
            for session in &sessions {
                session.halt();
            }
            for session in &sessions {
                drop(session.halted().await);
            }
            let tasks = &this.inner.shared.tasks;
            tasks.close();
            if tokio::time::timeout(LAST_WAIT, tasks.wait()).await.is_err() {
                tracing::error!("the program ends before everything was stored");
            }
            if let Some(source) = &this.inner.shared.tool_source {
                source.close().await;
            }
            let store = this.inner.shared.store.clone();
            let flushed = store.flush().await;
            if let Err(error) = this.inner.shared.erase_temporary().await {
                tracing::error!(%error, "the changes of temporary chats are still recorded");
            }
            // Removing files blocks.
            drop(tokio::task::spawn_blocking(move || store.remove_temporary_files()).await);
            flushed
        };
        if let Err(error) = self.run(ending).await {
            tracing::error!(%error, "the store could not be flushed");
        }
    }
}
