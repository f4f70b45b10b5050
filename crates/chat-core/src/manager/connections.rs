//! The connections: how each is, which models it has, and its client.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use async_trait::async_trait;
use tokio::sync::watch;

use super::TestReport;
use crate::client::{
    self, Capabilities, Client, ModelInfo, Probe, Timeouts, detect_kind, detect_program,
    find_local, guess_kind,
};
use crate::error::{Kind, Result};
use crate::event::{ConnectionState, Event, Health, Hub, ModelEntry};
use crate::message::ModelRef;
use crate::session::Clients;
use crate::settings::{Connection, ConnectionKind, Key, KeyStore, ModelUsage, Settings};

/// All connections, configured and found.
pub(super) struct Connections {
    hub: Arc<Hub>,
    timeouts: Timeouts,
    pub keys: KeyStore,
    runtime: tokio::runtime::Handle,
    known: Mutex<Known>,
    /// How many questions to servers are open: zero means that all is known.
    open: watch::Sender<usize>,
}

#[derive(Default)]
struct Known {
    settings: Arc<Settings>,
    entries: Vec<Entry>,
    /// The model that was used last, from the newest chat.
    last_used: Option<ModelRef>,
    details: HashMap<ModelRef, ModelInfo>,
}

#[derive(Clone)]
struct Entry {
    connection: Connection,
    found: bool,
    health: Health,
    client: Option<Arc<dyn Client>>,
    models: Vec<ModelInfo>,
}

impl Entry {
    fn new(connection: Connection, found: bool) -> Self {
        Self { connection, found, health: Health::Checking, client: None, models: Vec::new() }
    }
}

impl Connections {
    pub(super) fn new(hub: Arc<Hub>, timeouts: Timeouts, settings: Arc<Settings>) -> Arc<Self> {
        let connections = Self {
            hub,
            timeouts,
            keys: KeyStore::default(),
            runtime: tokio::runtime::Handle::current(),
            known: Mutex::default(),
            open: watch::Sender::new(0),
        };
        connections.take_settings(settings);
        Arc::new(connections)
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes changed settings: what is known of an unchanged connection stays.
    pub(super) fn take_settings(&self, settings: Arc<Settings>) {
        let mut known = self.lock();
        let old = std::mem::take(&mut known.entries);
        let before: Vec<_> = old.iter().map(|entry| entry.connection.clone()).collect();
        let configured = settings.connections.iter().map(|connection| {
            let same = old.iter().find(|entry| entry.connection == *connection && !entry.found);
            same.cloned().unwrap_or_else(|| Entry::new(connection.clone(), false))
        });
        let mut entries: Vec<_> = configured.collect();
        for entry in old.into_iter().filter(|entry| entry.found) {
            let taken = |other: &Entry| {
                other.connection.name == entry.connection.name
                    || same_address(&other.connection.url, &entry.connection.url)
            };
            if !entries.iter().any(taken) {
                entries.push(entry);
            }
        }
        // What is known of a changed connection's models may be another server's.
        known.details.retain(|model, _| {
            let of = |entry: &&Entry| entry.connection.name == model.connection;
            let was = before.iter().find(|connection| connection.name == model.connection);
            was == entries.iter().find(of).map(|entry| &entry.connection)
        });
        known.entries = entries;
        known.settings = settings;
    }

    pub(super) fn set_last_used(&self, model: Option<ModelRef>) {
        self.lock().last_used = model;
    }

    /// Asks all servers for their models, and looks for local ones.
    pub(super) fn refresh(self: &Arc<Self>) {
        let (names, look) = {
            let mut known = self.lock();
            for entry in &mut known.entries {
                if matches!(entry.health, Health::Failed(_)) {
                    entry.health = Health::Checking;
                }
            }
            let names: Vec<_> =
                known.entries.iter().map(|entry| entry.connection.name.clone()).collect();
            (names, known.settings.chat.find_local_servers)
        };
        for name in names {
            self.ask(name);
        }
        if look {
            self.spawn_question(|this| async move { this.look_for_local().await });
        }
        self.hub.tell(&Event::ConnectionsChanged);
    }

    /// Asks those that failed once more, and looks for local ones; tells only what comes of it.
    pub(super) fn look_out(self: &Arc<Self>) {
        let (failed, look) = {
            let known = self.lock();
            let failed = known.entries.iter().filter(|e| matches!(e.health, Health::Failed(_)));
            let names: Vec<_> = failed.map(|entry| entry.connection.name.clone()).collect();
            (names, known.settings.chat.find_local_servers)
        };
        for name in failed {
            self.ask(name);
        }
        if look {
            self.spawn_question(|this| async move { this.look_for_local().await });
        }
    }

    /// Asks one server for its models.
    pub(super) fn ask(self: &Arc<Self>, name: String) {
        self.spawn_question(move |this| async move { this.check(&name).await });
    }

    fn spawn_question<F: Future<Output = ()> + Send + 'static>(
        self: &Arc<Self>,
        question: impl FnOnce(Arc<Self>) -> F,
    ) {
        self.open.send_modify(|open| *open += 1);
        let question = question(Arc::clone(self));
        let this = Arc::clone(self);
        self.runtime.spawn(async move {
            // A task of its own, so that the count goes down whatever becomes of it.
            let _ = tokio::spawn(question).await;
            this.open.send_modify(|open| *open -= 1);
        });
    }

