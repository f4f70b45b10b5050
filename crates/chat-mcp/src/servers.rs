//! Owns all servers of a run: reads which there are, starts those that are needed, and offers their tools.

mod accounts;
mod adding;
mod cache;
mod context;
mod entry;
mod known;
mod reading;
mod source;
mod status;
mod trusted;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chat_core::settings::Folders;
use chat_definitions::{Digest, TrustStore};
use chat_sandbox::Preference;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::{JoinSet, spawn_blocking};

use self::entry::Entry;
use self::known::Known;
use self::reading::{Read, Reader};
use crate::config::{Change, ConfigFile, McpConfig, PathBase, Server, StartSummary, WriteError};
use crate::connection::StartFault;
use crate::keys::Keys;
use crate::tools::Approved;

pub use self::adding::{AddError, NewServer};
pub use self::status::{ServerStatus, ToolStatus};

/// How long a server may take to start when somebody tests it or calls one of its tools.
const START: Duration = Duration::from_secs(90);

/// Which server is meant.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ServerKey {
    /// The real path of the project that brings it; none if it is the user's.
    pub project: Option<PathBuf>,
    /// Its name.
    pub name: String,
}

impl ServerKey {
    /// A server of the user's.
    pub fn of_user(name: impl Into<String>) -> Self {
        Self { project: None, name: name.into() }
    }
}

/// The servers of a project, for the question whether to trust them.
#[derive(Clone, Debug)]
pub struct ProjectServers {
    /// The project's real path.
    pub root: PathBuf,
    /// What its file says.
    pub config: McpConfig,
    /// What each would start, in the order of the file, with whether the user trusts it.
    pub starts: Vec<(StartSummary, bool)>,
    /// The names of those that are not used: the user's file has their names, or cannot be read.
    pub taken: BTreeSet<String>,
}

impl ProjectServers {
    /// The servers about which the user is asked, in the order of the file: those that would be used if they were
    /// trusted.
    pub fn asked(&self) -> impl Iterator<Item = (&Server, &StartSummary)> {
        let servers = self.config.servers.iter().zip(&self.starts);
        let is_asked = |(server, (_, trusted)): &(&Server, &(_, bool))| {
            !*trusted && !self.taken.contains(&server.name)
        };
        servers.filter(is_asked).map(|(server, (start, _))| (server, start))
    }

    /// Whether there is a server that would be used if it were trusted.
    pub fn has_untrusted(&self) -> bool {
        self.asked().next().is_some()
    }

    /// The hashes of those that are trusted once the user trusts what was asked.
    fn trusted_then(&self) -> BTreeSet<Digest> {
        let servers = self.config.servers.iter().zip(&self.starts);
        let before = servers.filter(|(_, (_, trusted))| *trusted).map(|(server, _)| server);
        before.chain(self.asked().map(|(server, _)| server)).map(Server::digest).collect()
    }
}

/// Where servers are described, and what they run with.
#[derive(Clone, Debug)]
pub struct ServersOptions {
    /// Natter's folders.
    pub folders: Folders,
    /// The user's home.
    pub home: PathBuf,
    /// The engine's runtime, in which servers are served.
    pub runtime: Handle,
    /// What confines those that run in the sandbox.
    pub sandbox: Preference,
}

impl ServersOptions {
    /// The servers of these folders and of this user, confined as well as this computer can.
    pub fn new(folders: Folders, runtime: Handle) -> Self {
        let home = Folders::home().unwrap_or_else(|| PathBuf::from("/"));
        Self { folders, home, runtime, sandbox: Preference::Best }
    }
}

/// All servers of a run. Cheap to clone; the last one that is dropped ends them.
#[derive(Clone, Debug)]
pub struct Servers(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    file: ConfigFile,
    options: ServersOptions,
    keys: Keys,
    trust: TrustStore,
    approved: Approved,
    known: Mutex<Known>,
    changes: Arc<watch::Sender<()>>,
    /// Held from when the files are read until that is taken over: what is read later counts.
    turn: Arc<tokio::sync::Mutex<()>>,
    /// The projects whose files were asked for.
    looked: Mutex<BTreeSet<PathBuf>>,
    /// What goes on by itself: reading, and the ends of servers.
    tasks: Mutex<JoinSet<()>>,
}

