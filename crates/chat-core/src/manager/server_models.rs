//! Manages the models that servers themselves have: fetches, removes and unloads them.

use std::sync::Arc;

use super::{Manager, Pull, Result};
use crate::client::LoadedModel;
use crate::message::ModelRef;

/// The models of servers that manage them over their protocol: Ollama's. From [`Manager::server_models`].
#[derive(Clone, Debug)]
pub struct ServerModels(pub(super) Manager);

impl ServerModels {
    /// The connections whose models can be managed, among those that have answered.
    pub fn connections(&self) -> Vec<String> {
        self.0.inner.connections.model_servers()
    }

    /// Has a server fetch a model, or go on with it. An error comes as a report, `Unsupported` where the
    /// server's models cannot be managed.
    pub fn pull(&self, model: &ModelRef) -> Pull {
        self.0.inner.connections.pull(model)
    }

    /// Deletes a model at its server.
    ///
    /// # Errors
    /// `ConnectionMissing`, `Unsupported`, `ModelNotFound`, and why the server cannot be asked.
    pub async fn remove(&self, model: &ModelRef) -> Result<()> {
        let (connections, model) = (Arc::clone(&self.0.inner.connections), model.clone());
        self.0.run(async move { connections.remove_model(&model).await }).await
    }

    /// The models in a server's memory.
    ///
    /// # Errors
    /// As [`remove`](Self::remove).
    pub async fn loaded(&self, connection: &str) -> Result<Vec<LoadedModel>> {
        let connections = Arc::clone(&self.0.inner.connections);
        let connection = connection.to_owned();
        self.0.run(async move { connections.loaded(&connection).await }).await
    }

    /// Has a server give up a model's memory.
    ///
    /// # Errors
    /// As [`remove`](Self::remove).
    pub async fn unload(&self, model: &ModelRef) -> Result<()> {
        let (connections, model) = (Arc::clone(&self.0.inner.connections), model.clone());
        self.0.run(async move { connections.unload(&model).await }).await
    }
}
