//! Defines what can go wrong with a journal.

use std::io;
use std::path::{Path, PathBuf};

/// Why a folder gets no journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// It is the home folder, or holds it.
    Home,
    /// It is the root of all folders.
    Root,
    /// It holds the journals, or lies among them.
    OwnState,
}

/// Why something was not done. Nothing was changed in the project, unless a variant says otherwise.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The folder gets no journal.
    #[error("this folder gets no journal: {0:?}")]
    Refused(Refusal),
    /// The program `git` is not there.
    #[error("the program git was not found")]
    NoGit,
    /// `git` failed.
    #[error("git {what}: {message}")]
    Git {
        /// Which of its commands.
        what: &'static str,
        /// What it said.
        message: String,
    },
    /// A content that the journal names is not there.
    #[error("the journal has lost the contents {0}")]
    Lost(String),
    /// The journal was written by a newer version.
    #[error("the journal has version {0}, which is newer than this program")]
    Newer(u32),
    /// No checkpoint has this number.
    #[error("there is no checkpoint {0}")]
    NoCheckpoint(u64),
    /// No answer of the session has this number, or it is too long ago.
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
        /// Which.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
}

impl Error {
    /// Makes one of what the system said about a path.
    pub(crate) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
