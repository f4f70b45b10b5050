//! Has agents that were interrupted continue, and those that they work for with what they report.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Agents, Fid, Manager, Result};
use crate::message::ReplyFailure;
use crate::session::{HandIn, Session};

impl Agents {
    /// Has all continue that were interrupted of a session and those that work for it. Who waited for
    /// others continues once these are done, with their reports. Returns when the work has begun.
    ///
    /// # Errors
    /// `SessionNotFound`, the store's, and those of [`Manager::send`] where the session itself
    /// continues.
    pub async fn resume_all(&self, fid: &Fid) -> Result<()> {
        let (this, fid) = (self.0.clone(), fid.clone());
        self.0.run(async move { this.resume_tree(&fid).await }).await
    }
}

/// A session, and the interrupted ones that work for it.
struct Interrupted {
    session: Arc<Session>,
    agents: Vec<Interrupted>,
}

impl Manager {
    async fn resume_tree(&self, fid: &Fid) -> Result<()> {
        let top = self.interrupted(fid).await?;
        if top.agents.is_empty() {
            return top.session.resume().await;
        }
        let this = self.clone();
        self.inner.shared.spawn(async move {
            if let Err(error) = this.resume_with_reports(top, false).await {
                tracing::warn!(%error, "not all agents that were interrupted continue");
            }
        });
        Ok(())
    }

    /// A session with those below it that were interrupted.
    async fn interrupted(&self, fid: &Fid) -> Result<Interrupted> {
        let tree = self.inner.shared.store.agent_tree(fid).await?;
        let mut found = Interrupted { session: self.session(fid).await?, agents: Vec::new() };
        // Each stands after the one it works for.
        for member in tree.iter().filter(|member| member.fid != *fid) {
            let Some(parent) = &member.parent else { continue };
            let Some(above) = found.find(parent) else { continue };
            let agent = self.session(&member.fid).await?;
            let trouble = agent.placeholder().trouble;
            if trouble == Some(ReplyFailure::Interrupted) && !agent.is_busy_or_begins_next() {
                above.agents.push(Interrupted { session: agent, agents: Vec::new() });
            }
        }
        Ok(found)
    }

    /// Has those at the bottom continue, and each that is above them with their reports. `owes`: whether
    /// the session's own parent hears of its work.
    fn resume_with_reports(&self, it: Interrupted, owes: bool) -> BoxFuture<'_, Result<()>> {
        Box::pin(async move {
            let Interrupted { session, agents } = it;
            if agents.is_empty() {
                let undisturbed = session.undisturbed().await;
                if owes {
                    self.owe_last_work(&session).await?;
                }
                session.resume().await?;
                drop(undisturbed);
                session.idle().await;
                return Ok(());
            }
            let below: Vec<_> = agents.iter().map(|it| Arc::clone(&it.session)).collect();
            for agent in &below {
                // What came of its earlier work is told before.
                agent.hand_in(&session, true).await?;
                // So that what is to come is told, even where the program ends before.
                self.inner.shared.store.owe_last_work(agent.fid(), session.fid()).await?;
            }
            let all = agents.into_iter().map(|agent| self.resume_with_reports(agent, true));
            let ended = futures_util::future::join_all(all).await;
            for agent in below {
                match agent.hand_in(&session, false).await? {
                    HandIn::AtWork | HandIn::Later | HandIn::Waiting => {
                        self.report_to_parent(agent, None);
                    }
                    HandIn::Delivered | HandIn::NotOwed => {}
                }
            }
            let undisturbed = session.undisturbed().await;
            if owes {
                self.owe_last_work(&session).await?;
            }
            // The first turn with them has all.
            session.send_waiting().await;
            drop(undisturbed);
            session.idle().await;
            ended.into_iter().collect()
        })
    }

    /// Has an agent's parent hear of what it does from now on, not of the message that it was interrupted
    /// at. Nothing may disturb it.
    async fn owe_last_work(&self, agent: &Session) -> Result<()> {
        let Some(parent) = agent.parent() else { return Ok(()) };
        self.inner.shared.store.owe_last_work(agent.fid(), parent.fid()).await?;
        // What is to come of it replaces that.
        if let Err(error) = parent.withdraw_interrupted(agent.fid()).await {
            tracing::warn!(%error, "it is also told that an agent was interrupted");
        }
        Ok(())
    }
}

impl Interrupted {
    fn find(&mut self, fid: &Fid) -> Option<&mut Self> {
        if self.session.fid() == fid {
            return Some(self);
        }
        self.agents.iter_mut().find_map(|agent| agent.find(fid))
    }
}
