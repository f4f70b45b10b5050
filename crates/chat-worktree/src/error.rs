//! Defines what can go wrong with a worktree.

use std::io;
use std::path::{Path, PathBuf};

/// Why an operation failed. Nothing of the user's was changed, unless a variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The program `git` was not found.
    #[error("the program git was not found")]
    NoGit,
    /// The folder is in no git repository.
    #[error("{} is in no git repository", .0.display())]
    NotARepository(PathBuf),
    /// The repository is bare: it has no files of its own to work on.
    #[error("the repository at {} is bare", .0.display())]
    Bare(PathBuf),
    /// The repository has no commit yet.
    #[error("the repository has no commits")]
    NoCommits,
    /// The data of a repository or worktree leads elsewhere, or was put together in a way that
    /// could make an operation act outside of it.
    #[error("the git data at {} cannot be trusted", .0.display())]
    Foreign(PathBuf),
    /// The repository is of a kind that is not supported: references in a table.
    #[error("this kind of repository is not supported")]
    Unsupported,
    /// The base names no commit.
    #[error("{0} names no commit")]
    UnknownBase(String),
    /// Uncommitted changes can only be copied onto the commit that they were made on.
    #[error("the base is not the commit that the uncommitted changes belong to")]
    BaseIsNotHead,
    /// Git does not allow this name for a branch.
    #[error("{0} is no name for a branch")]
    InvalidBranch(String),
    /// There is such a branch, or one whose name stands in the way.
    #[error("the branch {0} exists")]
    BranchExists(String),
    /// There is no such branch.
    #[error("there is no branch {0}")]
    NoBranch(String),
    /// Something is already at the path.
    #[error("{} is in use", .0.display())]
    PathInUse(PathBuf),
    /// The folder of worktrees or snapshots is inside the repository, or the other way round.
    #[error("{} must be outside of the project", .0.display())]
    Inside(PathBuf),
    /// The folder is no worktree of Natter's, or its record cannot be read.
    #[error("{} is no worktree of Natter's", .0.display())]
    NotAWorktree(PathBuf),
    /// The worktree's folder is gone.
    #[error("{} is gone", .0.display())]
    FolderGone(PathBuf),
    /// The worktree's repository is gone.
    #[error("the repository at {} is gone", .0.display())]
    RepositoryGone(PathBuf),
    /// The worktree is on another branch than its own, or on none.
    #[error("the worktree is not on its own branch")]
    BranchSwitched,
    /// There is nothing to commit.
    #[error("there is nothing to commit")]
    NothingToCommit,
    /// The worktree has changes that are not committed.
    #[error("the worktree has uncommitted changes")]
    Uncommitted,
    /// No branch is known to merge into.
    #[error("no branch to merge into is known")]
    NoTarget,
    /// The branch to merge into is checked out in another worktree than the user's project.
    #[error("the branch is checked out at {}", .0.display())]
    CheckedOutElsewhere(PathBuf),
    /// A merge, rebase or the like is not finished in the user's checkout.
    #[error("another git operation is not finished at {}", .0.display())]
    OperationInProgress(PathBuf),
    /// Another program changes the repository at this moment.
    #[error("the repository is locked by {}", .0.display())]
    Locked(PathBuf),
    /// Something changed since it was looked at. Look again.
    #[error("something changed meanwhile")]
    Changed,
    /// There is no such snapshot.
    #[error("there is no snapshot {0}")]
    NoSnapshot(String),
    /// The snapshot was restored already: as the worktree of this name, in this folder.
    #[error("it was restored as {name} at {}", folder.display())]
    Restored {
        /// The name, as [`Worktree::short_name`](crate::Worktree::short_name) has it.
        name: String,
        /// The folder.
        folder: PathBuf,
    },
    /// A file could not be stored. Nothing was removed.
    #[error("{} cannot be read", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The caller gave up.
    #[error("given up")]
    Cancelled,
    /// `git` failed.
    #[error("git {what}: {message}")]
    Git {
        /// Its command.
        what: &'static str,
        /// The beginning of its error message, for a log.
        message: String,
    },
    /// The disk could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Error {
    /// For `map_err`.
    pub(crate) fn io(path: &Path) -> impl Fn(io::Error) -> Self + '_ {
        |source| Self::Io { path: path.to_owned(), source }
    }

    /// A failure of git that no kind describes.
    pub(crate) fn git(what: &'static str, message: &[u8]) -> Self {
        Self::Git { what, message: String::from_utf8_lossy(message).trim().to_owned() }
    }
}
