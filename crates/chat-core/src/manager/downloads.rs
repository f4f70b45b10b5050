//! Manages the downloads of models.

use std::sync::Arc;

use super::{Kind, Manager, Result};
use crate::models::{Download, RemoteModel};

/// The downloads of models. From [`Manager::downloads`].
#[derive(Clone, Debug)]
pub struct Downloads(pub(super) Manager);

impl Downloads {
    /// The downloads, also those that wait since the program ended last, and those of other
    /// programs. Looks at the disk for some milliseconds at most.
    pub fn list(&self) -> Vec<Download> {
        self.0.inner.downloads.list()
    }

    /// Begins to download a model, or goes on with it, and gives the download's id. Several run at
    /// once. It goes on by itself where the connection breaks for a while; its progress is reported
    /// by [`Event::DownloadsChanged`](crate::event::Event::DownloadsChanged). One that is installed already is done at once.
    ///
    /// # Errors
    /// `ModelStorage`, `ReadOnly`, `DiskFull`. All others come as its state.
    pub async fn start(&self, model: RemoteModel) -> Result<String> {
        let downloads = Arc::clone(&self.0.inner.downloads);
        self.0
            .run(async move {
                // One that is just being paused is begun again, and not forgotten.
                downloads.settled(&downloads.id_of(&model)).await;
                let starting = tokio::task::spawn_blocking(move || downloads.start(model));
                starting.await.unwrap_or_else(|_| Err(Kind::Internal.into()))
            })
            .await
    }

    /// Stops a download; what had arrived stays, also when the program ends.
    pub fn pause(&self, id: &str) {
        self.0.inner.downloads.pause(id);
    }

    /// Goes on with a download that is paused or failed. Does nothing where it runs.
    ///
    /// # Errors
    /// `ModelStorage` where there is none any more.
    pub async fn resume(&self, id: &str) -> Result<()> {
        let (downloads, id) = (Arc::clone(&self.0.inner.downloads), id.to_owned());
        self.0
            .run(async move {
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
    pub async fn cancel(&self, id: &str) -> Result<()> {
        let (downloads, id) = (Arc::clone(&self.0.inner.downloads), id.to_owned());
        self.0.run(async move { downloads.cancel(&id).await }).await
    }
}
