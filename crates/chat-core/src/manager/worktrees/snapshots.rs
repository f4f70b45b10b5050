//! Lists, restores and deletes snapshots of removed worktrees.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use chat_worktree::{Restored, Snapshot, Worktrees as Trees};

use super::super::Result;
use super::Worktrees;

impl Worktrees {
    /// The snapshots of removed worktrees, the latest first.
    ///
    /// # Errors
    /// `Worktree`.
    pub async fn snapshots(&self) -> Result<Vec<Snapshot>> {
        let this = self.0.clone();
        self.0.run(async move { this.git(Trees::snapshots).await }).await
    }

    /// Makes a snapshot a worktree again. The snapshot stays. Without a project it is made in the one
    /// that it came from.
    ///
    /// # Errors
    /// `Worktree`, also where a worktree that was restored from it is there.
    pub async fn restore(&self, id: &str, project: Option<PathBuf>) -> Result<Restored> {
        let (this, id) = (self.0.clone(), id.to_owned());
        let restore = async move {
            let restore = move |trees: &Trees, stop: &AtomicBool| {
                if let Some(project) = project {
                    return trees.restore(&id, &project, stop);
                }
                let found = trees.snapshots(stop)?.into_iter().find(|snapshot| snapshot.id == id);
                let found = found.ok_or_else(|| chat_worktree::Error::NoSnapshot(id.clone()))?;
                trees.restore(&id, &found.project, stop)
            };
            this.git(restore).await
        };
        self.0.run(restore).await
    }

    /// Deletes a snapshot for good.
    ///
    /// # Errors
    /// `Worktree`: there is none, or the disk fails.
    pub async fn delete_snapshot(&self, id: &str) -> Result<()> {
        let (this, id) = (self.0.clone(), id.to_owned());
        let delete =
            async move { this.git(move |trees, stop| trees.delete_snapshot(&id, stop)).await };
        self.0.run(delete).await
    }
}
