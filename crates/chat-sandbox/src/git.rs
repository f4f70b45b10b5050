//! Sanitizes the repositories that a command creates or changes in a project: whatever would make
//! the user's git run programs later, outside the sandbox, is quarantined. Nothing is destroyed.
//!
//! They cannot be protected beforehand because they do not exist yet. So the project is searched
//! while the command runs and after it has ended. All access goes through open folders that were
//! reached without following links, since a running command may swap anything.

mod rebase;
mod sanitize;
mod settings;
mod walk;
mod watcher;

use std::path::PathBuf;

use rustix::fs::Stat;
pub(crate) use watcher::GitWatcher;

/// A quarantined file: it is next to its old path under another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedFile {
    /// Its old path.
    pub path: PathBuf,
    /// Its new path; for a link, a file that says where it led.
    pub moved_to: PathBuf,
    /// Why it was quarantined.
    pub why: QuarantineReason,
}

/// Why a file was quarantined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuarantineReason {
    /// It is not allowed in the project, since git, Natter or other programs would trust it at
    /// once.
    Protected,
    /// It can make git run programs, or leads git elsewhere. In a settings file, those that are
    /// known to run nothing are kept.
    RunsPrograms,
}

/// A time from a file system's own clock: seconds and nanoseconds.
type Moment = (i64, u64);

/// When a file or its name was last changed. No program can set this time.
fn changed(stat: &Stat) -> Moment {
    #[allow(clippy::unnecessary_cast, reason = "the types differ by machine")]
    (stat.st_ctime as i64, stat.st_ctime_nsec as u64)
}

/// Identifies a file, whatever its name.
fn id(stat: &Stat) -> (u64, u64) {
    #[allow(clippy::unnecessary_cast, reason = "the types differ by machine")]
    (stat.st_dev as u64, stat.st_ino as u64)
}
