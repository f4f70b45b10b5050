//! Records what happened to a project's files: one journal a project holds every change of every
//! session.
//!
//! [`Journal`] keeps contents in a shadow git repository outside the project, and what happened in a log that is
//! only ever appended to. From these two come [checkpoints](Journal::checkpoint), the
//! [review](Journal::changes) of what a session did, hunk by hunk, and [restoring](Journal::restore). Whatever
//! brings files back is a three-way merge: what a person changed in between stays, and where it cannot stay the
//! file is left alone and named.
//!
//! Everything here blocks: call it where that is allowed. A [`Journal`] is cheap to clone, and may be used from
//! several threads and, for the same project, from several processes at once.

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
