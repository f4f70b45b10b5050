//! Defines the entries of the log. Stored: fields may be added, but none may change its meaning.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::node::{Id, StoredNode};

/// The number of an entry: later ones have greater numbers, and none is used twice.
pub type Seq = u64;

/// Whose doing a change is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The session.
    pub session: String,
    /// The message of the person that it was done for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The tool call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call: String,
}

/// How a change came to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeSource {
    /// A tool wrote it.
    Tool,
    /// A command did.
    Command,
    /// The person went back to a checkpoint, or took that back.
    Restore,
    /// The person rejected a change.
    Reject,
    /// The person took a rejection back.
    Undo,
    /// The person did it in Natter: it is no session's, and told so that no command is taken for its doer.
    Person,
}

/// A hunk of a session's change. It keeps its name while others come and go, until its own text changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HunkId {
    /// The entry that made it.
    pub seq: Seq,
    /// Which one of that entry.
    pub index: u32,
}

impl fmt::Display for HunkId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}.{}", self.seq, self.index)
    }
}

/// A text that names no hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("this names no hunk")]
pub struct NoHunkId;

impl FromStr for HunkId {
    type Err = NoHunkId;

    fn from_str(text: &str) -> Result<Self, NoHunkId> {
        let (seq, index) = text.split_once('.').ok_or(NoHunkId)?;
        let number = |_| NoHunkId;
        Ok(Self { seq: seq.parse().map_err(number)?, index: index.parse().map_err(number)? })
    }
}

impl Serialize for HunkId {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for HunkId {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Entry {
    pub seq: Seq,
    /// Milliseconds since 1970; those that were written together have the same.
    pub at: u64,
    #[serde(flatten)]
    pub kind: EntryKind,
}

impl Entry {
    /// The contents that it names.
    pub fn stored_nodes(&self) -> impl Iterator<Item = StoredNode> + use<> {
        self.kind.stored_nodes()
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum EntryKind {
    /// The project's state was kept.
    Checkpoint {
        session: String,
        message: String,
        tree: Id,
        /// Made by a restore before it began.
        #[serde(default)]
        before_restore: bool,
    },
    /// A file changed.
    Change(Changed),
    /// The person accepted hunks, or all of a file.
    Accepted {
        session: String,
        #[serde(with = "crate::names::path")]
        path: PathBuf,
        hunks: Option<Vec<HunkId>>,
        /// The answer that it is part of, by its first entry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Seq>,
        /// Nothing of the session's is left to review.
        settled: bool,
    },
    /// The person took it back that they had accepted something of a file: it is to be reviewed again.
    Reopened {
        session: String,
        #[serde(with = "crate::names::path")]
        path: PathBuf,
        /// Where it lay before the session moved it.
        #[serde(
            default,
            with = "crate::names::maybe_path",
            skip_serializing_if = "Option::is_none"
        )]
        origin: Option<PathBuf>,
        /// The file without what is to be reviewed.
        base: Option<StoredNode>,
        /// The file with it.
        now: Option<StoredNode>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        touched: bool,
    },
    /// The person went back to a checkpoint. The changes follow.
    Restored {
        session: String,
        /// The checkpoint, or the restore that was undone.
        to: Seq,
        undoes: bool,
        /// The checkpoint that was made before.
        before: Seq,
    },
    /// The session is gone: nothing of it is reviewed any more.
    Forgotten { session: String },
}

impl EntryKind {
    /// Whether nothing of its session's is left to review after it.
    pub fn settles(&self) -> bool {
        match self {
            Self::Accepted { settled, .. } | Self::Change(Changed { settled, .. }) => *settled,
            Self::Forgotten { .. } => true,
            Self::Checkpoint { .. } | Self::Restored { .. } | Self::Reopened { .. } => false,
        }
    }

    /// The session that it is of.
    pub fn session(&self) -> &str {
        match self {
            Self::Checkpoint { session, .. }
            | Self::Accepted { session, .. }
            | Self::Reopened { session, .. }
            | Self::Restored { session, .. }
            | Self::Forgotten { session } => session,
            Self::Change(change) => &change.origin.session,
        }
    }

    /// The contents that it names.
    pub fn stored_nodes(&self) -> impl Iterator<Item = StoredNode> + use<> {
        let (before, after) = match self {
            Self::Change(change) => (change.before, change.after),
            Self::Reopened { base, now, .. } => (*base, *now),
            _ => (None, None),
        };
        before.into_iter().chain(after)
    }

    /// The answer of the person's that it is part of.
    pub fn answer(&self) -> Option<Seq> {
        match self {
            Self::Accepted { answer, .. } | Self::Change(Changed { answer, .. }) => *answer,
            _ => None,
        }
    }
}

/// A file's change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Changed {
    #[serde(flatten)]
    pub origin: Origin,
    pub by: ChangeSource,
    #[serde(with = "crate::names::path")]
    pub path: PathBuf,
    /// Where it lay before, when it was moved. `before` lay there.
    #[serde(default, with = "crate::names::maybe_path", skip_serializing_if = "Option::is_none")]
    pub from: Option<PathBuf>,
    pub before: Option<StoredNode>,
    pub after: Option<StoredNode>,
    /// The restore that it is part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore: Option<Seq>,
    /// The answer that it is part of, by its first entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Seq>,
    /// The restore or the answer whose change this takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Seq>,
    /// What was rejected: hunks, or (`None`) the whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunks: Option<Vec<HunkId>>,
    /// Nothing of the session's is left to review.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settled: bool,
}
