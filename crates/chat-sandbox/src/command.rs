//! Defines a command to run and its limits.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The default time limit of a command.
pub const TIME_LIMIT: Duration = Duration::from_mins(2);

/// A command to run.
#[derive(Debug, Clone)]
pub struct Command {
    /// The text for the shell: `bash` if it exists, otherwise `sh`.
    pub text: String,
    /// The project by its real path: the only folder that may be written to.
    pub project: PathBuf,
    /// The working directory: the project or a folder in it.
    pub folder: PathBuf,
    /// Whether the network is granted. Without it, nothing can be reached, not even 127.0.0.1.
    pub network: bool,
    /// The time limit; none for a command in the background.
    pub limit: Option<Duration>,
    /// Its resource limits.
    pub limits: Limits,
    /// Variables in addition to those that are always passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// Folders that it may not see in addition to Natter's own.
    pub hidden: Vec<PathBuf>,
    /// The project's secret files, if there are any.
    pub secrets: Option<Secrets>,
    /// If the project is a linked work tree: what it may touch of the repository. Without it, the
    /// repository's own settings and hooks are protected, and its branches are not.
    pub git: Option<GitAccess>,
    /// The user's home folder; by default that of the environment.
    pub home: Option<PathBuf>,
}

impl Command {
    /// Creates a command in the project's folder, without network, with the default limits.
    pub fn new(text: impl Into<String>, project: impl Into<PathBuf>) -> Self {
        let project = project.into();
        Self {
            text: text.into(),
            folder: project.clone(),
            project,
            network: false,
            limit: Some(TIME_LIMIT),
            limits: Limits::default(),
            environment: Vec::new(),
            hidden: Vec::new(),
            secrets: None,
            git: None,
            home: None,
        }
    }
}

/// What a command in a linked work tree may touch of its repository. Where paths overlap, the longer
/// one counts.
///
/// In Landlock, nothing in the repository can be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitAccess {
    /// The git folder that all work trees share. It is readable. If the project is a work tree of
    /// another one, the command sees no repository at all.
    pub repository: PathBuf,
    /// Folders that may be written. Files are not: git replaces them, which takes the folder.
    pub writable: Vec<PathBuf>,
    /// What must not be changed in these folders, or created.
    pub read_only: Vec<PathBuf>,
    /// Folders that must not be read, except for what is writable in them.
    pub hidden: Vec<PathBuf>,
}

/// Checks a path relative to the project's root.
pub type Judge = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// The files of a project that a command sees only if they are granted.
#[derive(Clone)]
pub struct Secrets {
    /// Whether a file is secret, by its name. All commands of a project use the same check.
    pub are_secret: Judge,
    /// Whether this command may see a secret file nevertheless.
    pub are_granted: Judge,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

/// A command's resource limits. They count all of its processes together unless noted otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The number of simultaneous processes; in bubblewrap also threads, as the kernel counts them.
    pub processes: u32,
    /// Private memory in bytes, without mapped files.
    pub memory: u64,
    /// The maximum size of one file, in bytes.
    pub file: u64,
    /// The maximum size of each in-memory folder, in bytes: `/tmp`, the home folder, `/dev/shm`.
    pub scratch: u64,
    /// How many files one process may have open.
    pub open_files: u32,
    /// How many bytes must stay free on the project's disk. If less than twice that is free when
    /// the command begins, half of what is free must stay.
    pub disk_left: u64,
}

impl Default for Limits {
    /// Leaves some of the machine's memory free even if all in-memory folders are full; and allows
    /// what builds need, which grows with the number of processors.
    fn default() -> Self {
        let machine = rustix::system::sysinfo();
        let memory = u64::from(machine.mem_unit.max(1)).saturating_mul(machine.totalram as u64);
        Self {
            processes: 1024
                + 256 * std::thread::available_parallelism().map_or(1, usize::from) as u32,
            memory: memory / 10 * 6,
            file: 8 << 30,
            scratch: (memory / 10).clamp(64 << 20, 4 << 30),
            open_files: 8192,
            disk_left: 1 << 30,
        }
    }
}
