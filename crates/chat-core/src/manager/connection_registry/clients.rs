//! Gives sessions the clients of the connections.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;

use super::ConnectionRegistry;
use super::refresh::with_typed;
use crate::client::{
    self, Capabilities, Client, ContextWindow, Lane, Price, Requester, detect_kind, detect_program,
    guess_kind,
};
use crate::error::{Kind, Result};
use crate::event::Health;
use crate::manager::TestReport;
use crate::message::{ModelRef, Options};
use crate::session::Clients;
use crate::settings::{Connection, ConnectionKind, Key, ModelUsage, Settings};

/// How long a request waits to hear how large its window is.
const PATIENCE: Duration = Duration::from_secs(5);

/// From how many tokens on a server is asked for its window: there is hardly a smaller one.
const WORTH_ASKING: u64 = 1_200;

impl ConnectionRegistry {
    pub(in crate::manager) async fn client_of(&self, name: &str) -> Result<Arc<dyn Client>> {
        let missing = || Kind::ConnectionMissing { name: name.to_owned() };
        let entry = self.entry(name).ok_or_else(missing)?;
        if let Some(client) = entry.client {
            return Ok(client);
        }
        let connection = entry.connection;
        let key = self.keys.get(&connection).await?;
        let known = self.keys.with_headers(&connection).await?;
        let kind = self.kind_of(&known, key.as_ref()).await?;
        let client = client::connect(&known, kind, key, self.timeouts)?;
        let mut known = self.lock();
        let mut entries = known.entries.iter_mut();
        if let Some(entry) = entries.find(|entry| entry.connection.is_same_server(&connection)) {
            entry.client = Some(Arc::clone(&client));
        }
        Ok(client)
    }

    async fn kind_of(&self, connection: &Connection, key: Option<&Key>) -> Result<ConnectionKind> {
        match connection.kind.or_else(|| guess_kind(&connection.url)) {
            Some(kind) => Ok(kind),
            None => detect_kind(connection, key, self.timeouts).await,
        }
    }

    /// Forgets a connection's client, so that the next request takes the key again.
    pub(in crate::manager) fn forget_client(&self, name: &str) {
        let mut known = self.lock();
        let mut entries = known.entries.iter_mut();
        if let Some(entry) = entries.find(|e| e.connection.name == name && !e.built_in) {
            entry.client = None;
            entry.health = Health::Checking;
        }
    }

    pub(in crate::manager) async fn test(
        &self,
        connection: &Connection,
        key: Option<Key>,
    ) -> Result<TestReport> {
        let key = match key {
            Some(key) => Some(key),
            None => self.keys.get(connection).await?,
        };
        let known = self.keys.with_headers(connection).await?;
        client::check(&known)?;
        let began = Instant::now();
        let kind = self.kind_of(&known, key.as_ref()).await?;
        let client = client::connect(&known, kind, key.clone(), self.timeouts)?;
        let models = with_typed(client.models().await?, connection);
        let models = models.into_iter().map(|model| model.name).collect();
        let took = began.elapsed();
        let program = detect_program(&known, kind, key.as_ref(), self.timeouts).await;
        Ok(TestReport { kind, program, models, took })
    }
}

#[async_trait]
impl Clients for ConnectionRegistry {
    async fn wait_until_known(&self, connection: Option<&str>) {
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

    async fn client(&self, model: &ModelRef, requester: Requester) -> Result<Arc<dyn Client>> {
        let client = self.client_of(&model.connection).await;
        let client = client.map_err(|error| error.on(&model.connection))?;
        Ok(self.slots.client(client, Lane::of(model), requester))
    }

    fn shown_changed(&self) {
        self.slots.settle_all();
    }

    fn forget_key(&self, connection: &str) {
        let mut known = self.lock();
        let mut entries = known.entries.iter_mut();
        let entry = entries.find(|e| e.connection.name == connection && !e.built_in);
        if let Some(entry) = entry {
            entry.client = None;
        }
    }

    fn default_model(&self) -> Option<ModelRef> {
        self.default_model_now()
    }

    async fn capabilities(&self, model: &ModelRef) -> Capabilities {
        ConnectionRegistry::capabilities(self, model).await.unwrap_or_default()
    }

    fn usage(&self, model: &ModelRef) -> ModelUsage {
        self.lock().settings.models.get(&model.to_string()).cloned().unwrap_or_default()
    }

    fn longest_window(&self, model: &ModelRef) -> Option<u32> {
        let models = self.models().into_iter();
        models.filter(|entry| entry.model == *model).find_map(|entry| entry.info.context_length)
    }

    async fn context_window(
        &self,
        model: &ModelRef,
        options: &Options,
        tokens: u64,
    ) -> ContextWindow {
        let Ok(client) = self.client_of(&model.connection).await else {
            return ContextWindow::default();
        };
        let context_window = client.context_window(&model.model, options, tokens).await;
        if context_window.now.is_some() {
            return context_window;
        }
        let known = || self.longest_window(model);
        let window = match known() {
            None if tokens >= WORTH_ASKING && self.lock().windows_asked.insert(model.clone()) => {
                let asked = ConnectionRegistry::capabilities(self, model);
                let _ = tokio::time::timeout(PATIENCE, asked).await;
                let details = self.lock().details.get(model).and_then(|info| info.context_length);
                details.or_else(known)
            }
            window => window,
        };
        ContextWindow { now: window, largest: window, ..context_window }
    }

    fn price(&self, model: &ModelRef) -> Option<Price> {
        let models = self.models().into_iter();
        models.filter(|entry| entry.model == *model).find_map(|entry| entry.info.price)
    }

    fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.lock().settings)
    }
}
