//! Has the tools of sessions work with the other agents of their trees.

mod desk;
mod wake;
mod worktrees;

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use self::desk::Desk;
use super::{Fid, Inner, Manager, Result};
use crate::message::{AgentReport, AgentState};
use crate::session::{AgentsAtWork, Place, Session, Teams};
use crate::tool::{AgentTask, AgentWorktrees, Team, TeamError};

impl Manager {
    /// Lets tools reach the agents of their session's tree, and has the chats hear of agents that an
    /// earlier start of the program left in the background.
    pub(super) fn form_teams(&self) {
        let host = Arc::new(Host(Arc::downgrade(&self.inner)));
        // It is started once.
        let _ = self.inner.shared.teams.set(host);
        let this = self.clone();
        self.inner.shared.runtime.spawn(async move {
            if let Err(error) = this.report_left_over().await {
                tracing::warn!(%error, "agents that were interrupted were not reported");
            }
        });
    }

    async fn report_left_over(&self) -> Result<()> {
        for record in self.inner.shared.store.unreported().await? {
            let agent = self.session(&record.fid).await?;
            if agent.is_busy() {
                continue;
            }
            if let Some(parent) = &record.parent {
                // The user decides when it goes on.
                self.session(parent).await?.receive(agent.report().await?).await?;
            }
        }
        Ok(())
    }

    /// Once the agent's work has ended, has its parent hear of it, unless somebody waits for it. It has
    /// its place until then.
    fn report_when_idle(&self, parent: Arc<Session>, agent: Arc<Session>, place: Option<Place>) {
        wake::report_when_idle(&self.inner.shared, parent, agent, place);
    }
}

struct Host(Weak<Inner>);

impl Teams for Host {
    fn team(&self, member: &Fid, at_work: AgentsAtWork) -> Arc<dyn Team> {
        Arc::new(Member { inner: Weak::clone(&self.0), fid: member.clone(), at_work })
    }
}

/// A session among the agents of its tree.
struct Member {
    inner: Weak<Inner>,
    fid: Fid,
    at_work: AgentsAtWork,
}

impl Member {
    async fn desk(&self) -> Result<Desk, TeamError> {
        let manager = Manager::upgrade(&self.inner).ok_or(TeamError::Ending)?;
        let me = manager.session(&self.fid).await?;
        let settings = manager.inner.shared.clients.settings().agents;
        Ok(Desk { manager, me, settings })
    }
}

#[async_trait]
impl Team for Member {
    async fn start(
        &self,
        new: AgentTask,
        cancel: &CancellationToken,
    ) -> Result<AgentReport, TeamError> {
        let desk = self.desk().await?;
        let (task, background) = (new.task.clone(), new.background);
        let agent = desk.make(new).await?;
        (self.at_work)(vec![agent.fid().clone()]);
        let Some(task) = task.filter(|task| !task.trim().is_empty()) else {
            return Ok(agent.short_report());
        };
        if !background {
            return desk.have_answer(agent, &task, cancel).await;
        }
        let place = desk.place(&agent, cancel).await?;
        agent.send(desk.said(&task)).await?;
        let report = agent.short_report();
        desk.report_later(&agent, Some(place)).await?;
        Ok(report)
    }

    async fn ask(
        &self,
        name: &str,
        message: &str,
        cancel: &CancellationToken,
    ) -> Result<AgentReport, TeamError> {
        let desk = self.desk().await?;
        let agent = desk.find_not_above(name).await?;
        (self.at_work)(vec![agent.fid().clone()]);
        desk.have_answer(agent, message, cancel).await
    }

    async fn tell(
        &self,
        name: &str,
        message: &str,
        interrupt: bool,
    ) -> Result<AgentReport, TeamError> {
        let desk = self.desk().await?;
        let agent = desk.find(name).await?;
        let is_above = desk.me.works_for(agent.fid());
        let works = agent.works_for(desk.me.fid());
        if interrupt && works {
            agent.stop();
            let _ = tokio::time::timeout(desk.limit(), agent.idle()).await;
        }
        let was_busy = agent.is_busy_or_begins_next();
        // The session at the top works for the user alone.
        let begins = agent.depth() > 0 && !was_busy;
        let place = (begins || works).then(|| desk.free_place(&agent)).transpose()?;
        if !is_above {
            agent.set_closed(false).await?;
        }
        agent.send(desk.said(message)).await?;
        let report = agent.short_report();
        if works {
            desk.report_later(&agent, place).await?;
        } else if let Some(place) = place {
            // Whoever gave it work hears of its end, or for one above whoever that works for.
            let above = agent.parent().filter(|_| is_above);
            desk.report_to(above.unwrap_or(&desk.me), &agent, Some(place)).await?;
        }
        Ok(report)
    }

    async fn wait(
        &self,
        names: Option<&[String]>,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Vec<AgentReport>, TeamError> {
        let desk = self.desk().await?;
        let mut agents = Vec::new();
        match names {
            Some(names) => {
                for name in names {
                    agents.push(desk.find_not_above(name).await?);
                }
            }
            None => {
                for (_, fid) in desk.others().await? {
                    let other = desk.manager.session(&fid).await?;
                    let of_me = other.works_for(desk.me.fid());
                    if of_me && other.is_busy_or_begins_next() {
                        agents.push(other);
                    }
                }
            }
        }
        (self.at_work)(agents.iter().map(|agent| agent.fid().clone()).collect());
        let waits = desk.waits_for(&agents.iter().collect::<Vec<_>>()).await?;
        let all = futures_util::future::join_all(agents.iter().map(|agent| agent.idle()));
        let limit = limit.min(desk.limit());
        let waited = cancel.run_until_cancelled(tokio::time::timeout(limit, all)).await;
        let mut reports = Vec::with_capacity(agents.len());
        let mut later = Vec::new();
        for agent in &agents {
            let report = agent.report().await?;
            let ended = !matches!(report.state, AgentState::Working | AgentState::NeedsUser);
            if ended && waited.is_some() {
                // It is told here.
                desk.manager.inner.shared.store.set_reports(agent.fid(), false).await?;
            } else if agent.works_for(desk.me.fid()) {
                // Its end may come while this still counts as waiting.
                later.push(Arc::clone(agent));
            }
            reports.push(report);
        }
        drop(waits);
        for agent in later {
            desk.manager.report_when_idle(Arc::clone(&desk.me), agent, None);
        }
        Ok(reports)
    }

    async fn list(&self) -> Result<Vec<AgentReport>, TeamError> {
        let desk = self.desk().await?;
        let mut reports = Vec::new();
        for (_, fid) in desk.others().await? {
            reports.push(desk.manager.session(&fid).await?.short_report());
        }
        Ok(reports)
    }

    async fn close(&self, name: &str) -> Result<AgentReport, TeamError> {
        let desk = self.desk().await?;
        let agent = desk.find_below(name).await?;
        desk.manager.close_agents(agent.fid()).await?;
        Ok(agent.report().await?)
    }

    fn worktrees(&self) -> Arc<dyn AgentWorktrees> {
        Arc::new(Self {
            inner: Weak::clone(&self.inner),
            fid: self.fid.clone(),
            at_work: AgentsAtWork::clone(&self.at_work),
        })
    }
}
