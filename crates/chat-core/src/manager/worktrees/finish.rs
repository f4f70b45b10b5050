//! Finishes worktrees: commits, merges and discards them, once nobody works there.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_worktree::{Committed, Finished, Identity, MergeOutcome, MergePreview, Removed, Worktree};

use super::super::closing::Halted;
use super::super::{Kind, Manager, MergedWorktree, Result};
use crate::error::WorktreeFault;
use crate::session::Session;

impl Manager {
    /// Commits all of a worktree.
    pub(in crate::manager) async fn commit_worktree(
        &self,
        worktree: Worktree,
        message: Option<String>,
    ) -> Result<Committed> {
        self.nobody_works_in(worktree.folder()).await?;
        let message = message.filter(|message| !message.trim().is_empty());
        let message = message.unwrap_or_else(|| message_of(&worktree));
        self.git(move |trees, stop| trees.commit(&worktree, &message, &natter(), stop)).await
    }

    /// Commits all of a worktree that a preview showed, merges it, and removes the worktree if that
    /// succeeds. Nothing is committed where it has other files by now.
    pub(in crate::manager) async fn commit_and_merge(
        &self,
        worktree: Worktree,
        mut preview: MergePreview,
    ) -> Result<MergedWorktree> {
        if preview.is_dirty {
            self.nobody_works_in(worktree.folder()).await?;
            let (it, shown, message) = (worktree.clone(), preview.clone(), message_of(&worktree));
            let Committed { commit, .. } = self
                .git(move |trees, stop| {
                    trees.commit_previewed(&it, &shown, &message, &natter(), stop)
                })
                .await?;
            preview = MergePreview { head: commit.clone(), commit, is_dirty: false, ..preview };
        }
        self.merge_worktree(worktree, preview).await
    }

    /// Merges a worktree, and removes it if that succeeds. Its agents are closed, also where its folder
    /// is gone.
    pub(in crate::manager) async fn merge_worktree(
        &self,
        worktree: Worktree,
        preview: MergePreview,
    ) -> Result<MergedWorktree> {
        self.nobody_works_in(worktree.folder()).await?;
        let message = format!("Merge branch '{}' into {}", worktree.branch(), preview.target);
        let merging = worktree.clone();
        let outcome = self
            .git(move |trees, stop| trees.merge(&merging, &preview, &message, &natter(), stop))
            .await?;
        let is_merged = matches!(outcome, MergeOutcome::Merged { .. } | MergeOutcome::UpToDate);
        if !is_merged {
            return Ok(MergedWorktree { outcome, removed: None });
        }
        if worktree.folder().symlink_metadata().is_err() {
            // Nothing is left of it but its branch, which is merged.
            let sessions = self.nobody_works_in(worktree.folder()).await?;
            self.close_agents_among(&sessions).await;
            self.git(move |trees, _| trees.forget(&worktree)).await?;
            return Ok(MergedWorktree { outcome, removed: None });
        }
        let removed = self.discard_worktree(worktree).await.inspect_err(|error| {
            tracing::warn!(%error, "a worktree that was merged was not removed");
        });
        Ok(MergedWorktree { outcome, removed: removed.ok() })
    }

    /// Stores a worktree and removes it. Commands in it are ended before, and its agents closed.
    pub(in crate::manager) async fn discard_worktree(&self, worktree: Worktree) -> Result<Removed> {
        let sessions = self.nobody_works_in(worktree.folder()).await?;
        let mut halted = Halted::default();
        for session in &sessions {
            // Also its commands in the background.
            halted.add(Arc::clone(session));
        }
        for session in &sessions {
            // Whoever deletes them takes the gates in another order. What is halted needs none.
            drop(session.halted().await);
            for command in session.commands() {
                session.end_command(&command.id).await;
            }
        }
        let removed = self.git(move |trees, stop| trees.remove(&worktree, true, stop)).await;
        drop(halted);
        let removed = removed?;
        self.close_agents_among(&sessions).await;
        Ok(removed)
    }

    /// Closes the agents among the sessions of a worktree that is gone.
    async fn close_agents_among(&self, sessions: &[Arc<Session>]) {
        let agents = sessions.iter().filter(|session| session.placeholder().name.is_some());
        for agent in agents {
            if let Err(error) = self.close_agents(agent.fid()).await {
                tracing::warn!(%error, "the agent of a removed worktree is not closed");
            }
        }
    }

    /// What became of a worktree that is gone, by a path that was in it.
    pub(in crate::manager) async fn finished_worktree(
        &self,
        path: PathBuf,
    ) -> Result<Option<Finished>> {
        self.git(move |trees, stop| trees.finished(&path, stop)).await
    }

    /// Whether the worktree that a project was in is gone, and what is to be said of that.
    pub(in crate::manager) async fn removed_worktree(
        &self,
        project: PathBuf,
    ) -> Result<Option<WorktreeFault>> {
        self.git(move |trees, _| Ok(WorktreeFault::of_removed(trees, &project))).await
    }

    /// The sessions that work in a folder, none of which is at work now.
    async fn nobody_works_in(&self, folder: &Path) -> Result<Vec<Arc<Session>>> {
        let mut sessions = Vec::new();
        for record in self.inner.shared.store.sessions().await? {
            if !record.project.as_ref().is_some_and(|project| project.starts_with(folder)) {
                continue;
            }
            let session = self.session(&record.fid).await?;
            if session.is_busy_or_begins_next() {
                return Err(Kind::SessionAtWork.into());
            }
            if record.in_use {
                return Err(Kind::SessionInUse.into());
            }
            sessions.push(session);
        }
        Ok(sessions)
    }
}

/// The message of a commit without one.
fn message_of(worktree: &Worktree) -> String {
    format!("Add the work of {}", worktree.name())
}

/// Who commits, where git's settings do not say who the user is.
fn natter() -> Identity {
    Identity { name: "Natter".to_owned(), email: "natter@localhost".to_owned() }
}
