//! One server that is used: its connection, and its tools as models get them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use chat_core::tool::ServerOffer;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::spawn_blocking;

use super::{Inner, START, ServerKey, ServerStatus, ToolStatus, cache, file_name, status};
use crate::client::{Client, Fault, ToolList};
use crate::config::Server;
use crate::connection::{Connection, Launcher, StartFault};
use crate::tools::{Approved, Called, Definition, Offer};

/// How long a call may take without a sign of life, if the file does not say.
const CALL: Duration = Duration::from_mins(1);

/// A server that is used.
#[derive(Debug)]
pub(super) struct Entry {
    key: ServerKey,
    /// As the file has it now. How it is started does not change.
    server: Mutex<Server>,
    prefix: String,
    launcher: Launcher,
    connection: Connection,
    /// Its tools when it last ran.
    cached: OnceLock<Option<Arc<ToolList>>>,
    cache: std::path::PathBuf,
    /// The list that is stored there, if this run stored one.
    stored: Mutex<Option<Arc<ToolList>>>,
    /// What was last made of its tools. Held for a moment only.
    made: Mutex<Option<Arc<MadeTools>>>,
    /// Held while that is made.
    making: Mutex<()>,
    /// Whether it is made for those who wait for nothing.
    is_making: AtomicBool,
    runtime: Handle,
    changes: Arc<watch::Sender<()>>,
    called: Arc<dyn Called>,
    /// Whether a request has waited for its tools.
    was_awaited: AtomicBool,
    /// What it has for the user, as far as it was asked.
    for_user: Mutex<Arc<ServerOffer>>,
}

/// What was made of a list of tools.
#[derive(Debug)]
pub(super) struct MadeTools {
    list: Arc<ToolList>,
    /// Those that were switched off, by their server's names.
    disabled: Vec<String>,
    /// The tools, as models get them.
    pub(super) offer: Arc<Offer>,
    /// The same for people.
    pub(super) shown: Arc<[ToolStatus]>,
}

impl Entry {
    /// A server that has not begun yet. It begins only once the one that it replaces has ended.
    pub(super) fn new(
        inner: &Inner,
        key: ServerKey,
        server: Server,
        prefix: &str,
        replaced: Option<&Arc<Self>>,
    ) -> Arc<Self> {
        let launcher = Launcher {
            server: server.clone(),
            base: inner.base(key.project.as_deref()),
            keys: inner.keys.clone(),
            sandbox: inner.options.sandbox,
            log: inner.log(&key),
            folder_name: format!("mcp-{}", file_name(&key)),
            account: inner.account(&key),
        };
        let (changes, runtime) = (Arc::clone(&inner.changes), inner.options.runtime.clone());
        let cache = inner.cache(&key);
        let approved = inner.approved.of(key.project.as_deref());
        let replaced = replaced.map(|replaced| replaced.connection.gone());
        Arc::new_cyclic(|entry: &Weak<Self>| {
            let changed = {
                let (entry, changes) = (entry.clone(), Arc::clone(&changes));
                move || {
                    if let Some(entry) = entry.upgrade() {
                        entry.store();
                    }
                    changes.send_replace(());
                }
            };
            Self {
                connection: Connection::new(launcher.clone(), &runtime, changed, replaced),
                launcher,
                called: Arc::new(Caller { name: key.name.clone(), entry: entry.clone(), approved }),
                was_awaited: AtomicBool::new(false),
                for_user: Mutex::new(Arc::new(ServerOffer {
                    server: key.name.clone(),
                    ..ServerOffer::default()
                })),
                prefix: prefix.to_owned(),
                cached: OnceLock::new(),
                stored: Mutex::default(),
                made: Mutex::default(),
                making: Mutex::default(),
                is_making: AtomicBool::new(false),
                runtime,
                changes,
                key,
                server: Mutex::new(server),
                cache,
            }
        })
    }

    /// Becomes this server, with tools of these names, if that is started in the same way: what runs goes on then. False,
    /// and no change, if another must begin in its place.
    pub(super) fn become_server(&self, server: &Server, prefix: &str) -> bool {
        if self.prefix != prefix || self.launcher.server.digest() != server.digest() {
            return false;
        }
        self.lock().clone_from(server);
        true
    }

    pub(super) fn key(&self) -> &ServerKey {
        &self.key
    }

    /// As the file has it now.
    pub(super) fn server(&self) -> Server {
        self.lock().clone()
    }

    fn lock(&self) -> MutexGuard<'_, Server> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How long a call may take without a sign of life.
    fn limit(&self) -> Duration {
        self.lock().config.options.time_limit.unwrap_or(CALL)
    }

    pub(super) fn launcher(&self) -> &Launcher {
        &self.launcher
    }

    pub(super) fn connection(&self) -> &Connection {
        &self.connection
    }

