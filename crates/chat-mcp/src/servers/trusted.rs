//! Says which projects' servers the user trusts, and takes trust back.

use std::io;
use std::path::{Path, PathBuf};

use chat_definitions::ForgottenTrust;
use tokio::task::spawn_blocking;

use super::Servers;

impl Servers {
    /// The projects whose servers the user trusts, in order.
    pub async fn trusted(&self) -> Vec<PathBuf> {
        let trust = self.0.trust.clone();
        spawn_blocking(move || trust.projects()).await.unwrap_or_default()
    }

    /// Trusts none of a project's servers any more, and ends those that run. Returns what [`Self::restore`] takes; none
    /// if nothing was trusted.
    ///
    /// # Errors
    /// It cannot be stored; all is as it was.
    pub async fn forget(&self, root: &Path) -> io::Result<Option<ForgottenTrust>> {
        let (trust, forgotten) = (self.0.trust.clone(), root.to_owned());
        let storing = spawn_blocking(move || trust.forget(&forgotten));
        let forgotten = storing.await.map_err(io::Error::other)??;
        self.refresh(Some(root)).await;
        Ok(forgotten)
    }

    /// Trusts the servers of a project again as they were trusted before.
    ///
    /// # Errors
    /// It cannot be stored; nothing more is trusted then.
    pub async fn restore(&self, forgotten: &ForgottenTrust) -> io::Result<()> {
        let (trust, restored) = (self.0.trust.clone(), forgotten.clone());
        spawn_blocking(move || trust.restore(&restored)).await.map_err(io::Error::other)??;
        self.refresh(forgotten.root().as_deref()).await;
        Ok(())
    }
}
