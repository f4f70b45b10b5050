//! Closes agents together with those that work for them.

use std::sync::Arc;

use super::{Error, Fid, Kind, Manager, Result};
use crate::session::Session;

impl Manager {
    /// Stops and closes an agent and all that work for it.
    pub(super) async fn close_agents(&self, fid: &Fid) -> Result<()> {
        let all = self.inner.shared.store.below(fid).await?;
        self.close_each(&all).await
    }

    pub(super) async fn close_each(&self, fids: &[Fid]) -> Result<()> {
        let mut halted = Halted::default();
        // All of them first: none is to begin because another has ended.
        for fid in fids {
            match self.session(fid).await {
                Ok(session) => halted.add(session),
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error),
            }
        }
        for session in &halted.0 {
            drop(session.halted().await);
        }
        let mut claimed = Vec::with_capacity(halted.0.len());
        let closed = self.close_halted(&halted.0, &mut claimed).await;
        for session in &claimed {
            session.release().await;
        }
        drop(halted);
        // Nothing is heard of what is halted.
        for session in &claimed {
            session.tell_changed();
        }
        closed
    }

    /// Closes sessions in which nothing is at work, unless another process runs one of them. Those that
    /// it claims are added to `claimed`.
    async fn close_halted(
        &self,
        sessions: &[Arc<Session>],
        claimed: &mut Vec<Arc<Session>>,
    ) -> Result<()> {
        let store = &self.inner.shared.store;
        for session in sessions {
            match store.claim(session.fid()).await {
                Ok(()) => claimed.push(Arc::clone(session)),
                // It was deleted meanwhile.
                Err(error) if is_gone(&error) => {}
                Err(error) => return Err(error),
            }
        }
        // Whoever closes them does not wait for their reports.
        store.clear_reports(claimed.iter().map(|session| session.fid().clone()).collect()).await?;
        for session in &*claimed {
            session.set_owed(None);
            match session.set_closed(true).await {
                Err(error) if is_gone(&error) => {}
                closed => closed?,
            }
        }
        Ok(())
    }
}

/// Sessions in which nothing begins, until this is dropped.
#[derive(Default)]
pub(super) struct Halted(Vec<Arc<Session>>);

impl Halted {
    pub(super) fn add(&mut self, session: Arc<Session>) {
        session.halt();
        self.0.push(session);
    }
}

impl Drop for Halted {
    fn drop(&mut self) {
        self.0.iter().for_each(|session| session.go_on());
    }
}

fn is_gone(error: &Error) -> bool {
    matches!(error.kind, Kind::SessionNotFound { .. })
}
