//! Manages git worktrees in which a coding agent works apart from the user's own files.
//!
//! [`Worktrees`] creates them, inspects them, compares, commits, merges and removes them. A worktree
//! has its own branch and folder. Before one is removed, its commits and files are stored in a
//! shadow repository outside of the user's, and can be restored.
//!
//! Nothing that a repository says is run: neither hooks nor filters, and no setting that names a
//! program. A command in a worktree can write its `.git` and most of its git folder, so no path is
//! ever taken from these. They are compared with a record that no command can write, and an
//! operation fails with [`Error::Foreign`] if they lead elsewhere.
//!
//! Submodules are not checked out: their folders are empty. Files of Git LFS and the like are what
//! the repository contains, without filters.
//!
//! Everything here blocks, so call it only where blocking is allowed. Long operations end with
//! [`Error::Cancelled`] soon after their flag is set. Several processes may use the same folders at
//! once.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod access;
mod changes;
mod checkout;
mod commit;
mod create;
mod diff;
mod error;
mod finished;
mod git;
mod link;
mod location;
mod merge;
mod names;
mod raw;
mod record;
mod remove;
mod restore;
mod shadow;
mod snapshot;
mod status;
mod work_index;
mod worktrees;

pub use access::WorktreeAccess;
pub use commit::{Committed, Identity};
pub use create::{CreateOptions, Created};
pub use diff::{ChangeKind, ChangedFile, DiffLimits, WorkDiff};
pub use error::Error;
pub use finished::Finished;
pub use location::Head;
pub use merge::{MergeKind, MergeOutcome, MergePreview};
pub use record::Worktree;
pub use remove::{CommitSummary, RemovalPreview, Removed};
pub use restore::Restored;
pub use snapshot::Snapshot;
pub use status::Status;
pub use worktrees::{Listed, Presence, Worktrees};
