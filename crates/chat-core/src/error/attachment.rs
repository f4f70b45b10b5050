//! Defines why a file cannot be attached.

use serde::{Deserialize, Serialize};

/// Why a file cannot be attached to a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AttachmentFault {
    /// There is none of this name.
    Missing,
    /// It cannot be opened or read.
    Unreadable,
    /// It is a folder.
    Folder,
    /// It is no regular file: a pipe, a socket, a device.
    NotAFile,
    /// It is larger than what is read.
    TooLarge {
        /// The largest that is read, in megabytes.
        limit: u64,
    },
    /// It is a kind of file that cannot be attached.
    Unsupported,
    /// It is damaged, or is not what its name says.
    Broken,
    /// It needs a password.
    Encrypted,
    /// It has no text: a scanned one, say.
    NoText,
    /// Reading it took more memory or time than any file may take.
    TooMuch,
    /// The program that reads such files is not installed or does not start.
    NoDecoder,
    /// The program that reads such files cannot be confined on this system, and so did not read it.
    NotConfined,
}
