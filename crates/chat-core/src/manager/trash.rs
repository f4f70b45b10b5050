//! Lists the trash of sessions and of messages, and removes for good what is in it.

use std::sync::Arc;
use std::time::Duration;

use super::{Event, Fid, Kind, Manager, Messages, Result, Sessions};
use crate::store::{TrashedMessages, TrashedSession};

/// How long a deleted session can be restored.
pub const TRASH_AGE: Duration = Duration::from_hours(30 * 24);

/// How often a running program looks for what has been in the trash too long.
const EVERY: Duration = Duration::from_hours(24);

impl Sessions {
    /// The deleted sessions that can still be restored, the last deleted first.
    ///
    /// # Errors
    /// The store's.
    pub async fn trash(&self) -> Result<Vec<TrashedSession>> {
        let store = self.0.inner.shared.store.clone();
        self.0.run(async move { store.trash().await }).await
    }

    /// Removes deleted sessions for good, with those that were deleted with them. They cannot be restored.
    ///
    /// # Errors
    /// `SessionNotFound` where one is not in the trash: none is removed then. `SessionInUse` where some
    /// process still has one: the others are removed. The store's.
    pub async fn delete_for_good(&self, fids: Vec<Fid>) -> Result<()> {
        let this = self.0.clone();
        self.0
            .run(async move {
                let _deleting = this.inner.deleting.lock().await;
                let store = &this.inner.shared.store;
                let trees = store.trees_in_trash(fids).await?;
                let wanted: Vec<Fid> = trees.iter().map(|(fid, _)| fid.clone()).collect();
                let removed = this.inner.shared.remove_for_good(trees).await?;
                for fid in &removed {
                    this.inner.shared.hub.tell(&Event::SessionRemoved { fid: fid.clone() });
                }
                for fid in wanted.into_iter().filter(|fid| !removed.contains(fid)) {
                    // It may have been restored or removed elsewhere meanwhile.
                    if store.trees_in_trash(vec![fid]).await.is_ok() {
                        return Err(Kind::SessionInUse.into());
                    }
                }
                Ok(())
            })
            .await
    }
}

impl Messages {
    /// The deleted messages that can still be [restored](Self::restore), those that were deleted at once together,
    /// the last deleted first. They are about sessions that are not deleted and not temporary.
    ///
    /// # Errors
    /// The store's.
    pub async fn trash(&self) -> Result<Vec<TrashedMessages>> {
        let store = self.0.inner.shared.store.clone();
        self.0.run(async move { store.message_trash().await }).await
    }

    /// Removes deleted messages for good. They cannot be restored.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn delete_for_good(&self, trashed: Vec<TrashedMessages>) -> Result<()> {
        let store = self.0.inner.shared.store.clone();
        self.0
            .run(async move {
                for trashed in trashed {
                    store.remove_messages(&trashed.fid, trashed.messages.messages).await?;
                }
                Ok(())
            })
            .await
    }
}

impl Manager {
    /// Removes for good what has been in the trash too long, now and once a day.
    pub(super) fn keep_trash(&self) {
        let shared = Arc::clone(&self.inner.shared);
        let purging = self.inner.closing.clone().run_until_cancelled_owned(async move {
            loop {
                if let Err(error) = shared.purge(TRASH_AGE).await {
                    tracing::warn!(%error, "deleted sessions were not purged");
                }
                tokio::time::sleep(EVERY).await;
            }
        });
        self.inner.shared.runtime.spawn(purging);
    }
}