impl Servers {
    /// The servers of these folders. Nothing is read or started before it is needed.
    pub fn new(options: ServersOptions) -> Self {
        let (config, state) = (&options.folders.config, &options.folders.state);
        let (changes, _) = watch::channel(());
        Self(Arc::new(Inner {
            file: ConfigFile::new(config.join("mcp.json")),
            keys: Keys::default(),
            trust: TrustStore::new(state.join("mcp-trust.json")),
            approved: Approved::new(state.join("mcp-approved.json")),
            known: Mutex::default(),
            changes: Arc::new(changes),
            turn: Arc::default(),
            looked: Mutex::default(),
            tasks: Mutex::default(),
            options,
        }))
    }

    /// The user's file of servers.
    pub fn file(&self) -> &ConfigFile {
        &self.0.file
    }

    /// The secrets of servers.
    pub fn keys(&self) -> &Keys {
        &self.0.keys
    }

    /// Told whenever the servers, their states or their tools change.
    pub fn changes(&self) -> watch::Receiver<()> {
        self.0.changes.subscribe()
    }

    /// Reads the user's file, and that of a project, and takes over what changed in them.
    pub async fn refresh(&self, project: Option<&Path>) {
        let _turn = self.0.turn.lock().await;
        self.refresh_in_turn(project).await;
    }

    async fn refresh_in_turn(&self, project: Option<&Path>) {
        if let Some(read) = self.0.reader().read(project.map(Path::to_owned)).await {
            self.take(read);
        }
    }

    /// Reads the user's file, and that of a project, if nobody did yet. Waits for nothing.
    pub fn look(&self, project: Option<&Path>) {
        let project = project.map(Path::to_owned);
        let is_new = {
            let mut looked = self.0.looked.lock().unwrap_or_else(PoisonError::into_inner);
            looked.insert(project.clone().unwrap_or_default())
        };
        if is_new {
            let (turn, reader) = (Arc::clone(&self.0.turn), self.0.reader());
            let inner = Arc::downgrade(&self.0);
            self.0.go_on(async move {
                let _turn = turn.lock().await;
                let read = reader.read(project).await;
                if let (Some(read), Some(inner)) = (read, inner.upgrade()) {
                    Self(inner).take(read);
                }
            });
        }
    }

    /// Changes the user's file, and takes over what it says then. The user is signed out of a server that is removed or
    /// gets another address.
    ///
    /// # Errors
    /// See [`WriteError`]; the file is as it was.
    pub async fn change(&self, change: Change) -> Result<(), WriteError> {
        let _turn = self.0.turn.lock().await;
        // The lock must not be held while the file is read.
        let known = self.lock().version();
        let version = if let Some(version) = known {
            version
        } else {
            self.refresh_in_turn(None).await;
            self.lock().version().ok_or(WriteError::Changed)?
        };
        self.sign_out_before(&change).await?;
        let (file, this) = (self.0.file.clone(), self.clone());
        let changing = spawn_blocking(move || {
            let changed = file.change(version, &change);
            if changed.is_ok() {
                this.rename_account(&change);
            }
            changed
        });
        let changed =
            changing.await.map_err(|error| WriteError::Io(std::io::Error::other(error)))?;
        let (config, version) = changed?;
        self.take(Read { config, version, of_project: None });
        Ok(())
    }

    /// The user's servers as the file has them, with what is wrong with it. While it cannot be read, those that it had.
    pub fn config(&self) -> McpConfig {
        self.lock().config().clone()
    }

    /// The servers that are used, the user's first, with how they are.
    pub fn list(&self) -> Vec<ServerStatus> {
        let entries = self.lock().entries();
        entries.iter().map(Entry::status).collect()
    }

    /// How a server is, as far as that is known; none if it is not used. Waits for nothing.
    pub fn status(&self, key: &ServerKey) -> Option<ServerStatus> {
        let entry = self.lock().entry(key)?;
        Some(entry.status())
    }

    /// The same once its tools were looked at, if it has listed them in this run or an earlier one.
    pub async fn status_with_tools(&self, key: &ServerKey) -> Option<ServerStatus> {
        let entry = self.lock().entry(key)?;
        drop(entry.tools().await);
        Some(entry.status())
    }

    /// Starts a server if it does not run, as its file has it now, and waits until it does.
    ///
    /// # Errors
    /// Why it does not run.
    pub async fn start(&self, key: &ServerKey) -> Option<Result<(), StartFault>> {
        self.refresh(key.project.as_deref()).await;
        let entry = self.lock().entry(key)?;
        Some(entry.connection().ready(START).await.map(drop))
    }