    async fn check(&self, name: &str) {
        let Some(asked) = self.entry(name).map(|entry| entry.connection) else { return };
        let outcome = async { self.client_of(name).await?.models().await }.await;
        {
            let mut known = self.lock();
            let entry = known.entries.iter_mut().find(|entry| entry.connection == asked);
            // It may have been changed or removed meanwhile.
            let Some(entry) = entry else { return };
            match outcome {
                Ok(models) => {
                    entry.health = Health::Ready { models: models.len() };
                    entry.models = models;
                }
                Err(error) => {
                    entry.client = None;
                    entry.health = Health::Failed(error.on(name));
                    entry.models.clear();
                }
            }
        }
        self.hub.tell(&Event::ConnectionsChanged);
        self.hub.tell(&Event::ModelsChanged);
    }

    async fn look_for_local(self: &Arc<Self>) {
        let host = std::env::var("OLLAMA_HOST").ok();
        let mut candidates = Probe::usual(host.as_deref()).candidates;
        {
            let known = self.lock();
            candidates.retain(|candidate| {
                let known = known.entries.iter().filter(|entry| !entry.found);
                let taken = |entry: &Entry| same_address(&entry.connection.url, &candidate.url);
                !known.into_iter().any(taken)
            });
        }
        let found = find_local(&Probe { candidates }).await;
        let names: Vec<_> = {
            let mut known = self.lock();
            known.entries.retain(|entry| {
                !entry.found || found.iter().any(|found| found.connection == entry.connection)
            });
            let mut names = Vec::new();
            for found in found {
                let name = &found.connection.name;
                if !known.entries.iter().any(|entry| entry.connection.name == *name) {
                    names.push(name.clone());
                    known.entries.push(Entry::new(found.connection, true));
                }
            }
            names
        };
        for name in names {
            self.ask(name);
        }
        self.hub.tell(&Event::ConnectionsChanged);
        self.hub.tell(&Event::ModelsChanged);
    }

    /// Waits until no question is open.
    pub(super) async fn settled(&self) {
        let mut open = self.open.subscribe();
        // The sender lives as long as we do.
        let _ = open.wait_for(|open| *open == 0).await;
    }

    fn entry(&self, name: &str) -> Option<Entry> {
        self.lock().entries.iter().find(|entry| entry.connection.name == name).cloned()
    }

    async fn client_of(&self, name: &str) -> Result<Arc<dyn Client>> {
        let missing = || Kind::ConnectionMissing { name: name.to_owned() };
        let entry = self.entry(name).ok_or_else(missing)?;
        if let Some(client) = entry.client {
            return Ok(client);
        }
        let connection = entry.connection;
        let key = self.keys.get(&connection).await?;
        let kind = self.kind_of(&connection, key.as_ref()).await?;
        let client = client::connect(&connection, kind, key, self.timeouts)?;
        let mut known = self.lock();
        if let Some(entry) = known.entries.iter_mut().find(|entry| entry.connection == connection) {
            entry.client = Some(Arc::clone(&client));
        }
        Ok(client)
    }

    async fn kind_of(&self, connection: &Connection, key: Option<&Key>) -> Result<ConnectionKind> {
        match connection.kind.or_else(|| guess_kind(&connection.url)) {
            Some(kind) => Ok(kind),
            None => detect_kind(&connection.url, key, self.timeouts).await,
        }
    }

    /// Forgets a connection's client, so that the next request takes the key anew.
    pub(super) fn forget_client(&self, name: &str) {
        let mut known = self.lock();
        if let Some(entry) = known.entries.iter_mut().find(|entry| entry.connection.name == name) {
            entry.client = None;
            entry.health = Health::Checking;
        }
    }

    pub(super) async fn test(
        &self,
        connection: &Connection,
        key: Option<Key>,
    ) -> Result<TestReport> {
        let key = match key {
            Some(key) => Some(key),
            None => self.keys.get(connection).await?,
        };
        let began = Instant::now();
        let kind = match connection.kind {
            Some(kind) => kind,
            None => detect_kind(&connection.url, key.as_ref(), self.timeouts).await?,
        };
        let client = client::connect(connection, kind, key.clone(), self.timeouts)?;
        let models = client.models().await?.into_iter().map(|model| model.name).collect();
        let took = began.elapsed();
        let program = detect_program(&connection.url, kind, key.as_ref(), self.timeouts).await;
        Ok(TestReport { kind, program, models, took })
    }

