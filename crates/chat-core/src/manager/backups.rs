//! Makes a backup of the chats once a day, and restores one.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::{Event, Fid, Kind, Manager, Result};
use crate::store::Backup;

/// How long after the start the first look is: what the person wants at once goes first.
const FIRST_CHECK: Duration = Duration::from_secs(3);

/// How often it is seen whether a backup is due.
const CHECK_INTERVAL: Duration = Duration::from_hours(1);

/// How long a backup rests after each step, and how long while a reply is written.
const REST: Duration = Duration::from_millis(5);
const REST_WHEN_BUSY: Duration = Duration::from_millis(50);

/// The backups of the chats. From [`Manager::backups`].
#[derive(Clone, Debug)]
pub struct Backups(pub(super) Manager);

impl Backups {
    /// The backups of the chats, oldest first.
    pub async fn list(&self) -> Result<Vec<Backup>> {
        let store = self.0.inner.shared.store.clone();
        self.0
            .run(async move {
                let listing = tokio::task::spawn_blocking(move || store.backups());
                listing.await.map_err(|_| Kind::Internal.into())
            })
            .await
    }

    /// Makes the chats what a backup holds, for all who have them open. What they are now is kept
    /// as a backup first.
    ///
    /// # Errors
    /// `SessionAtWork` while a reply is written, `DatabaseInUse` where another process works with
    /// the chats, `FileNotFound`, and the store's.
    pub async fn restore(&self, path: &Path) -> Result<()> {
        let (this, path) = (self.0.clone(), path.to_owned());
        self.0
            .run(async move {
                let _deleting = this.inner.deleting.lock().await;
                if !this.sessions().busy().is_empty() {
                    return Err(Kind::SessionAtWork.into());
                }
                let sessions: Vec<_> = this.sessions_lock().values().cloned().collect();
                let mut gates = Vec::new();
                for session in &sessions {
                    session.halt();
                    gates.push(session.halted().await);
                }
                if let Err(error) = this.inner.shared.store.restore_backup(&path).await {
                    for session in &sessions {
                        session.go_on();
                    }
                    return Err(error);
                }
                let records = this.inner.shared.store.sessions().await?;
                let known: BTreeSet<Fid> = this.remember(&records).into_keys().collect();
                let loaded: Vec<Fid> = this.sessions_lock().drain().map(|(fid, _)| fid).collect();
                let restored = records.iter().map(|record| record.fid.clone());
                let hub = &this.inner.shared.hub;
                // Also those that stay: other messages may stand in them now.
                for fid in known.into_iter().chain(loaded).chain(restored).collect::<BTreeSet<_>>()
                {
                    hub.tell(&Event::SessionRemoved { fid });
                }
                for record in records {
                    hub.tell(&Event::SessionAdded(record.meta.into()));
                }
                Ok(())
            })
            .await
    }
}

impl Manager {
    /// Makes backups when they are due, until the Manager is gone.
    pub(super) fn keep_backups(&self) {
        let weak = Arc::downgrade(&self.inner);
        let closing = self.inner.closing.clone();
        let looking = closing.clone().run_until_cancelled_owned(async move {
            let mut wait = FIRST_CHECK;
            loop {
                tokio::time::sleep(wait).await;
                let Some(manager) = Self::upgrade(&weak) else { return };
                let (store, for_pace) = (manager.inner.shared.store.clone(), weak.clone());
                let closing = closing.clone();
                let backing_up = move || {
                    if !store.backup_is_due() {
                        return;
                    }
                    let pace = || {
                        let manager =
                            Self::upgrade(&for_pace).filter(|_| !closing.is_cancelled())?;
                        Some(if manager.sessions().busy().is_empty() {
                            REST
                        } else {
                            REST_WHEN_BUSY
                        })
                    };
                    if let Err(error) = store.back_up(&pace) {
                        tracing::warn!(%error, "no backup was made");
                    }
                };
                let shared = Arc::clone(&manager.inner.shared);
                drop(manager);
                let _ = shared.tasks.spawn_blocking_on(backing_up, &shared.runtime).await;
                wait = CHECK_INTERVAL;
            }
        });
        self.inner.shared.runtime.spawn(looking);
    }
}
