//! Has the tools of sessions finish the worktrees of agents that work for them.

use std::sync::Arc;

use async_trait::async_trait;
use chat_worktree::{Committed, Finished, MergePreview, RemovalPreview, Removed, Worktree};
use tokio_util::sync::CancellationToken;

use super::Member;
use super::desk::Desk;
use crate::error::{Error, Kind, Result};
use crate::session::Session;
use crate::tool::{AgentWorktrees, MergedWorktree, TeamError, WorktreeWork};

impl Desk {
    /// The worktree of an agent that works for the session.
    async fn worktree(&self, name: &str) -> Result<(Arc<Session>, Worktree), TeamError> {
        let agent = self.find_below(name).await?;
        let none = || TeamError::NoWorktree { name: name.trim().to_owned() };
        let project = agent.project().ok_or_else(none)?;
        // It shares that of another agent, or of the session.
        if self.me.project().as_ref() == Some(&project) {
            return Err(none());
        }
        match self.manager.worktrees().containing(&project).await {
            Ok(found) => Ok((agent, found.ok_or_else(none)?)),
            Err(error) => {
                let finished = self.manager.finished_worktree(project).await.ok().flatten();
                let name = name.trim().to_owned();
                Err(finished.map_or_else(|| failed(error), |it| already_finished(name, it)))
            }
        }
    }

    /// The same, if the agent is not at work.
    async fn idle_worktree(&self, name: &str) -> Result<Worktree, TeamError> {
        let (agent, worktree) = self.worktree(name).await?;
        if agent.is_busy_or_begins_next() {
            return Err(TeamError::AtWork { name: name.trim().to_owned() });
        }
        Ok(worktree)
    }

    /// Refuses an agent whose worktree is gone: it has nowhere to work.
    pub(super) async fn must_have_its_worktree(
        &self,
        name: &str,
        agent: &Session,
    ) -> Result<(), TeamError> {
        let Some(project) = agent.project() else { return Ok(()) };
        let removed = self.manager.removed_worktree(project.clone()).await.map_err(failed)?;
        if removed.is_none() {
            return Ok(());
        }
        let name = name.trim().to_owned();
        let finished = self.manager.finished_worktree(project).await.map_err(failed)?;
        let gone = || TeamError::Worktree { text: format!("the worktree of “{name}” is gone") };
        Err(finished.map_or_else(gone, |it| already_finished(name.clone(), it)))
    }
}

impl Member {
    /// Changes something in the worktree of an agent that is not at work. That runs to its end also where
    /// the caller gives up: nobody stays halted, and no merge is left half done.
    async fn finish<T, F>(
        &self,
        name: &str,
        work: impl FnOnce(Desk, Worktree) -> F + Send + 'static,
    ) -> Result<T, TeamError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        let name = name.to_owned();
        self.carry_out(&CancellationToken::new(), move |desk: Desk, _| async move {
            let worktree = desk.idle_worktree(&name).await?;
            Ok(work(desk, worktree).await.map_err(failed)?.into())
        })
        .await
    }
}

#[async_trait]
impl AgentWorktrees for Member {
    async fn show(&self, name: &str) -> Result<WorktreeWork, TeamError> {
        let desk = self.desk().await?;
        let (agent, worktree) = desk.worktree(name).await?;
        let status = desk.manager.worktree_status(worktree.clone()).await.map_err(failed)?;
        let diff = desk.manager.worktree_diff(worktree.clone()).await.map_err(failed)?;
        Ok(WorktreeWork { agent: agent.state_report().await?, worktree, status, diff })
    }

    async fn commit(&self, name: &str) -> Result<Committed, TeamError> {
        self.finish(name, |desk, worktree| async move {
            desk.manager.commit_worktree(worktree, None).await
        })
        .await
    }

    async fn plan_merge(&self, name: &str) -> Result<(Worktree, MergePreview), TeamError> {
        let desk = self.desk().await?;
        let worktree = desk.idle_worktree(name).await?;
        let preview = desk.manager.worktrees().preview_merge(&worktree).await.map_err(failed)?;
        Ok((worktree, preview))
    }

    async fn merge(&self, name: &str, plan: MergePreview) -> Result<MergedWorktree, TeamError> {
        self.finish(name, |desk, worktree| async move {
            desk.manager.commit_and_merge(worktree, plan).await
        })
        .await
    }

    async fn plan_discard(&self, name: &str) -> Result<(Worktree, RemovalPreview), TeamError> {
        let desk = self.desk().await?;
        let worktree = desk.idle_worktree(name).await?;
        let preview = desk.manager.worktrees().preview_discard(&worktree).await.map_err(failed)?;
        Ok((worktree, preview))
    }

    async fn discard(&self, name: &str) -> Result<Removed, TeamError> {
        self.finish(
            name,
            |desk, worktree| async move { desk.manager.discard_worktree(worktree).await },
        )
        .await
    }
}

/// Tells of a worktree that was finished by somebody else, or by a call that was stopped.
fn already_finished(name: String, finished: Finished) -> TeamError {
    let Finished { snapshot, merged_into } = finished;
    TeamError::Finished { name, merged_into, snapshot: snapshot.id }
}

/// What could not be done with a worktree, for the model.
pub(super) fn failed(error: Error) -> TeamError {
    match &error.kind {
        Kind::Worktree { .. } => {
            let text = error.detail.clone().unwrap_or_else(|| "it failed".to_owned());
            TeamError::Worktree { text }
        }
        _ => error.into(),
    }
}
