//! Manages the models on this machine: lists, adds and removes them.

use std::path::PathBuf;

use super::{Event, Kind, Manager, Result};
use crate::models::{self, CONNECTION, DiscoveredModel, Facts, Installed, Library, ModelFolders};

/// The files of models on this machine: those installed, and those that could be. From [`Manager::local_models`].
#[derive(Clone, Debug)]
pub struct LocalModels(pub(super) Manager);

impl LocalModels {
    /// The models that are installed on this machine. Its methods block for milliseconds.
    pub fn library(&self) -> &Library {
        &self.0.inner.library
    }

    /// Adds a model's file where it lies, after its header was verified.
    ///
    /// # Errors
    /// `ModelFile`, `FileNotFound`, `ModelStorage`, `ReadOnly`, `DiskFull`.
    pub async fn add(&self, path: PathBuf) -> Result<Installed> {
        self.change(move |library| library.add(&path)).await
    }

    /// Moves a model's file into Natter's own folder, after its header was verified.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub async fn take_in(&self, path: PathBuf) -> Result<Installed> {
        self.change(move |library| library.take_in(&path)).await
    }

    /// Takes a model off the list; its file is deleted where it is Natter's own.
    ///
    /// # Errors
    /// `ModelNotFound`, `ModelStorage`, `ReadOnly`, `DiskFull`.
    pub async fn remove(&self, name: &str) -> Result<Installed> {
        let name = name.to_owned();
        self.change(move |library| library.remove(&name)).await
    }

    /// The installed models, by name; those that cannot be used now say why.
    ///
    /// # Errors
    /// `ModelStorage`, `ReadOnly`.
    pub async fn list(&self) -> Result<Vec<Installed>> {
        self.ask(Library::list).await
    }

    /// What a GGUF file says of its model; nothing is added.
    ///
    /// # Errors
    /// `ModelFile`, `FileNotFound`, `ModelStorage`, `ReadOnly`.
    pub async fn facts(&self, path: PathBuf) -> Result<Facts> {
        self.ask(move |_| Facts::read(&path)).await
    }

    /// Models that other programs have on this machine and that are not installed here, by name.
    /// [`add_discovered`](Self::add_discovered) takes one where it lies.
    ///
    /// # Errors
    /// `ModelStorage`, `ReadOnly`.
    pub async fn discovered(&self) -> Result<Vec<DiscoveredModel>> {
        self.ask(|library| models::discover(library, &ModelFolders::from_env())).await
    }

    /// Adds a model that another program has, under the name that it has there.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub async fn add_discovered(&self, found: DiscoveredModel) -> Result<Installed> {
        self.change(move |library| library.add_as(&found.path, Some(&found.name))).await
    }

    async fn change<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Library) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let changed = self.ask(change).await?;
        self.0.library_changed();
        Ok(changed)
    }

    async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Library) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let library = self.0.inner.library.clone();
        self.0
            .run(async move {
                let asked = tokio::task::spawn_blocking(move || question(&library)).await;
                asked.unwrap_or_else(|_| Err(Kind::Internal.into()))
            })
            .await
    }
}

impl Manager {
    /// Tells that other models are installed than before.
    pub(super) fn library_changed(&self) {
        self.inner.connections.ask(CONNECTION.to_owned());
        self.inner.shared.hub.tell(&Event::ModelsChanged);
    }
}
