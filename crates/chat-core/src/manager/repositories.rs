//! Searches and lists the repositories that models come from.

use std::sync::Arc;

use super::{Manager, Result};
use crate::models::{RemoteModel, Repository};

/// The repositories that models can be downloaded from. From [`Manager::repositories`].
#[derive(Clone, Debug)]
pub struct Repositories(pub(super) Manager);

impl Repositories {
    /// Repositories that have GGUF files and fit what a person typed, the most downloaded first.
    ///
    /// # Errors
    /// `HubUnreachable`, `HubFailed`.
    pub async fn search(&self, words: &str) -> Result<Vec<Repository>> {
        let (hub, words) = (Arc::clone(self.0.inner.downloads.hub()), words.to_owned());
        self.0.run(async move { hub.search(&words).await }).await
    }

    /// The models that a repository has now, with their sizes.
    ///
    /// # Errors
    /// `RepositoryNotFound`, `RepositoryClosed`, `HubUnreachable`, `HubFailed`.
    pub async fn models(&self, repository: &str) -> Result<Vec<RemoteModel>> {
        let (hub, repository) = (Arc::clone(self.0.inner.downloads.hub()), repository.to_owned());
        self.0.run(async move { hub.models(&repository).await }).await
    }

    /// The model that a file's name or a pattern means in a repository, as it is there now.
    ///
    /// # Errors
    /// `RepositoryFileNotFound`, and those of [`models`](Self::models).
    pub async fn model(&self, repository: &str, file: &str) -> Result<RemoteModel> {
        let hub = Arc::clone(self.0.inner.downloads.hub());
        let (repository, file) = (repository.to_owned(), file.to_owned());
        self.0.run(async move { hub.model(&repository, &file).await }).await
    }
}
