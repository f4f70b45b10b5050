//! Defines why a command could not be started.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// Why a command could not be started. A failure of the command itself is reported in its
/// [`Exit`](crate::Exit) instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The project, the working directory or a granted folder does not exist, or is not a folder.
    #[error("the folder {path} cannot be used: {error}")]
    Folder {
        /// The path.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The working directory is outside the project; for a program, outside its folders.
    #[error("the folder {0} is outside the project")]
    Outside(PathBuf),
    /// The project or a granted folder is the home folder or contains it: a sandbox would hide
    /// nothing.
    #[error("the folder {0} contains the home folder")]
    TooWide(PathBuf),
    /// The project or a granted folder contains a folder of Natter's own.
    #[error("Natter's own folder {0} would be visible")]
    OwnFolder(PathBuf),
    /// A protected name is a symbolic link, whose target a command could replace.
    #[error("{0} is a symbolic link and cannot be protected")]
    ProtectedLink(PathBuf),
    /// There is no such program.
    #[error("the program {} was not found", .0.display())]
    NotFound(OsString),
    /// The program exists, but the sandbox does not show it: its folder must be granted.
    #[error("the sandbox hides the program {0}")]
    HiddenProgram(PathBuf),
    /// The command contains a NUL, which cannot be passed to a program.
    #[error("the command contains a NUL byte")]
    Nul,
    /// The system call filter could not be created or passed on.
    #[error("the system call filter could not be created: {0}")]
    Filter(io::Error),
    /// The kernel refused to apply Landlock.
    #[error("Landlock could not be applied: {0}")]
    Landlock(String),
    /// The program could not be started.
    #[error("the command could not be started: {0}")]
    Start(io::Error),
    /// The output file could not be created.
    #[error("the output cannot be stored: {0}")]
    Output(io::Error),
}
