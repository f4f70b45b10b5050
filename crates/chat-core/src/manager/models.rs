//! Lists the available models and finds them by name.

use std::sync::Arc;

use super::{Manager, Result};
use crate::client::Capabilities;
use crate::event::ModelEntry;
use crate::message::{ModelRef, OptionName};

/// The models that can be talked to, of all connections. From [`Manager::models`].
#[derive(Clone, Debug)]
pub struct Models(pub(super) Manager);

impl Models {
    /// The models of all connections that answered, in the person's order of connections.
    pub fn list(&self) -> Vec<ModelEntry> {
        self.0.inner.connections.models()
    }

    /// What a model can do, as far as it is known: asks its server once.
    pub async fn capabilities(&self, model: &ModelRef) -> Result<Capabilities> {
        let (connections, model) = (Arc::clone(&self.0.inner.connections), model.clone());
        self.0.run(async move { connections.capabilities(&model).await }).await
    }

    /// The options that requests to a model can say.
    pub async fn options(&self, model: &ModelRef) -> Result<Vec<OptionName>> {
        let (connections, model) = (Arc::clone(&self.0.inner.connections), model.clone());
        self.0
            .run(async move {
                let client = connections.client_of(&model.connection).await?;
                Ok(OptionName::ALL.into_iter().filter(|it| client.takes(*it)).collect())
            })
            .await
    }

    /// Finds a model by what a person typed: `connection/model`, or a name alone, which means the
    /// first connection that has it. Waits for connections that are being asked.
    ///
    /// # Errors
    /// `ModelNotFound`, what keeps an installed model of this name from being used
    /// (`ModelFileMissing`, `ModelFile`), or the error of a connection that could not be asked.
    pub async fn find(&self, name: &str) -> Result<ModelRef> {
        self.0.inner.connections.find_model(name).await
    }
}