    /// Ends a server if it runs, and starts it.
    pub fn restart(&self, key: &ServerKey) {
        if let Some(entry) = self.lock().entry(key) {
            entry.connection().restart();
        }
    }

    /// Ends a server. It starts again when it is needed.
    pub async fn stop(&self, key: &ServerKey) {
        let entry = self.lock().entry(key);
        if let Some(entry) = entry {
            entry.connection().stop().await;
        }
    }

    /// The file into which a server's standard error goes, which need not exist.
    pub fn log(&self, key: &ServerKey) -> PathBuf {
        self.0.log(key)
    }

    /// The servers of a project, as its file has them now.
    pub async fn project(&self, root: &Path) -> ProjectServers {
        self.refresh(Some(root)).await;
        let base = self.0.base(Some(root));
        let (config, trusted, taken) = {
            let known = self.lock();
            let (config, trusted) = known.project(root);
            let names = config.servers.iter().map(|server| server.name.clone());
            let taken = names.filter(|name| !known.is_free(name)).collect();
            (config, trusted, taken)
        };
        let servers = config.servers.clone();
        let reading = spawn_blocking(move || {
            let start = |server: &Server| {
                (server.start_summary(&base).resolved(&base), trusted.contains(&server.digest()))
            };
            servers.iter().map(start).collect()
        });
        let starts = reading.await.unwrap_or_default();
        ProjectServers { root: root.to_owned(), config, starts, taken }
    }

    /// Trusts those servers of a project about which the user was asked, exactly as they were shown, besides those that
    /// are trusted already. Or trusts none any more.
    ///
    /// # Errors
    /// It cannot be stored; nothing more is trusted then.
    pub async fn trust(&self, shown: &ProjectServers, is_trusted: bool) -> std::io::Result<()> {
        let digests: BTreeSet<Digest> =
            if is_trusted { shown.trusted_then() } else { BTreeSet::new() };
        let (trust, root) = (self.0.trust.clone(), shown.root.clone());
        let storing = spawn_blocking(move || trust.trust_hashes(&root, &digests));
        storing.await.map_err(std::io::Error::other)??;
        self.refresh(Some(&shown.root)).await;
        Ok(())
    }

    fn take(&self, Read { config, version, of_project }: Read) {
        let begin = |key: ServerKey, server, prefix: &str, replaced: Option<&Arc<Entry>>| {
            Entry::new(&self.0, key, server, prefix, replaced)
        };
        let gone = self.lock().take(config, version, of_project, begin);
        if gone.is_some() {
            self.0.changes.send_replace(());
        }
        // What is no longer used ends outside of the lock, in the way of the protocol.
        for entry in gone.into_iter().flatten() {
            self.0.go_on(async move { entry.connection().stop().await });
        }
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn reader(&self) -> Reader {
        Reader { file: self.file.clone(), trust: self.trust.clone() }
    }

    /// Does something that nobody waits for, until the servers are dropped.
    fn go_on(&self, work: impl Future<Output = ()> + Send + 'static) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        while tasks.try_join_next().is_some() {}
        tasks.spawn_on(work, &self.options.runtime);
    }

    /// Waits until all of that is done.
    async fn settle(&self) {
        let mut tasks = {
            let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *tasks)
        };
        while tasks.join_next().await.is_some() {}
    }

    fn base(&self, project: Option<&Path>) -> PathBase {
        PathBase { home: self.options.home.clone(), project: project.map(Path::to_owned) }
    }

    fn log(&self, key: &ServerKey) -> PathBuf {
        self.options.folders.state.join("mcp").join(format!("{}.log", file_name(key)))
    }

    fn account(&self, key: &ServerKey) -> PathBuf {
        self.options.folders.state.join("mcp").join(format!("{}.account.json", file_name(key)))
    }

    fn cache(&self, key: &ServerKey) -> PathBuf {
        self.options.folders.state.join("mcp").join(format!("{}.tools.json", file_name(key)))
    }
}

/// A name for a server's files, which no other server has.
fn file_name(key: &ServerKey) -> String {
    match &key.project {
        None => key.name.clone(),
        Some(project) => {
            let of_project = Digest::of([project.as_os_str().as_encoded_bytes()]).to_string();
            format!("{}~{}", key.name, &of_project[..16])
        }
    }
}
