//! Places that are kept from tools, whatever a rule or a mode says.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::Project;

/// Whether a path is kept from tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// It is a path like another.
    Nothing,
    /// It is never written: what lies there is run or believed by git, by Natter, or by whoever opens the project.
    Unwritable,
    /// It is Natter's own: never written, and never read.
    Own,
}

/// What makes git run something, or look elsewhere, of what lies in its folder.
const OF_GIT: [&str; 10] = [
    "config",
    "config.worktree",
    "hooks",
    "commondir",
    "gitdir",
    "modules",
    "worktrees",
    "info",
    // What is left to do of a rebase: any command.
    "rebase-apply",
    "rebase-merge",
];

impl Project {
    /// How `real` is kept from tools.
    pub(super) fn guard(&self, real: &Path, relative: Option<&Path>) -> Guard {
        if self.own.iter().any(|own| real.starts_with(own)) {
            return Guard::Own;
        }
        // Who moves a folder away moves what is in it.
        let above = |kept: &Path| kept.starts_with(real);
        if above(&self.root) || self.own.iter().any(|own| above(own)) {
            return Guard::Unwritable;
        }
        // The project itself may lie beneath such a name.
        let by_name = is_kept(relative.unwrap_or(real));
        let of_git = self.folders_of_git().iter().any(|folder| {
            above(folder)
                || real.strip_prefix(folder).is_ok_and(|beneath| is_of_git(beneath.iter().next()))
        });
        if by_name || of_git { Guard::Unwritable } else { Guard::Nothing }
    }

    /// Where git's folder of the project really is, where `.git` is a link or a file that points to it. Looked up
    /// each time: it may have been made since.
    fn folders_of_git(&self) -> Vec<PathBuf> {
        let dot_git = self.root.join(".git");
        let folder = match fs::symlink_metadata(&dot_git) {
            Ok(found) if found.is_symlink() => Some(dot_git),
            Ok(_) => pointed(&dot_git, "gitdir:"),
            Err(_) => None,
        };
        let Some(folder) = folder.and_then(|folder| fs::canonicalize(folder).ok()) else {
            return Vec::new();
        };
        let common =
            pointed(&folder.join("commondir"), "").and_then(|common| fs::canonicalize(common).ok());
        [Some(folder), common].into_iter().flatten().collect()
    }
}

/// The path that a file of git's names, from that file's folder on.
fn pointed(file: &Path, before: &str) -> Option<PathBuf> {
    /// No such file is longer: a path and a word.
    const LONGEST: u64 = 8 * 1024;
    // A pipe would make the opening wait, and a device has no end.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let opened = File::options().read(true).custom_flags(flags).open(file).ok()?;
    let found = opened.metadata().ok()?;
    if !found.is_file() || found.len() > LONGEST {
        return None;
    }
    let mut text = String::new();
    opened.take(LONGEST).read_to_string(&mut text).ok()?;
    let path = text.strip_prefix(before)?.trim();
    Some(file.parent()?.join(path))
}

fn is_kept(path: &Path) -> bool {
    let mut names = path.iter();
    while let Some(name) = names.next() {
        if is(name, ".natter") || is(name, ".mcp.json") {
            return true;
        }
        if is(name, ".git") && is_of_git(names.clone().next()) {
            return true;
        }
    }
    false
}

/// Whether git's folder itself, or this entry of it, is kept.
fn is_of_git(entry: Option<&OsStr>) -> bool {
    entry.is_none_or(|entry| OF_GIT.iter().any(|kept| is(entry, kept)))
}

/// Some file systems do not tell large letters from small ones: `.GIT` may be the same folder.
fn is(name: &OsStr, kept: &str) -> bool {
    name.eq_ignore_ascii_case(kept)
}
