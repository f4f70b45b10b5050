//! Closes agents together with those that work for them.

use std::collections::HashSet;
use std::sync::Arc;

use super::{Error, Fid, Kind, Manager, Result};
use crate::session::Session;

impl Manager {
    /// Stops and closes an agent and all that work for it.
    pub(super) async fn close_agents(&self, fid: &Fid) -> Result<()> {
        self.close_each(Which::From(fid)).await
    }

    /// Stops and closes all agents of the tree of a session.
    pub(super) async fn close_tree(&self, member: &Fid) -> Result<()> {
        self.close_each(Which::Tree(member)).await
    }

    async fn close_each(&self, which: Which<'_>) -> Result<()> {
        let mut halted = Halted::default();
        let mut claimed = Vec::new();
        let closed = match self.halt_all(which, &mut halted, &mut claimed).await {
            Ok(()) => self.close_halted(&halted.0, &mut claimed).await,
            Err(error) => Err(error),
        };
        for session in &claimed {
            // Nothing begins while it is given up. What is at work gives it up at its end.
            let _gate = session.gate_of_living().await;
            if !session.is_busy_or_begins_next() {
                session.release().await;
            }
        }
        drop(halted);
        // Nothing is heard of what is halted.
        for session in &claimed {
            session.tell_changed();
        }
        closed
    }

    /// Halts these sessions and waits until nothing is at work in them, unless another process runs one of
    /// them: then none of them is stopped. Those that were started meanwhile are halted, too.
    async fn halt_all(
        &self,
        which: Which<'_>,
        halted: &mut Halted,
        claimed: &mut Vec<Arc<Session>>,
    ) -> Result<()> {
        let mut known = HashSet::new();
        loop {
            let mut all = self.listed(which).await?;
            all.retain(|fid| known.insert(fid.clone()));
            // What is halted starts nobody.
            if all.is_empty() {
                return Ok(());
            }
            let mut new = Vec::with_capacity(all.len());
            for fid in &all {
                match self.session(fid).await {
                    Ok(session) => new.push(session),
                    Err(error) if is_gone(&error) => {}
                    Err(error) => return Err(error),
                }
            }
            for session in &new {
                self.claim(session, claimed).await?;
            }
            // All of them first: none is to begin because another has ended.
            for session in &new {
                halted.add(Arc::clone(session));
            }
            for session in &new {
                drop(session.halted().await);
            }
        }
    }

    async fn listed(&self, which: Which<'_>) -> Result<Vec<Fid>> {
        let store = &self.inner.shared.store;
        match which {
            Which::From(fid) => store.below(fid).await,
            Which::Tree(member) => {
                let tree = store.agent_tree(member).await?;
                let agents = tree.into_iter().filter(|agent| agent.parent.is_some());
                Ok(agents.map(|agent| agent.meta.fid).collect())
            }
        }
    }

    /// Claims a session, unless it was deleted meanwhile, and adds it to `claimed`.
    async fn claim(&self, session: &Arc<Session>, claimed: &mut Vec<Arc<Session>>) -> Result<()> {
        match self.inner.shared.store.claim(session.fid()).await {
            Ok(()) => {
                if !claimed.iter().any(|known| Arc::ptr_eq(known, session)) {
                    claimed.push(Arc::clone(session));
                }
                Ok(())
            }
            Err(error) if is_gone(&error) => Ok(()),
            Err(error) => Err(error),
        }
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
            // What was at work there gave it up when it ended.
            self.claim(session, claimed).await?;
        }
        // Whoever closes them does not wait for their reports.
        store.clear_owed(claimed.iter().map(|session| session.fid().clone()).collect()).await?;
        for session in &*claimed {
            match session.set_closed(true).await {
                Err(error) if is_gone(&error) => {}
                closed => closed?,
            }
        }
        Ok(())
    }
}

/// Which agents are closed.
#[derive(Clone, Copy)]
enum Which<'a> {
    /// This one, and all that work for it.
    From(&'a Fid),
    /// All of the tree of this session.
    Tree(&'a Fid),
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
