//! Defines what is at a path (a file or a link with its contents, or nothing) and how the journal
//! names it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};

/// The kind of an entry at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// A file.
    File,
    /// A file that its owner may run.
    Executable,
    /// A symbolic link; its contents are its target.
    Link,
}

impl Mode {
    /// The mode in git's format.
    pub(crate) fn for_git(self) -> &'static str {
        match self {
            Self::File => "100644",
            Self::Executable => "100755",
            Self::Link => "120000",
        }
    }
}

/// A file or a link on disk. Cheap to clone. Two with the same kind and contents are equal.
#[derive(Clone)]
pub struct Node {
    /// Its kind.
    pub mode: Mode,
    /// Its contents, exactly.
    pub bytes: Arc<[u8]>,
    /// A file's permissions (0o777), if known: a file that only the user could read gets them back
    /// when it is restored.
    pub permissions: Option<u16>,
}

impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        (self.mode, &self.bytes) == (other.mode, &other.bytes)
    }
}

impl Eq for Node {}

impl Node {
    /// A file that is not executable.
    pub fn file(bytes: impl Into<Arc<[u8]>>) -> Self {
        Self { mode: Mode::File, bytes: bytes.into(), permissions: None }
    }

    /// Whether it can be compared and merged by lines.
    pub(crate) fn is_text(&self) -> bool {
        /// As in git.
        const LOOKED_AT: usize = 8000;
        self.mode != Mode::Link && !self.bytes.iter().take(LOOKED_AT).any(|&byte| byte == 0)
    }

    pub(crate) fn stored(&self) -> StoredNode {
        let (mode, permissions) = (self.mode, self.permissions);
        StoredNode { mode, id: Id::of(&self.bytes), size: self.bytes.len() as u64, permissions }
    }
}

impl fmt::Debug for Node {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(to, "{:?} {:?}", self.mode, String::from_utf8_lossy(&self.bytes))
    }
}

/// What lies at a path, or nothing.
pub(crate) type State = Option<Node>;

/// The id of a content: git's own, in repositories with SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id([u8; 32]);

impl Id {
    /// git's id of a file with these contents.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hash = Sha256::new();
        hash.update(format!("blob {}\0", bytes.len()));
        hash.update(bytes);
        Self(hash.finalize().into())
    }

    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(to, "{byte:02x}"))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, to)
    }
}

/// A text that is not an id.
#[derive(Debug, thiserror::Error)]
#[error("this is no id")]
pub struct NoId;

impl FromStr for Id {
    type Err = NoId;

    fn from_str(text: &str) -> Result<Self, NoId> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(NoId);
        }
        let mut id = [0; 32];
        for (byte, pair) in id.iter_mut().zip(digits.chunks(2)) {
            let digit = |place: usize| char::from(pair[place]).to_digit(16).ok_or(NoId);
            *byte = (digit(0)? * 16 + digit(1)?) as u8;
        }
        Ok(Self(id))
    }
}

impl Serialize for Id {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Id {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A [`Node`] in the form for the log.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct StoredNode {
    pub mode: Mode,
    pub id: Id,
    pub size: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permissions: Option<u16>,
}

impl PartialEq for StoredNode {
    fn eq(&self, other: &Self) -> bool {
        (self.mode, self.id) == (other.mode, other.id)
    }
}

impl Eq for StoredNode {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_git() {
        let id = Id::of(b"abc");
        assert_eq!(
            id.to_string(),
            "c1cf6e465077930e88dc5136641d402f72a229ddd996f627d60e9639eaba35a6"
        );
        assert_eq!(id.to_string().parse::<Id>().unwrap(), id);
        assert!("c1".parse::<Id>().is_err() && "x".repeat(64).parse::<Id>().is_err());
    }
}
