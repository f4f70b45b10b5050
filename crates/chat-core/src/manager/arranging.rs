//! Pins, archives and duplicates sessions.

use super::{Event, Fid, Result, Sessions};
use crate::store::SessionPatch;

impl Sessions {
    /// Pins or unpins a session.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn set_pinned(&self, fid: &Fid, pinned: bool) -> Result<()> {
        self.patch(fid, SessionPatch { pinned: Some(pinned), ..SessionPatch::default() }).await
    }

    /// Takes a session out of the list, or back into it. The next request in it does the latter, too.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn set_archived(&self, fid: &Fid, archived: bool) -> Result<()> {
        self.patch(fid, SessionPatch { archived: Some(archived), ..SessionPatch::default() }).await
    }

    /// Makes a new session of this title with all messages and branches of another one, and gives its id. A reply
    /// that is being written is in it as far as it has come. What the session changed in files stays
    /// with the original.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn duplicate(&self, fid: &Fid, title: String) -> Result<Fid> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let shared = &this.inner.shared;
                if let Some(session) = this.loaded(&fid) {
                    session.stored().await?;
                }
                let copy = shared.store.duplicate(&fid, title).await?;
                this.remember_first(std::slice::from_ref(&copy));
                let fid = copy.fid.clone();
                shared.hub.tell(&Event::SessionAdded(copy.meta.into()));
                Ok(fid)
            })
            .await
    }
}
