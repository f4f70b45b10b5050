//! Defines what can go wrong with a journal.

use std::io;
use std::path::{Path, PathBuf};

/// Why a folder gets no journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is the home folder, or contains it.
    Home,
    /// It is the root folder.
    Root,
    /// It contains the journals, or is inside their folder.
    OwnState,
}

/// Why an operation failed. Nothing was changed in the project, unless a variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder gets no journal.
    #[error("this folder gets no journal: {0:?}")]
    Refused(Refusal),
    /// The program `git` was not found.
    #[error("the program git was not found")]
    NoGit,
    /// `git` failed.
    #[error("git {what}: {message}")]
    Git {
        /// Its command.
        what: &'static str,
        /// Its error message.
        message: String,
    },
    /// A content that the journal refers to is missing.
    #[error("the journal has lost the contents {0}")]
    Lost(String),
    /// The journal was written by a newer version.
    #[error("the journal has version {0}, which is newer than this program")]
    Newer(u32),
    /// No checkpoint has this number.
    #[error("there is no checkpoint {0}")]
    NoCheckpoint(u64),
    /// No answer of the session has this number, or it is too old.
    #[error("there is no answer {0}")]
    NoAnswer(u64),
    /// No restore has this number.
    #[error("there is no restore {0}")]
    NoRestore(u64),
    /// A path in the project.
    #[error(transparent)]
    Path(#[from] chat_permission::path::Error),
    /// A file of the journal itself.
    #[error("{}: {source}", path.display())]
    Io {
        /// Its path.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
}

impl Error {
    /// Converts a system error about a path.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
