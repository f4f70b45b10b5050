//! Exports sessions.

use super::{Fid, Result, Sessions};
use crate::store::SessionExport;

impl Sessions {
    /// All that is stored of a session, with all its branches. A reply that is being written is in it as far as it
    /// has come.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn export(&self, fid: &Fid) -> Result<SessionExport> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                if let Some(session) = this.loaded(&fid) {
                    session.stored().await?;
                }
                this.inner.shared.store.export(&fid).await
            })
            .await
    }
}
