//! Defines what can be wrong with an export of chats, and with a single chat in it.

use serde::{Deserialize, Serialize};

/// Why an export cannot be read, or not to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportFault {
    /// It could not be opened or read.
    Unreadable,
    /// There is nothing in it.
    Empty,
    /// It is no export of any known program.
    Unknown,
    /// It ends in the middle.
    Truncated,
    /// It is an archive that is damaged, encrypted or of an unknown kind.
    Archive,
    /// It is an archive with a path that leads out of it.
    UnsafePath,
    /// It is an archive that unpacks to much more than any real export.
    Bomb,
}

/// Why a single chat cannot be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChatImportFault {
    /// It is not of the form that such chats have.
    Form,
    /// It takes more memory than any real one.
    TooLarge,
    /// It holds no message.
    Empty,
    /// A newer version of Natter wrote it.
    Newer,
}
