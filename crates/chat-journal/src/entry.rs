//! Defines the entries of the log. They are stored: fields may be added, but the meaning of
//! existing ones must not change.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::node::{Id, StoredNode};

/// The number of an entry: numbers increase, and none is used twice.
pub type Seq = u64;

/// Who made a change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Origin {
    /// The session.
    pub session: String,
    /// The user's message that it was made for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub message: String,
    /// The tool call.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub call: String,
}

/// The source of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeSource {
    /// A tool wrote it.
    Tool,
    /// A command wrote it.
    Command,
    /// The user restored a checkpoint, or undid that.
    Restore,
    /// The person rejected a change.
    Reject,
    /// The user undid a rejection.
    Undo,
    /// The user made it in Natter: it belongs to no session, and is recorded so that it is not
    /// attributed to a command.
    Person,
}

/// A hunk of a session's change. It keeps its id while others appear and disappear, until its own
/// text changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HunkId {
    /// The entry that made it.
    pub seq: Seq,
    /// Its index in that entry.
    pub index: u32,
}

impl fmt::Display for HunkId {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{}.{}", self.seq, self.index)
    }
}

/// A text that is not a hunk's id.
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
    /// Milliseconds since 1970; entries that were written together have the same.
    pub at: u64,
    #[serde(flatten)]
    pub kind: EntryKind,
}

impl Entry {
    /// The contents that it refers to.
    pub fn stored_nodes(&self) -> impl Iterator<Item = StoredNode> + use<> {
        self.kind.stored_nodes()
    }
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum EntryKind {
    /// The project's state was stored.
    Checkpoint {
        session: String,
        message: String,
        tree: Id,
        /// Created by a restore before it began.
        #[serde(default)]
        before_restore: bool,
    },
    /// A file changed.
    Change(Changed),
    /// The user accepted hunks, or a whole file.
    Accepted {
        session: String,
        #[serde(with = "crate::names::path")]
        path: PathBuf,
        hunks: Option<Vec<HunkId>>,
        /// The answer that it belongs to, by its first entry.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<Seq>,
        /// Nothing of the session is left to review.
        settled: bool,
    },
    /// The user undid accepting something of a file: it is open for review again.
    Reopened {
        session: String,
        #[serde(with = "crate::names::path")]
        path: PathBuf,
        /// Its path before the session moved it.
        #[serde(
            default,
            with = "crate::names::maybe_path",
            skip_serializing_if = "Option::is_none"
        )]
        origin: Option<PathBuf>,
        /// The file without the open changes.
        base: Option<StoredNode>,
        /// The file with the open changes.
        now: Option<StoredNode>,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        touched: bool,
    },
    /// The user restored a checkpoint. The changes follow.
    Restored {
        session: String,
        /// The checkpoint, or the restore that was undone.
        to: Seq,
        undoes: bool,
        /// The checkpoint that was created before.
        before: Seq,
        /// The other sessions whose changes it took back, or brought back. Older logs don't name them.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        others: Vec<String>,
    },
    /// The session was deleted: none of its changes are reviewed any more.
    Forgotten { session: String },
}

impl EntryKind {
    /// Whether nothing of its session is left to review after it.
    pub fn settles(&self) -> bool {
        match self {
            Self::Accepted { settled, .. } | Self::Change(Changed { settled, .. }) => *settled,
            Self::Forgotten { .. } => true,
            Self::Checkpoint { .. } | Self::Restored { .. } | Self::Reopened { .. } => false,
        }
    }

    /// Its session.
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

    /// The contents that it refers to.
    pub fn stored_nodes(&self) -> impl Iterator<Item = StoredNode> + use<> {
        let (before, after) = match self {
            Self::Change(change) => (change.before, change.after),
            Self::Reopened { base, now, .. } => (*base, *now),
            _ => (None, None),
        };
        before.into_iter().chain(after)
    }

    /// The user's answer that it belongs to.
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
    /// Its old path if it was moved. `before` was there.
    #[serde(default, with = "crate::names::maybe_path", skip_serializing_if = "Option::is_none")]
    pub from: Option<PathBuf>,
    pub before: Option<StoredNode>,
    pub after: Option<StoredNode>,
    /// The restore that it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restore: Option<Seq>,
    /// The answer that it belongs to, by its first entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<Seq>,
    /// The restore or the answer whose change this undoes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Seq>,
    /// What was rejected: hunks, or (`None`) the whole change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hunks: Option<Vec<HunkId>>,
    /// Nothing of the session is left to review.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub settled: bool,
}
