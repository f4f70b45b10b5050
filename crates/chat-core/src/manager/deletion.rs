//! Deletes and restores sessions together with those that work for them.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Event, Fid, Manager, Result, Session, Sessions};

impl Sessions {
    /// Stops a session, and moves it and all that work for it to the trash. [`restore`](Self::restore) takes
    /// that back until [`TRASH_AGE`](super::TRASH_AGE) is over.
    ///
    /// # Errors
    /// `SessionInUse` where another process writes in one of them: none is stopped or deleted then;
    /// `SessionNotFound`, and the store's.
    pub async fn delete(&self, fid: &Fid) -> Result<()> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.delete_session(&fid).await }).await
    }

    /// Takes a deletion back, with that of all that were deleted with it, and of those that it works for.
    pub async fn restore(&self, fid: &Fid) -> Result<()> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let _deleting = this.inner.deleting.lock().await;
                let mut restored = Vec::new();
                for record in this.inner.shared.store.restore(&fid).await? {
                    restored.push(record.fid.clone());
                    this.inner.shared.hub.tell(&Event::SessionAdded(record.meta.into()));
                }
                this.report_left_over(Some(&restored)).await
            })
            .await
    }

    /// How many sessions work for this one, and for those: they are deleted with it.
    ///
    /// # Errors
    /// `SessionNotFound`, and the store's.
    pub async fn agents_below(&self, fid: &Fid) -> Result<usize> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0
            .run(async move {
                let tree = this.inner.shared.store.agent_tree(&fid).await?;
                let mut below = HashSet::from([fid]);
                // Each stands after the one it works for.
                for member in tree {
                    if member.parent.as_ref().is_some_and(|parent| below.contains(parent)) {
                        below.insert(member.meta.fid);
                    }
                }
                Ok(below.len() - 1)
            })
            .await
    }
}

impl Manager {
    /// Deletes a session and all that work for it, once nothing is at work in them.
    async fn delete_session(&self, fid: &Fid) -> Result<()> {
        let _deleting = self.inner.deleting.lock().await;
        let session = self.session(fid).await?;
        // Before anything is stopped.
        self.inner.shared.store.check_deletable(fid).await?;
        session.halt();
        let mut halted = vec![Arc::clone(&session)];
        let deleted = self.delete_halted(&session, &mut halted).await;
        // What was not deleted works on.
        let kept = |session: &&Arc<Session>| {
            !deleted.as_ref().is_ok_and(|deleted| deleted.contains(session.fid()))
        };
        halted.iter().filter(kept).for_each(|session| session.go_on());
        for fid in deleted? {
            let loaded = self.sessions_lock().remove(&fid);
            // One that came in between: nobody will read what it writes.
            if let Some(session) = loaded.filter(|it| !halted.iter().any(|h| Arc::ptr_eq(h, it))) {
                session.halt();
                session.note_deleted();
            }
            self.inner.shared.hub.tell(&Event::SessionRemoved { fid });
        }
        // Nobody waits for what is gone.
        session.tree().tell_changed();
        Ok(())
    }

    /// Deletes a halted session with all that work for it, and gives those that were deleted. All that
    /// it halts is added to `halted`.
    async fn delete_halted(
        &self,
        session: &Arc<Session>,
        halted: &mut Vec<Arc<Session>>,
    ) -> Result<Vec<Fid>> {
        let store = &self.inner.shared.store;
        let _gate = session.halted().await;
        // From here on it starts nobody.
        let below = store.below(session.fid()).await?;
        let children: Vec<_> = below.iter().skip(1).filter_map(|fid| self.loaded(fid)).collect();
        for child in &children {
            child.halt();
            halted.push(Arc::clone(child));
        }
        let mut gates = Vec::with_capacity(children.len());
        for child in &children {
            gates.push(child.halted().await);
        }
        let deleted = store.delete(session.fid()).await?;
        let gone = halted.iter().filter(|session| deleted.contains(session.fid()));
        gone.for_each(|session| session.note_deleted());
        Ok(deleted)
    }
}
