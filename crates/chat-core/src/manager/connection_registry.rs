//! Keeps the state, the models and the client of each connection.

mod clients;
mod models;
mod questions;
mod refresh;
mod server_models;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

use self::questions::Questions;
pub use self::server_models::Pull;
use crate::client::{Client, ModelInfo, RequestSlots, Timeouts};
use crate::event::{ConnectionState, Health, Hub};
use crate::message::ModelRef;
use crate::models::{CONNECTION, is_named_like_engine};
use crate::settings::{Connection, ConnectionKind, KeySource, KeyStore, Settings};

/// All connections, configured and found.
pub(super) struct ConnectionRegistry {
    hub: Arc<Hub>,
    timeouts: Timeouts,
    pub keys: KeyStore,
    /// Natter's own engine, which is there whatever the settings say.
    built_in: Arc<dyn Client>,
    runtime: tokio::runtime::Handle,
    known: Mutex<Known>,
    /// Where requests wait for their connections.
    slots: RequestSlots,
    /// The questions to servers that are open.
    open: watch::Sender<Questions>,
}

#[derive(Default)]
struct Known {
    settings: Arc<Settings>,
    entries: Vec<Entry>,
    /// The model that was used last, from the newest chat.
    last_used: Option<ModelRef>,
    details: HashMap<ModelRef, ModelInfo>,
    /// The models whose windows were asked for: once is enough where the server does not know.
    windows_asked: HashSet<ModelRef>,
}

#[derive(Clone)]
struct Entry {
    connection: Connection,
    discovered: bool,
    built_in: bool,
    health: Health,
    client: Option<Arc<dyn Client>>,
    models: Vec<ModelInfo>,
}

impl Entry {
    fn new(connection: Connection, discovered: bool) -> Self {
        let (health, client, models) = (Health::Checking, None, Vec::new());
        Self { connection, discovered, built_in: false, health, client, models }
    }

    fn built_in(client: &Arc<dyn Client>, models: Vec<ModelInfo>) -> Self {
        let connection = Connection {
            name: CONNECTION.to_owned(),
            kind: Some(ConnectionKind::OpenAi),
            url: String::new(),
            key: KeySource::None,
            models: Vec::new(),
            requests: None,
            ..Connection::default()
        };
        let client = Some(Arc::clone(client));
        Self { built_in: true, client, models, ..Self::new(connection, false) }
    }
}

impl ConnectionRegistry {
    pub(super) fn new(
        hub: Arc<Hub>,
        timeouts: Timeouts,
        settings: Arc<Settings>,
        built_in: Arc<dyn Client>,
        own_models: Vec<ModelInfo>,
    ) -> Arc<Self> {
        let connections = Self {
            built_in,
            hub,
            timeouts,
            keys: KeyStore::default(),
            runtime: tokio::runtime::Handle::current(),
            known: Mutex::default(),
            slots: RequestSlots::default(),
            open: watch::Sender::default(),
        };
        connections.lock().entries.push(Entry::built_in(&connections.built_in, own_models));
        connections.take_settings(settings);
        Arc::new(connections)
    }

    /// Adds a connection with this client: for tests.
    #[cfg(test)]
    pub(super) fn add_scripted(&self, name: &str, client: Arc<dyn Client>) {
        let connection = Connection {
            name: name.to_owned(),
            kind: Some(ConnectionKind::OpenAi),
            url: format!("http://{name}.invalid"),
            key: KeySource::None,
            models: Vec::new(),
            requests: None,
            ..Connection::default()
        };
        let entry = Entry { client: Some(client), ..Entry::new(connection, true) };
        self.lock().entries.push(entry);
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes changed settings: what is known of an unchanged connection stays.
    pub(super) fn take_settings(&self, settings: Arc<Settings>) {
        self.take_connections(&settings);
        self.slots.take_settings(settings);
    }

    fn take_connections(&self, settings: &Arc<Settings>) {
        let mut known = self.lock();
        let old = std::mem::take(&mut known.entries);
        let before: Vec<_> = old.iter().map(|entry| entry.connection.clone()).collect();
        // Messages for the model on this computer would go to that server.
        let usable = settings.connections.iter().filter(|connection| {
            let is_reserved = is_named_like_engine(&connection.name);
            if is_reserved {
                tracing::warn!(
                    "the connection “{}” is ignored: this is the name of the built-in engine",
                    connection.name
                );
            }
            !is_reserved
        });
        let configured = usable.map(|connection| {
            let is_same =
                |entry: &&Entry| entry.connection.is_same_server(connection) && !entry.discovered;
            let entry = old.iter().find(is_same).cloned();
            let entry = entry.unwrap_or_else(|| Entry::new(connection.clone(), false));
            Entry { connection: connection.clone(), ..entry }
        });
        let mut entries: Vec<_> = configured.collect();
        let mut own = None;
        for entry in old.into_iter().filter(|entry| entry.discovered || entry.built_in) {
            if entry.built_in {
                own = Some(entry);
                continue;
            }
            let taken = |other: &Entry| {
                other.connection.name == entry.connection.name
                    || same_address(&other.connection.url, &entry.connection.url)
            };
            if !entries.iter().any(taken) {
                entries.push(entry);
            }
        }
        entries.push(own.unwrap_or_else(|| Entry::built_in(&self.built_in, Vec::new())));
        // What is known of a changed connection's models may be another server's.
        known.details.retain(|model, _| {
            let of = |entry: &&Entry| entry.connection.name == model.connection;
            let was = before.iter().find(|connection| connection.name == model.connection);
            match (was, entries.iter().find(of)) {
                (Some(was), Some(entry)) => was.is_same_server(&entry.connection),
                (was, entry) => was.is_none() && entry.is_none(),
            }
        });
        known.entries = entries;
        known.settings = Arc::clone(settings);
    }

    pub(super) fn set_last_used(&self, model: Option<ModelRef>) {
        self.lock().last_used = model;
    }

    fn entry(&self, name: &str) -> Option<Entry> {
        self.lock().entries.iter().find(|entry| entry.connection.name == name).cloned()
    }

    pub(super) fn states(&self) -> Vec<ConnectionState> {
        let known = self.lock();
        // Natter's own engine is a connection as soon as it has a model.
        let shown =
            known.entries.iter().filter(|entry| !entry.built_in || !entry.models.is_empty());
        let states = shown.map(|entry| ConnectionState {
            connection: entry.connection.clone(),
            discovered: entry.discovered,
            built_in: entry.built_in,
            health: entry.health.clone(),
        });
        states.collect()
    }
}

/// Whether two addresses are one: `localhost` is this machine, and a path does not matter.
fn same_address(a: &str, b: &str) -> bool {
    let host = |url: &str| {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = rest.split('/').next().unwrap_or_default().to_ascii_lowercase();
        host.replace("localhost", "127.0.0.1").replace("[::1]", "127.0.0.1")
    };
    host(a) == host(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_server_under_two_names_is_one() {
        assert!(same_address("http://localhost:11434", "http://127.0.0.1:11434/v1"));
        assert!(!same_address("http://127.0.0.1:8000", "http://127.0.0.1:8080"));
    }
}
