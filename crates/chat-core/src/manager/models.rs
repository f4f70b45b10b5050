//! Models on this machine: which are installed, and how they come and go.

use std::path::PathBuf;
use std::sync::Arc;

use super::{Event, Kind, Manager, Result};
use crate::models::{
    self, CONNECTION, Download, Facts, Found, Installed, Library, Places, RemoteModel, Repository,
};

impl Manager {
    /// The models that are installed on this machine. Its methods block for milliseconds.
    pub fn library(&self) -> &Library {
        &self.inner.library
    }

    /// Adds a model's file where it lies, after its header was verified.
    ///
    /// # Errors
    /// `ModelFile`, `FileNotFound`, `ModelStorage`, `ReadOnly`, `DiskFull`.
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

    /// What a GGUF file says of its model; nothing is added.
    ///
    /// # Errors
    /// `ModelFile`, `FileNotFound`, `ModelStorage`, `ReadOnly`.
    pub async fn model_file(&self, path: PathBuf) -> Result<Facts> {
        self.ask_library(move |_| Facts::read(&path)).await
    }

    /// Models that other programs have on this machine and that are not installed here, by name.
    /// [`add_found_model`](Self::add_found_model) takes one where it lies.
    ///
    /// # Errors
    /// `ModelStorage`, `ReadOnly`.
    pub async fn found_models(&self) -> Result<Vec<Found>> {
        self.ask_library(|library| models::found(library, &Places::from_env())).await
    }

    /// Adds a model that another program has, under the name that it has there.
    ///
    /// # Errors
    /// As [`add_model`](Self::add_model).
    pub async fn add_found_model(&self, found: Found) -> Result<Installed> {
        self.change_library(move |library| library.add_as(&found.path, Some(&found.name))).await
    }

    // Where more come from

    /// Repositories that have GGUF files and fit what a person typed, the most downloaded first.
    ///
    /// # Errors
    /// `HubUnreachable`, `HubFailed`.
    pub async fn search_models(&self, words: &str) -> Result<Vec<Repository>> {
        let (hub, words) = (Arc::clone(self.inner.downloads.hub()), words.to_owned());
        self.run(async move { hub.search(&words).await }).await
    }

    /// The models that a repository has now, with their sizes.
    ///
    /// # Errors
    /// `RepositoryNotFound`, `RepositoryClosed`, `HubUnreachable`, `HubFailed`.
    pub async fn remote_models(&self, repository: &str) -> Result<Vec<RemoteModel>> {
        let (hub, repository) = (Arc::clone(self.inner.downloads.hub()), repository.to_owned());
        self.run(async move { hub.models(&repository).await }).await
    }

    /// The model that a file's name or a pattern means in a repository, as it is there now.
    ///
    /// # Errors
    /// `RepositoryFileNotFound`, and those of [`remote_models`](Self::remote_models).
    pub async fn remote_model(&self, repository: &str, file: &str) -> Result<RemoteModel> {
        let hub = Arc::clone(self.inner.downloads.hub());
        let (repository, file) = (repository.to_owned(), file.to_owned());
        self.run(async move { hub.model(&repository, &file).await }).await
    }

    /// The downloads, also those that wait since the program ended last, and those of other
    /// programs. Looks at the disk for some milliseconds at most.
    pub fn downloads(&self) -> Vec<Download> {
        self.inner.downloads.list()
    }

    /// Begins to download a model, or goes on with it, and gives the download's id. Several run at
    /// once. It goes on by itself where the connection breaks for a while; how it stands is told
    /// by [`Event::DownloadsChanged`]. One that is installed already is done at once.
    ///
    /// # Errors
    /// `ModelStorage`, `ReadOnly`, `DiskFull`. All others come as its state.
    pub async fn start_download(&self, model: RemoteModel) -> Result<String> {
        let downloads = Arc::clone(&self.inner.downloads);
        self.run(async move {
            // One that is just being paused is begun again, and not forgotten.
            downloads.settled(&downloads.id_of(&model)).await;
            let starting = tokio::task::spawn_blocking(move || downloads.start(model));
            starting.await.unwrap_or_else(|_| Err(Kind::Internal.into()))
        })
        .await
    }

    /// Stops a download; what had arrived stays, also when the program ends.
    pub fn pause_download(&self, id: &str) {
        self.inner.downloads.pause(id);
    }

    /// Goes on with a download that is paused or failed. Does nothing where it runs.
    ///
    /// # Errors
    /// `ModelStorage` where there is none any more.
    pub async fn resume_download(&self, id: &str) -> Result<()> {
        let (downloads, id) = (Arc::clone(&self.inner.downloads), id.to_owned());
        self.run(async move {
            downloads.settled(&id).await;
            let starting = tokio::task::spawn_blocking(move || downloads.resume(&id));
            starting.await.unwrap_or_else(|_| Err(Kind::Internal.into()))
        })
        .await
    }

    /// Stops a download and throws away what had arrived. One that is done is only forgotten.
    ///
    /// # Errors
    /// `DownloadElsewhere`, `ModelStorage`, `ReadOnly`.
    pub async fn cancel_download(&self, id: &str) -> Result<()> {
        let (downloads, id) = (Arc::clone(&self.inner.downloads), id.to_owned());
        self.run(async move { downloads.cancel(&id).await }).await
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
        self.inner.connections.ask(CONNECTION.to_owned());
        self.inner.world.hub.tell(&Event::ModelsChanged);
    }
}
