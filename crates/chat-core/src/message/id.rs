//! Defines the ids of sessions, messages, tool calls and models.

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

/// A session's id: its local start time, `2026-01-15-14-30-45`, with `-2`, `-3` … where several
/// begin in one second. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fid(Arc<str>);

impl Fid {
    /// Takes an id as it was stored or typed. Whether such a session exists is the store's to say.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// What the ids of temporary sessions begin with.
    pub(crate) const TEMPORARY: &str = "temporary-";

    /// Whether this is a session that is kept in memory alone, until the program ends.
    pub fn is_temporary(&self) -> bool {
        self.0.starts_with(Self::TEMPORARY)
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Fid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A message's id: a UUID of version 7, so that ids sort by time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct MessageId(Uuid);

impl MessageId {
    /// A new id, later than all that this process made before.
    #[expect(clippy::new_without_default, reason = "every call gives another value")]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }

    /// The id's 16 bytes, as stored.
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }

    /// Reads what [`as_bytes`](Self::as_bytes) gave.
    pub fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }
}

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A tool call's id, as the server gave it or as we made it where it gave none.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ToolCallId(Arc<str>);

impl ToolCallId {
    /// Takes a server's id.
    pub fn new(id: impl Into<Arc<str>>) -> Self {
        Self(id.into())
    }

    /// Makes an id for a call that came without one.
    pub fn generate() -> Self {
        Self(format!("call_{}", Uuid::now_v7().simple()).into())
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A model on a connection, by name: `connection/model`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModelRef {
    /// The connection's name.
    pub connection: String,
    /// The model's name on it; may hold slashes.
    pub model: String,
}

impl ModelRef {
    /// Names a model on a connection.
    pub fn new(connection: impl Into<String>, model: impl Into<String>) -> Self {
        Self { connection: connection.into(), model: model.into() }
    }

    /// Whether this name may be what is shown of a longer one, as [`display_name`](crate::models::display_name)
    /// shows it: never where it is itself a path or the name of a file.
    pub fn may_be_shown_of_another(&self) -> bool {
        !self.model.contains(['/', '\\'])
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.connection, self.model)
    }
}
