//! Watches the list of installed models, which this and other programs change.

use std::fs;
use std::time::Duration;

use tokio::sync::watch;

use super::Library;
use crate::models::index;
use crate::settings::disk;
use crate::settings::watch::Watch;

/// Changes that follow each other this quickly are reported as one.
const SETTLED: Duration = Duration::from_millis(50);

impl Library {
    /// The list as this and other programs change it, from now on.
    pub fn changes(&self) -> LibraryChanges {
        if let Err(error) = disk::private_folder(&self.folder) {
            tracing::warn!("{}: {error}", self.folder.display());
        }
        let (touched, touches) = watch::channel(());
        let watch = Watch::new(&self.folder, move || {
            touched.send_replace(());
        });
        LibraryChanges { known: self.content(), library: self.clone(), touches, _watch: watch }
    }

    fn content(&self) -> Vec<u8> {
        fs::read(index::path(&self.folder)).unwrap_or_default()
    }
}

/// The list of models as it changes. Dropping it ends the watch.
#[derive(Debug)]
pub struct LibraryChanges {
    library: Library,
    known: Vec<u8>,
    touches: watch::Receiver<()>,
    _watch: Option<Watch>,
}

impl LibraryChanges {
    /// Waits until the list has changed. Never resolves while it does not. Cancel-safe.
    pub async fn next(&mut self) {
        loop {
            if self.touches.changed().await.is_err() {
                // Nothing is watched: nothing will be heard.
                std::future::pending::<()>().await;
            }
            while let Ok(Ok(())) = tokio::time::timeout(SETTLED, self.touches.changed()).await {}
            let content = self.library.content();
            if content != self.known {
                self.known = content;
                return;
            }
        }
    }
}
