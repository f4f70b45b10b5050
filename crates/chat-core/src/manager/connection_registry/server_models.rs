//! Manages the models of the servers that have such.

use std::sync::Arc;

use futures_util::StreamExt;
use tokio::sync::mpsc;

use super::ConnectionRegistry;
use crate::client::{Client, LoadedModel, ModelServer, PullStage, Pulled};
use crate::error::{Error, Feature, Kind, Result};
use crate::message::ModelRef;

/// Reports that wait to be read; the server reports several times a second.
const AHEAD: usize = 16;

/// A model that a server fetches. Dropping it stops that; what had arrived stays at the server, which goes
/// on from there when it is asked again.
#[derive(Debug)]
pub struct Pull {
    reports: mpsc::Receiver<Result<Pulled>>,
    task: tokio::task::AbortHandle,
}

impl Pull {
    /// The next report; none after the last one, which is an error or [`PullStage::Done`].
    pub async fn next(&mut self) -> Option<Result<Pulled>> {
        self.reports.recv().await
    }
}

impl Drop for Pull {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl ConnectionRegistry {
    pub(in crate::manager) fn pull(self: &Arc<Self>, model: &ModelRef) -> Pull {
        let (this, model) = (Arc::clone(self), model.clone());
        let (to, reports) = mpsc::channel(AHEAD);
        let task = self.runtime.spawn(async move {
            let outcome = async {
                let client = this.client_of(&model.connection).await?;
                let mut pulling = server_of(&*client)?.pull(&model.model).await?;
                while let Some(pulled) = pulling.next().await {
                    let pulled = pulled?;
                    if pulled.stage == PullStage::Done {
                        this.forget_details(&model);
                        this.ask(model.connection.clone());
                    }
                    if to.send(Ok(pulled)).await.is_err() {
                        break;
                    }
                }
                Ok(())
            };
            if let Err(error) = outcome.await {
                // Who does not listen any more need not hear it.
                let _ = to.send(Err(named(error, &model.connection))).await;
            }
        });
        Pull { reports, task: task.abort_handle() }
    }

    pub(in crate::manager) async fn remove_model(self: &Arc<Self>, model: &ModelRef) -> Result<()> {
        let client = self.client_of(&model.connection).await?;
        let removed = async { server_of(&*client)?.remove(&model.model).await };
        removed.await.map_err(|error| named(error, &model.connection))?;
        self.forget_details(model);
        self.ask(model.connection.clone());
        Ok(())
    }

    pub(in crate::manager) async fn loaded(&self, connection: &str) -> Result<Vec<LoadedModel>> {
        let client = self.client_of(connection).await?;
        let loaded = async { server_of(&*client)?.loaded().await };
        loaded.await.map_err(|error| named(error, connection))
    }

    pub(in crate::manager) async fn unload(&self, model: &ModelRef) -> Result<()> {
        let client = self.client_of(&model.connection).await?;
        let unloaded = async { server_of(&*client)?.unload(&model.model).await };
        unloaded.await.map_err(|error| named(error, &model.connection))
    }

    /// The connections whose models can be managed, as far as they are known.
    pub(in crate::manager) fn model_servers(&self) -> Vec<String> {
        let known = self.lock();
        let managed = known.entries.iter().filter(|entry| {
            entry.client.as_ref().is_some_and(|client| client.model_server().is_some())
        });
        managed.map(|entry| entry.connection.name.clone()).collect()
    }

    /// Forgets what was known of a model: there may be another one of its name.
    fn forget_details(&self, model: &ModelRef) {
        self.lock().details.remove(model);
    }
}

fn server_of(client: &dyn Client) -> Result<&dyn ModelServer> {
    let unsupported = || Error::new(Kind::Unsupported { feature: Feature::Models });
    client.model_server().ok_or_else(unsupported)
}

fn named(error: Error, connection: &str) -> Error {
    if error.connection.is_some() { error } else { error.on(connection) }
}
