//! Lists the places that tools may never touch, whatever a rule or a mode says.

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

/// What makes git run something, or look elsewhere, of what lies in a folder that is git's data by another name
/// than `.git`. There nothing is written.
const OF_GIT: [&str; 11] = [
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
    "sequencer",
];

/// What git tells its data by: a head, and either the others or another folder that has them.
const SHAPE: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];

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
        let by_name = has_guarded_name(relative.unwrap_or(real));
        // A work tree may lie in the folder that it shares with others.
        let is_tree = |folder: &Path| relative.is_some() && self.root.starts_with(folder);
        let of_git = self
            .folders_of_git()
            .iter()
            .any(|folder| above(folder) || real.starts_with(folder) && !is_tree(folder));
        let of_another = relative.is_some_and(|relative| in_data(&self.root, relative));
        if by_name || of_git || of_another { Guard::Unwritable } else { Guard::Nothing }
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

fn has_guarded_name(path: &Path) -> bool {
    path.iter().any(|name| [".git", ".natter", ".mcp.json"].iter().any(|kept| is(name, kept)))
}

/// Whether what lies there would make git's data of a folder, or make git run something where a folder is such.
fn in_data(root: &Path, path: &Path) -> bool {
    let mut folder = root.to_owned();
    path.iter().any(|name| {
        let of_git = OF_GIT.iter().any(|kept| is(name, kept));
        let of_shape = SHAPE.iter().any(|part| is(name, part));
        let found = (of_git || of_shape) && {
            let has = |part: &str| folder.join(part).symlink_metadata().is_ok();
            let is_data = is_data(has);
            of_git && is_data || !is_data && is_data_with(has, name)
        };
        folder.push(name);
        found
    })
}

fn is_data_with(has: impl Fn(&str) -> bool, name: &OsStr) -> bool {
    is_data(|part| is(name, part) || has(part))
}

fn is_data(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}

/// Some file systems do not tell large letters from small ones: `.GIT` may be the same folder.
fn is(name: &OsStr, kept: &str) -> bool {
    name.eq_ignore_ascii_case(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_would_be_gits_data_of_a_folder_is_told() {
        let folder = tempfile::tempdir().unwrap();
        for part in ["bare/objects", "bare/refs", "almost/objects", "almost/refs", "head/refs"] {
            fs::create_dir_all(folder.path().join(part)).unwrap();
        }
        for head in ["bare/HEAD", "head/HEAD"] {
            fs::write(folder.path().join(head), "").unwrap();
        }
        let is_data = |path: &str| in_data(folder.path(), Path::new(path));
        // It is one, and this is what makes git run something.
        for path in ["bare/config", "bare/Config", "bare/hooks/post-commit", "bare/rebase-merge/a"]
        {
            assert!(is_data(path), "{path}");
        }
        // It would become one.
        for path in ["almost/HEAD", "almost/head", "head/commondir", "head/objects/pack"] {
            assert!(is_data(path), "{path}");
        }
        for path in ["bare/README", "bare/HEAD", "bare/objects/a", "almost/config", "almost/refs/a"]
        {
            assert!(!is_data(path), "{path}");
        }
        for path in ["head/config", "src/HEAD", "src/objects", "config", "HEAD", "almost/commondir"]
        {
            assert!(!is_data(path), "{path}");
        }
    }
}
