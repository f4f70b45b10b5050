//! Defines a program to run with pipes, such as an MCP server: it runs until it ends or is ended,
//! and is talked to over its standard input and output.

mod find;
mod log;
mod running;
mod stdin;

use std::ffi::OsString;
use std::path::PathBuf;

pub(crate) use self::find::find;
pub(crate) use self::log::Log;
pub(crate) use self::running::begin;
pub use self::running::{Pipes, RunningProgram};
pub use self::stdin::ProgramStdin;
use crate::command::{Limits, Secrets};

/// A program to run.
#[derive(Debug, Clone)]
pub struct Program {
    /// In a sandbox, a folder to run in and caches are kept under this name, and shown to no other
    /// program and no command. What is started under a name can read all that was kept under it,
    /// so programs of two projects must not share one.
    pub name: String,
    /// The program: a name that is looked up in the `PATH` of its environment, an absolute path,
    /// or a path with a slash relative to its working directory.
    pub program: OsString,
    /// Its arguments, which no shell reads.
    pub arguments: Vec<OsString>,
    /// The working directory: a granted folder or a folder in one. By default its own folder; if
    /// nothing is enforced, the home folder, and any other folder may be chosen.
    pub folder: Option<PathBuf>,
    /// The folders that it may use, besides its own.
    pub granted: Vec<GrantedFolder>,
    /// Whether the network is granted. Without it, nothing can be reached, not even 127.0.0.1.
    pub network: bool,
    /// Its resource limits. The disk of its working directory is the one that is checked.
    pub limits: Limits,
    /// Variables in addition to those that are always passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// Folders that it may not see in addition to Natter's own.
    pub hidden: Vec<PathBuf>,
    /// The secret files of the granted folders, if there are any; their paths are relative to the
    /// granted folder.
    pub secrets: Option<Secrets>,
    /// Where its standard error goes.
    pub standard_error: StandardError,
    /// The user's home folder; by default that of the environment.
    pub home: Option<PathBuf>,
}

/// A folder that a program may use.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct GrantedFolder {
    /// Its real path, without links.
    pub path: PathBuf,
    /// Whether it may be changed.
    pub access: FolderAccess,
}

/// What may be done with a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FolderAccess {
    /// Reading, and running programs in it.
    Read,
    /// Also changing it, but for what is protected in a project, too: git's hooks and settings,
    /// and Natter's own files.
    Write,
}

/// Where the standard error of a program goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StandardError {
    /// To the caller, who must read or drop it.
    Pipe,
    /// Into a file, which is created if it does not exist, and never grows over 1 MiB: its first
    /// half is dropped then. One program writes to a file at a time.
    Log(PathBuf),
    /// Nowhere.
    Nothing,
}

impl Program {
    /// Creates a program without arguments that may use its own folder, and no network, with the
    /// default limits.
    pub fn new(name: impl Into<String>, program: impl Into<OsString>) -> Self {
        Self {
            name: name.into(),
            program: program.into(),
            arguments: Vec::new(),
            folder: None,
            granted: Vec::new(),
            network: false,
            limits: Limits::default(),
            environment: Vec::new(),
            hidden: Vec::new(),
            secrets: None,
            standard_error: StandardError::Nothing,
            home: None,
        }
    }
}
