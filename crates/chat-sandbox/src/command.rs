//! Defines a command to run and its limits.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// How long a command may take unless it says otherwise.
pub const TIME_LIMIT: Duration = Duration::from_mins(2);

/// A command to run.
#[derive(Debug, Clone)]
pub struct Command {
    /// What the shell is given: `bash` where there is one, else `sh`.
    pub text: String,
    /// The project: the one folder that may be written to, by its real path.
    pub project: PathBuf,
    /// The folder to run in, the project or one inside.
    pub folder: PathBuf,
    /// Whether the network is granted. Without, nothing is reached, not even 127.0.0.1.
    pub network: bool,
    /// How long it may take; none for one in the background.
    pub limit: Option<Duration>,
    /// What it may use.
    pub limits: Limits,
    /// Variables besides those that are always passed on.
    pub environment: Vec<(OsString, OsString)>,
    /// Folders that it may not see besides Natter's own.
    pub hidden: Vec<PathBuf>,
    /// Which files of the project it may not see, where there are such.
    pub secrets: Option<Secrets>,
    /// The person's home folder, by default that of the environment.
    pub home: Option<PathBuf>,
}

impl Command {
    /// A command in the project's folder, without network, with the usual limits.
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
            home: None,
        }
    }
}

/// Tells of a path from the project's top on whether something is so.
pub type Judge = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// The files of a project that a command sees only where they are granted.
#[derive(Clone)]
pub struct Secrets {
    /// Whether a file is one of them, by its name. All commands of a project have the same.
    pub are_secret: Judge,
    /// Whether this command sees one of them nevertheless.
    pub are_granted: Judge,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets").finish_non_exhaustive()
    }
}

/// What a command may use, all of its processes together where nothing else is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Processes at once; in bubblewrap also threads, as the kernel counts them.
    pub processes: u32,
    /// Bytes of memory that are its own, not those of files that it maps.
    pub memory: u64,
    /// Bytes of one file.
    pub file: u64,
    /// Bytes of each of the folders that live in memory: `/tmp`, the home folder, `/dev/shm`.
    pub scratch: u64,
    /// Files that one process has open.
    pub open_files: u32,
    /// Bytes that must stay free where the project lies. Where less than twice that is free when
    /// the command begins, half of what is free must stay.
    pub disk_left: u64,
}

impl Default for Limits {
    /// Of the machine's memory so much that something is left, with all folders in memory full
    /// too; and what builds need, the more processors there are.
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
