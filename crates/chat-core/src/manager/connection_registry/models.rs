//! Lists the models of all connections, finds them by name, and picks the first one to use.

use super::ConnectionRegistry;
use crate::client::Capabilities;
use crate::error::{Kind, Result};
use crate::event::{Health, ModelEntry};
use crate::message::ModelRef;
use crate::models::{CONNECTION, display_name};

impl ConnectionRegistry {
    pub(in crate::manager) fn models(&self) -> Vec<ModelEntry> {
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

    pub(in crate::manager) async fn capabilities(&self, model: &ModelRef) -> Result<Capabilities> {
        if let Some(info) = self.lock().details.get(model) {
            return Ok(info.capabilities);
        }
        let info = self.client_of(&model.connection).await?.model(&model.model).await?;
        let capabilities = info.capabilities;
        self.lock().details.insert(model.clone(), info);
        Ok(capabilities)
    }

    pub(in crate::manager) async fn find_model(&self, name: &str) -> Result<ModelRef> {
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
        let shown = || models.iter().find(|entry| display_name(&entry.model) == name);
        if let Some(entry) = named(name).or_else(|| named(&latest)).or_else(shown) {
            return Ok(entry.model.clone());
        }
        // One that is installed and cannot be used is not among the models that can be talked to.
        if let Ok(built_in) = self.client_of(CONNECTION).await
            && let Err(error) = built_in.model(name).await
            && !matches!(error.kind, Kind::ModelNotFound { .. } | Kind::ModelStorage)
        {
            return Err(error);
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
        let mut all = entry.models.iter().map(|info| ModelRef::new(connection, &info.name));
        let shown = all.find(|known| !exact && display_name(known) == model);
        Some(shown.unwrap_or_else(|| ModelRef::new(connection, model)))
    }

    pub(in crate::manager) fn default_model_now(&self) -> Option<ModelRef> {
        let known = self.lock();
        let there = |model: &ModelRef| {
            let mut entries = known.entries.iter();
            let entry = entries.find(|entry| entry.connection.name == model.connection);
            // Of other servers nobody knows before they have answered.
            entry.is_some_and(|entry| {
                !entry.built_in || entry.models.iter().any(|info| info.name == model.model)
            })
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
