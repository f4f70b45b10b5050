//! Lists the places that tools may never touch, whatever a rule or a mode says.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use super::Project;

/// Whether a path is guarded against tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// It is an ordinary path.
    Nothing,
    /// It is never written: git, Natter, or whoever opens the project runs or trusts it.
    Unwritable,
    /// It is Natter's own: never written, and never read.
    Own,
}

/// Names in a folder with git's data, whatever its name, that make git run something or look
/// elsewhere. They are never written.
const OF_GIT: [&str; 11] = [
    "config",
    "config.worktree",
    "hooks",
    "commondir",
    "gitdir",
    "modules",
    "worktrees",
    "info",
    // The remaining steps of a rebase: any command.
    "rebase-apply",
    "rebase-merge",
    "sequencer",
];

/// How git recognizes its data: a head, and either the others or another folder that has them.
const SHAPE: [&str; 4] = ["HEAD", "objects", "refs", "commondir"];

impl Project {
    /// How `real` is guarded against tools.
    pub(super) fn guard(&self, real: &Path, relative: Option<&Path>) -> Guard {
        if self.own.iter().any(|own| real.starts_with(own)) {
            return Guard::Own;
        }
        // Moving a folder moves everything in it.
        let above = |kept: &Path| kept.starts_with(real);
        if above(&self.root) || self.own.iter().any(|own| above(own)) {
            return Guard::Unwritable;
        }
        // The project itself may be below such a name.
        let by_name = has_guarded_name(relative.unwrap_or(real));
        // A work tree may be in the folder that it shares with others.
        let is_tree = |folder: &Path| relative.is_some() && self.root.starts_with(folder);
        let of_git = self
            .folders_of_git()
            .iter()
            .any(|folder| above(folder) || real.starts_with(folder) && !is_tree(folder));
        let of_another = relative.is_some_and(|relative| in_data(&self.root, relative));
        if by_name || of_git || of_another { Guard::Unwritable } else { Guard::Nothing }
    }

    /// The real paths of the project's git folder, if `.git` is a link or a file that points to it.
    /// Looked up each time, since it may have been created since.
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

/// The path that a file of git names, relative to that file's folder.
fn pointed(file: &Path, before: &str) -> Option<PathBuf> {
    /// No such file is longer: it has a path and a word.
    const LONGEST: u64 = 8 * 1024;
    // Opening a pipe would block, and a device has no end.
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

/// Whether a file there would turn a folder into git's data, or make git run something in such a
/// folder.
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

/// Some file systems ignore case: `.GIT` may be the same folder.
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
        // It is git's data, and these make git run something.
        for path in ["bare/config", "bare/Config", "bare/hooks/post-commit", "bare/rebase-merge/a"]
        {
            assert!(is_data(path), "{path}");
        }
        // It would become git's data.
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
