//! Defines what can go wrong with a worktree.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use chat_worktree::{self as worktree, Worktrees};
use serde::{Deserialize, Serialize};

use super::{Error, Kind};

/// Why something could not be done with a worktree. Nothing was changed then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorktreeFault {
    /// There is no program `git`.
    NoGit,
    /// The project is in no git repository that can have worktrees.
    NoRepository {
        /// The project.
        path: PathBuf,
    },
    /// The repository has no commit yet.
    NoCommits,
    /// There is no such commit or branch to begin with.
    UnknownBase {
        /// Its name.
        name: String,
    },
    /// Uncommitted changes were to be copied to another commit than their own.
    OtherBase,
    /// This cannot be the name of a branch.
    InvalidBranch {
        /// The name.
        name: String,
    },
    /// There is such a branch already.
    BranchExists {
        /// Its name.
        name: String,
    },
    /// There is no such worktree, or it is gone.
    NotFound {
        /// Its name or path.
        name: String,
    },
    /// Several worktrees have this name.
    Several {
        /// The name.
        name: String,
        /// Their folders.
        paths: Vec<PathBuf>,
    },
    /// The worktree that a chat worked in was removed.
    Removed {
        /// The branch that it was merged into; none if it was not, or nobody knows.
        merged_into: Option<String>,
        /// Whether a snapshot is left, from which it can be restored.
        #[serde(default)]
        has_snapshot: bool,
    },
    /// Nothing was changed since the last commit.
    NothingToCommit,
    /// It has changes that are not committed.
    Uncommitted,
    /// It is not known what to merge into.
    NoTarget,
    /// A command switched to another branch than the worktree's own.
    BranchSwitched,
    /// The branch to merge into is checked out in another folder.
    CheckedOut {
        /// The folder.
        path: PathBuf,
    },
    /// Another git operation is at work there, or waits to be continued.
    Unfinished {
        /// Where.
        path: PathBuf,
    },
    /// Something changed at the same moment.
    Changed,
    /// There is no such snapshot.
    NoSnapshot {
        /// Its id.
        id: String,
    },
    /// The snapshot was restored already.
    Restored {
        /// The name of the worktree.
        name: String,
        /// Its folder.
        path: PathBuf,
    },
    /// The worktree's folder was deleted.
    FolderGone {
        /// The folder.
        path: PathBuf,
    },
    /// Git's data was changed so that it could lead elsewhere.
    Untrusted {
        /// Where.
        path: PathBuf,
    },
    /// Git or the disk failed.
    Failed,
}

impl WorktreeFault {
    /// What became of the worktree that a project was in, where that was removed. Blocks.
    pub(crate) fn of_removed(worktrees: &Worktrees, project: &Path) -> Option<Self> {
        // Without a record it is removed; with a damaged one its folder is still there.
        if worktrees.containing(project).is_ok() || project.exists() {
            return None;
        }
        let finished = worktrees.finished(project, &AtomicBool::new(false)).ok().flatten();
        let has_snapshot = finished.is_some();
        Some(Self::Removed { merged_into: finished.and_then(|it| it.merged_into), has_snapshot })
    }
}

impl From<worktree::Error> for Error {
    fn from(error: worktree::Error) -> Self {
        use WorktreeFault as Fault;
        use worktree::Error as Cause;
        let detail = error.to_string();
        let named = |path: PathBuf| path.display().to_string();
        let fault = match error {
            Cause::NoGit => Fault::NoGit,
            Cause::NotARepository(path) | Cause::Bare(path) => Fault::NoRepository { path },
            Cause::NoCommits => Fault::NoCommits,
            Cause::Foreign(path) => Fault::Untrusted { path },
            Cause::UnknownBase(name) => Fault::UnknownBase { name },
            Cause::BaseIsNotHead => Fault::OtherBase,
            Cause::InvalidBranch(name) => Fault::InvalidBranch { name },
            Cause::BranchExists(name) => Fault::BranchExists { name },
            Cause::NotAWorktree(path) | Cause::RepositoryGone(path) => {
                Fault::NotFound { name: named(path) }
            }
            Cause::FolderGone(path) => Fault::FolderGone { path },
            Cause::BranchSwitched => Fault::BranchSwitched,
            Cause::NothingToCommit => Fault::NothingToCommit,
            Cause::Uncommitted => Fault::Uncommitted,
            Cause::NoTarget => Fault::NoTarget,
            Cause::CheckedOutElsewhere(path) => Fault::CheckedOut { path },
            Cause::OperationInProgress(path) | Cause::Locked(path) => Fault::Unfinished { path },
            Cause::Changed => Fault::Changed,
            Cause::NoSnapshot(id) => Fault::NoSnapshot { id },
            Cause::Restored { name, folder } => Fault::Restored { name, path: folder },
            Cause::NoBranch(_)
            | Cause::Unsupported
            | Cause::PathInUse(_)
            | Cause::Inside(_)
            | Cause::Unreadable { .. }
            | Cause::Cancelled
            | Cause::Git { .. }
            | Cause::Io { .. } => Fault::Failed,
        };
        Self::new(Kind::Worktree { fault }).with_detail(detail)
    }
}
