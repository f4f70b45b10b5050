//! Records every change to a project's files: one journal per project holds the changes of all
//! sessions.
//!
//! [`Journal`] keeps contents in a shadow git repository outside the project, and events in an
//! append-only log. From these two come [checkpoints](Journal::checkpoint), the
//! [review](Journal::changes) of a session's changes, hunk by hunk, and
//! [restoring](Journal::restore). Everything that brings files back is a three-way merge: what the
//! user changed in between stays, and where it cannot stay the file is left alone and reported.
//!
//! Everything here blocks, so call it only where blocking is allowed. A [`Journal`] is cheap to
//! clone, and may be used from several threads and, for the same project, from several processes at
//! once.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod apply;
pub mod diff;
mod direct_edits;
mod disk;
mod entry;
mod error;
mod git;
mod journal;
mod lock;
mod log;
mod manifest;
mod merge;
mod names;
mod node;
mod open_changes;
mod prune;
mod record;
mod resolve_moves;
mod restore;
mod review;
mod scan;
mod state;
mod walk;

pub use apply::{Conflict, ConflictReason};
pub use entry::{ChangeSource, HunkId, Origin, Seq};
pub use error::{Error, Refusal};
pub use journal::{Checkpoint, Journal, Limits};
pub use manifest::{LeftOut, LeftOutReason};
pub use merge::{merge_texts, merge_texts_marked};
pub use node::{Mode, Node};
pub use prune::Pruned;
pub use record::{Change, Recorded};
pub use restore::{Restored, RestoredFile};
pub use review::{FileChange, FileKind, Hunk, Rejection, ReviewOutcome, ReviewScope};
pub use scan::Scan;