    pub(super) fn states(&self) -> Vec<ConnectionState> {
        let known = self.lock();
        let states = known.entries.iter().map(|entry| ConnectionState {
            connection: entry.connection.clone(),
            found: entry.found,
            health: entry.health.clone(),
        });
        states.collect()
    }

    pub(super) fn models(&self) -> Vec<ModelEntry> {
        let known = self.lock();
        let models = known.entries.iter().flat_map(|entry| {
            entry.models.iter().map(|info| {
                let model = ModelRef::new(&entry.connection.name, &info.name);
                let info = known.details.get(&model).unwrap_or(info).clone();
                ModelEntry { model, info }
            })
        });
        models.collect()
    }

    pub(super) async fn capabilities(&self, model: &ModelRef) -> Result<Capabilities> {
        if let Some(info) = self.lock().details.get(model) {
            return Ok(info.capabilities);
        }
        let info = self.client_of(&model.connection).await?.model(&model.model).await?;
        let capabilities = info.capabilities;
        self.lock().details.insert(model.clone(), info);
        Ok(capabilities)
    }

    pub(super) async fn find_model(&self, name: &str) -> Result<ModelRef> {
        if let Some(exact) = self.model_of(name) {
            return Ok(exact);
        }
        self.settled().await;
        if let Some(exact) = self.model_of(name) {
            return Ok(exact);
        }
        let models = self.models();
        // Ollama's names may leave out their tag, and a path may be called by what is shown of it.
        let latest = format!("{name}:latest");
        let named = |wanted: &str| models.iter().find(|entry| entry.model.model == wanted);
        let shown = || models.iter().find(|entry| entry.model.display_name() == name);
        if let Some(entry) = named(name).or_else(|| named(&latest)).or_else(shown) {
            return Ok(entry.model.clone());
        }
        // Where no server could be asked, that is what the person must hear of.
        let failed = self.states().into_iter().find_map(|state| match state.health {
            Health::Failed(error) if models.is_empty() => Some(error),
            _ => None,
        });
        Err(failed.unwrap_or_else(|| Kind::ModelNotFound { model: name.to_owned() }.into()))
    }

    /// The model of a name that names its connection. A model that the connection lists may be
    /// called by what is shown of it.
    fn model_of(&self, name: &str) -> Option<ModelRef> {
        let (connection, model) = name.split_once('/')?;
        let entry = self.entry(connection)?;
        let exact = entry.models.iter().any(|info| info.name == model);
        let shown = entry.models.iter().find(|info| !exact && info.display_name() == model);
        Some(ModelRef::new(connection, shown.map_or(model, |info| &info.name)))
    }

    pub(super) fn default_model_now(&self) -> Option<ModelRef> {
        let known = self.lock();
        let there = |model: &ModelRef| {
            known.entries.iter().any(|entry| entry.connection.name == model.connection)
        };
        let chosen = known.settings.chat.model.clone().filter(there);
        let chosen = chosen.or_else(|| known.last_used.clone().filter(there));
        drop(known);
        chosen.or_else(|| {
            let mut models = self.models().into_iter();
            models
                .find(|entry| entry.info.capabilities.chat != Some(false))
                .map(|entry| entry.model)
        })
    }
}

#[async_trait]
impl Clients for Connections {
    async fn settle(&self, connection: Option<&str>) {
        let known = match connection {
            Some(connection) => self.has(connection),
            None => self.default_model().is_some(),
        };
        if !known {
            self.settled().await;
        }
    }

    fn has(&self, connection: &str) -> bool {
        self.entry(connection).is_some()
    }

    async fn client(&self, model: &ModelRef) -> Result<Arc<dyn Client>> {
        let client = self.client_of(&model.connection).await;
        client.map_err(|error| error.on(&model.connection))
    }

    fn forget_key(&self, connection: &str) {
        let mut known = self.lock();
        let entry = known.entries.iter_mut().find(|entry| entry.connection.name == connection);
        if let Some(entry) = entry {
            entry.client = None;
        }
    }

    fn default_model(&self) -> Option<ModelRef> {
        self.default_model_now()
    }

    fn usage(&self, model: &ModelRef) -> ModelUsage {
        self.lock().settings.models.get(&model.to_string()).cloned().unwrap_or_default()
    }

    fn longest_window(&self, model: &ModelRef) -> Option<u32> {
        let models = self.models().into_iter();
        models.filter(|entry| entry.model == *model).find_map(|entry| entry.info.context_length)
    }

    fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.lock().settings)
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
