//! Models on this machine: which are installed, and how they come and go.

use std::path::PathBuf;

use super::{Event, Kind, Manager, Result};
use crate::models::{Installed, Library};

impl Manager {
    /// The models that are installed on this machine. Its methods block for milliseconds.
    pub fn library(&self) -> &Library {
        &self.inner.library
    }

    /// Adds a model's file where it lies, after its header was verified.
    ///
    /// # Errors
    /// `ModelFile`, `ModelFileMissing`, `ModelStorage`, `ReadOnly`, `DiskFull`.
    pub async fn add_model(&self, path: PathBuf) -> Result<Installed> {
        self.change_library(move |library| library.add(&path)).await
    }

    /// Moves a model's file into Natter's own folder, after its header was verified.
    ///
    /// # Errors
    /// As [`add_model`](Self::add_model).
    pub async fn take_model(&self, path: PathBuf) -> Result<Installed> {
        self.change_library(move |library| library.take_in(&path)).await
    }

    /// Takes a model off the list; its file is deleted where it is Natter's own.
    ///
    /// # Errors
    /// `ModelNotFound`, `ModelStorage`, `ReadOnly`, `DiskFull`.
    pub async fn remove_model(&self, name: &str) -> Result<Installed> {
        let name = name.to_owned();
        self.change_library(move |library| library.remove(&name)).await
    }

    /// The installed models, by name; those that cannot be used now say why.
    ///
    /// # Errors
    /// `ModelStorage`, `ReadOnly`.
    pub async fn installed_models(&self) -> Result<Vec<Installed>> {
        self.ask_library(Library::list).await
    }

    async fn change_library<T: Send + 'static>(
        &self,
        change: impl FnOnce(&Library) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let changed = self.ask_library(change).await?;
        self.library_changed();
        Ok(changed)
    }

    pub(super) async fn ask_library<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Library) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let library = self.inner.library.clone();
        self.run(async move {
            let asked = tokio::task::spawn_blocking(move || question(&library)).await;
            asked.unwrap_or_else(|_| Err(Kind::Internal.into()))
        })
        .await
    }

    /// Tells that other models are installed than before.
    pub(super) fn library_changed(&self) {
        self.inner.world.hub.tell(&Event::ModelsChanged);
    }
}
