//! Has the tools of sessions work with the other agents of their trees.

mod answers;
mod calls;
mod desk;
mod reports;
#[cfg(test)]
mod tests;
mod worktrees;

use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use self::desk::Desk;
use super::{Fid, Inner, Manager, Result};
use crate::message::AgentReport;
use crate::session::{AgentsAtWork, Teams};
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
            if let Err(error) = this.report_left_over(None).await {
                tracing::warn!(%error, "agents that were interrupted were not reported");
            }
        });
    }
}

struct Host(Weak<Inner>);

impl Teams for Host {
    fn team(&self, member: &Fid, at_work: AgentsAtWork) -> Arc<dyn Team> {
        Arc::new(Member { inner: Weak::clone(&self.0), fid: member.clone(), at_work })
    }
}

/// A session among the agents of its tree. What it is asked for runs as a task of its own: see
/// [`carry_out`](Self::carry_out).
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
        Ok(Desk { manager, me, settings, at_work: Arc::clone(&self.at_work) })
    }
}

#[async_trait]
impl Team for Member {
    async fn start(
        &self,
        new: AgentTask,
        cancel: &CancellationToken,
    ) -> Result<AgentReport, TeamError> {
        self.carry_out(
            cancel,
            move |desk: Desk, cancel| async move { desk.start(new, &cancel).await },
        )
        .await
    }

    async fn ask(
        &self,
        name: &str,
        message: &str,
        cancel: &CancellationToken,
    ) -> Result<AgentReport, TeamError> {
        let (name, message) = (name.to_owned(), message.to_owned());
        self.carry_out(cancel, move |desk: Desk, cancel| async move {
            let agent = desk.find_not_above(&name).await?;
            desk.must_have_its_worktree(&name, &agent).await?;
            (desk.at_work)(vec![agent.fid().clone()]);
            desk.have_answer(&agent, &message, &cancel).await
        })
        .await
    }

    async fn tell(
        &self,
        name: &str,
        message: &str,
        interrupt: bool,
    ) -> Result<AgentReport, TeamError> {
        let (name, message) = (name.to_owned(), message.to_owned());
        self.carry_out(&CancellationToken::new(), move |desk: Desk, _| async move {
            Ok(desk.tell(&name, &message, interrupt).await?.into())
        })
        .await
    }

    async fn wait(
        &self,
        names: Option<&[String]>,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Vec<AgentReport>, TeamError> {
        let names = names.map(<[String]>::to_vec);
        self.carry_out(cancel, move |desk: Desk, cancel| async move {
            desk.wait(names.as_deref(), limit, &cancel).await
        })
        .await
    }

    async fn list(&self) -> Result<Vec<(AgentReport, bool)>, TeamError> {
        let desk = self.desk().await?;
        let mut reports = Vec::new();
        for (_, fid) in desk.others().await? {
            let session = desk.manager.session(&fid).await?;
            reports.push((session.state_report().await?, session.is_closed()));
        }
        Ok(reports)
    }

    async fn close(&self, name: &str) -> Result<AgentReport, TeamError> {
        let name = name.to_owned();
        self.carry_out(&CancellationToken::new(), move |desk: Desk, _| async move {
            let agent = desk.find_below(&name).await?;
            desk.manager.close_agents(agent.fid()).await?;
            Ok(agent.report().await?.into())
        })
        .await
    }

    fn worktrees(&self) -> Arc<dyn AgentWorktrees> {
        let (inner, fid) = (Weak::clone(&self.inner), self.fid.clone());
        Arc::new(Self { inner, fid, at_work: Arc::clone(&self.at_work) })
    }
}