    /// Its tools, if they are known: as it lists them now, or when it last ran.
    pub(super) async fn tools(self: &Arc<Self>) -> Option<Arc<MadeTools>> {
        let (made, is_now) = self.made();
        if is_now {
            return made;
        }
        let this = Arc::clone(self);
        spawn_blocking(move || this.make()).await.ok().flatten()
    }

    /// Its tools as far as somebody looked at them. Waits for nothing: if they are others now, the changes tell when they are
    /// known.
    pub(super) fn known_tools(self: &Arc<Self>) -> Option<Arc<MadeTools>> {
        let (made, is_now) = self.made();
        if !is_now && !self.is_making.swap(true, Ordering::AcqRel) {
            let this = Arc::clone(self);
            self.runtime.spawn_blocking(move || {
                this.make();
                this.is_making.store(false, Ordering::Release);
                this.changes.send_replace(());
            });
        }
        made
    }

    /// The same as models get them.
    pub(super) fn offer(self: &Arc<Self>) -> Option<Arc<Offer>> {
        self.known_tools().map(|made| Arc::clone(&made.offer))
    }

    /// What was last made of its tools, and whether that is how they are now.
    fn made(&self) -> (Option<Arc<MadeTools>>, bool) {
        let made = lock(&self.made).clone();
        let list = self.connection.snapshot().tools.map(Some);
        let is_now = match (list.or_else(|| self.cached.get().cloned()), &made) {
            (Some(None), None) => true,
            (Some(Some(list)), Some(made)) => {
                Arc::ptr_eq(&list, &made.list) && made.disabled == self.disabled_tools()
            }
            _ => false,
        };
        (made, is_now)
    }

    /// Makes that. Blocks: what the last run knew is read, and each tool is looked at.
    fn make(&self) -> Option<Arc<MadeTools>> {
        let _making = lock(&self.making);
        let (made, is_now) = self.made();
        if is_now {
            return made;
        }
        let list = if let Some(list) = self.connection.snapshot().tools {
            list
        } else {
            let read = || cache::read(&self.cache, &self.launcher.server);
            self.cached.get_or_init(read).clone()?
        };
        let disabled = self.disabled_tools();
        let offer = Arc::new(Offer::of(
            &list,
            &self.called,
            (&self.prefix, self.key.project.as_deref()),
            |tool| !disabled.iter().any(|off| off == tool),
        ));
        let shown = status::tools(&offer);
        let made = Arc::new(MadeTools { list, disabled, offer, shown });
        *lock(&self.made) = Some(Arc::clone(&made));
        Some(made)
    }

    fn disabled_tools(&self) -> Vec<String> {
        self.lock().config.options.disabled_tools.clone()
    }

    pub(super) fn was_awaited(&self) -> bool {
        self.was_awaited.load(Ordering::Relaxed)
    }

    pub(super) fn set_awaited(&self) {
        self.was_awaited.store(true, Ordering::Relaxed);
    }

    /// What it has for the user, as far as it was asked.
    pub(super) fn for_user(&self) -> Arc<ServerOffer> {
        Arc::clone(&self.for_user.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set_for_user(&self, offer: Arc<ServerOffer>) {
        *self.for_user.lock().unwrap_or_else(PoisonError::into_inner) = offer;
    }

    /// How it is. Waits for nothing.
    pub(super) fn status(self: &Arc<Self>) -> ServerStatus {
        status::of(self, &self.connection.snapshot(), self.known_tools().as_deref())
    }

    /// Keeps the tools for the next run.
    fn store(&self) {
        let Some(list) = self.connection.snapshot().tools else { return };
        let before = lock(&self.stored).replace(Arc::clone(&list));
        if before.is_some_and(|before| Arc::ptr_eq(&before, &list)) {
            return;
        }
        let (path, server) = (self.cache.clone(), self.launcher.server.clone());
        spawn_blocking(move || {
            if let Err(error) = cache::write(&path, &server, &list) {
                tracing::warn!(%error, "the tools of a server are not kept for the next start");
            }
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reaches an entry from its tools, which do not keep it.
#[derive(Debug)]
struct Caller {
    name: String,
    entry: Weak<Entry>,
    approved: Approved,
}

#[async_trait]
impl Called for Caller {
    fn server(&self) -> &str {
        &self.name
    }

    async fn now(&self, tool: &str) -> Option<Arc<Definition>> {
        let made = self.entry.upgrade()?.tools().await?;
        let found = made.offer.on().find(|offered| offered.definition.tool == tool)?;
        Some(Arc::clone(&found.definition))
    }

    fn limit(&self) -> Duration {
        self.entry.upgrade().map_or(CALL, |entry| entry.limit())
    }

    fn approved(&self) -> &Approved {
        &self.approved
    }

    async fn ready(&self) -> Result<Client, StartFault> {
        let Some(entry) = self.entry.upgrade() else {
            return Err(StartFault::Client(Fault::Stopped));
        };
        entry.connection.ready(START).await
    }
}
