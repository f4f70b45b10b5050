//! Sanitizes the repositories that a command makes or changes in a project: what would have the
//! user's git run programs later, outside the sandbox, is quarantined. Nothing is destroyed.
//!
//! Protecting them beforehand is not possible: they are not there yet. So the project is looked
//! through while the command runs and when it has ended. All is done by open folders that were
//! reached without following a link: a command that runs may swap whatever it likes.

mod rebase;
mod sanitize;
mod settings;
mod walk;
mod watcher;

use std::path::PathBuf;

use rustix::fs::Stat;
pub(crate) use watcher::GitWatcher;

/// A file that was quarantined: it lies beside its old place under another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedFile {
    /// Where it was.
    pub path: PathBuf,
    /// Where it is now; of a link, a file that says where it led.
    pub moved_to: PathBuf,
    /// Why it may not stay.
    pub why: QuarantineReason,
}

/// Why a file was quarantined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum QuarantineReason {
    /// The project may not have it: what git, Natter or others believe at once.
    Protected,
    /// It can make git run programs, or leads git elsewhere. Of settings those that are known to
    /// run nothing are still there.
    RunsPrograms,
}

/// A moment by a file system's own clock: seconds and nanoseconds.
type Moment = (i64, u64);

/// When a file, or its name, was last changed. No program can set that.
fn changed(stat: &Stat) -> Moment {
    #[allow(clippy::unnecessary_cast, reason = "the types differ by machine")]
    (stat.st_ctime as i64, stat.st_ctime_nsec as u64)
}

/// Which file it is, whatever its name.
fn id(stat: &Stat) -> (u64, u64) {
    #[allow(clippy::unnecessary_cast, reason = "the types differ by machine")]
    (stat.st_dev as u64, stat.st_ino as u64)
}
