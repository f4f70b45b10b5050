//! One server that is used: its connection, and its tools as models get them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use chat_core::tool::ServerOffer;

use super::{Inner, START, ServerKey, ServerStatus, cache, file_name, status};
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
    /// The list from which the tools were made, and the tools.
    offer: Mutex<Option<(Arc<ToolList>, Arc<Offer>)>>,
    called: Arc<dyn Called>,
    /// Whether a request has waited for its tools.
    was_awaited: AtomicBool,
    /// What it has for the user, as far as it was asked.
    for_user: Mutex<Arc<ServerOffer>>,
}

impl Entry {
    /// A server that has not begun yet.
    pub(super) fn new(inner: &Inner, key: ServerKey, server: Server, prefix: &str) -> Arc<Self> {
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
        Arc::new_cyclic(|entry: &Weak<Self>| {
            let changed = {
                let entry = entry.clone();
                move || {
                    if let Some(entry) = entry.upgrade() {
                        entry.store();
                    }
                    changes.send_replace(());
                }
            };
            Self {
                connection: Connection::new(launcher.clone(), &runtime, changed),
                launcher,
                called: Arc::new(Caller { name: key.name.clone(), entry: entry.clone(), approved }),
                was_awaited: AtomicBool::new(false),
                for_user: Mutex::new(Arc::new(ServerOffer {
                    server: key.name.clone(),
                    ..ServerOffer::default()
                })),
                prefix: prefix.to_owned(),
                cached: OnceLock::new(),
                offer: Mutex::default(),
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
        let is_same = {
            let mut known = self.lock();
            let is_same = *known == *server;
            known.clone_from(server);
            is_same
        };
        if !is_same {
            // Which tools are switched off may be something else now.
            *self.offer.lock().unwrap_or_else(PoisonError::into_inner) = None;
        }
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
    pub(super) fn offer(&self) -> Option<Arc<Offer>> {
        let list = match self.connection.snapshot().tools {
            Some(list) => list,
            None => {
                let read = || cache::read(&self.cache, &self.launcher.server);
                self.cached.get_or_init(read).clone()?
            }
        };
        let mut known = self.offer.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, offer)) = &*known
            && Arc::ptr_eq(of, &list)
        {
            return Some(Arc::clone(offer));
        }
        let disabled = self.lock().config.options.disabled_tools.clone();
        let offer = Arc::new(Offer::of(
            &list,
            &self.called,
            (&self.prefix, self.key.project.as_deref()),
            |tool| !disabled.iter().any(|off| off == tool),
        ));
        *known = Some((list, Arc::clone(&offer)));
        Some(offer)
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

    pub(super) fn status(&self) -> ServerStatus {
        status::of(self, &self.connection.snapshot())
    }

    /// Keeps the tools for the next run.
    fn store(&self) {
        let Some(list) = self.connection.snapshot().tools else { return };
        let is_known = {
            let offer = self.offer.lock().unwrap_or_else(PoisonError::into_inner);
            offer.as_ref().is_some_and(|(of, _)| Arc::ptr_eq(of, &list))
        };
        if is_known {
            return;
        }
        let (path, server) = (self.cache.clone(), self.launcher.server.clone());
        tokio::task::spawn_blocking(move || {
            if let Err(error) = cache::write(&path, &server, &list) {
                tracing::warn!(%error, "the tools of a server are not kept for the next start");
            }
        });
    }
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

    fn now(&self, tool: &str) -> Option<Arc<Definition>> {
        let offer = self.entry.upgrade()?.offer()?;
        let found = offer.on().find(|offered| offered.definition.tool == tool)?;
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
