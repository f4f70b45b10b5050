//! Defines why a command could not be started.

use std::io;
use std::path::PathBuf;

/// Why a command could not be started. None of them is the command's own failure, which its
/// [`Exit`](crate::Exit) tells.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The project, or the folder to run in, is not there or is no folder.
    #[error("the folder {path} cannot be used: {error}")]
    Folder {
        /// Which one.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The folder to run in lies outside the project.
    #[error("the folder {0} is outside the project")]
    Outside(PathBuf),
    /// The project is the home folder or contains it: a sandbox would hide nothing.
    #[error("the project {0} contains the home folder")]
    TooWide(PathBuf),
    /// The project contains a folder of Natter's own.
    #[error("the project contains Natter's own folder {0}")]
    OwnFolder(PathBuf),
    /// A protected name is a symbolic link, which a command could put another file behind.
    #[error("{0} is a symbolic link and cannot be protected")]
    ProtectedLink(PathBuf),
    /// The command has a NUL in it, which no program can be given.
    #[error("the command contains a NUL byte")]
    Nul,
    /// The filter of system calls could not be made or handed over.
    #[error("the system call filter could not be created: {0}")]
    Filter(io::Error),
    /// The kernel refused to be bound by Landlock.
    #[error("Landlock could not be applied: {0}")]
    Landlock(String),
    /// The program could not be started.
    #[error("the command could not be started: {0}")]
    Start(io::Error),
    /// The place for the output could not be made.
    #[error("the output cannot be stored: {0}")]
    Output(io::Error),
}
