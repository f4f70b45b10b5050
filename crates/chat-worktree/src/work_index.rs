//! Reads a worktree's files into an index of ours, from which trees and differences are made.
//!
//! The worktree's own index is not used: a command in the worktree can write it, and could hide
//! changes in it. Ours starts from the one that was stored next to the worktree, whose times of
//! files only save reading them again. Neither filters nor submodules are run or looked into.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::git::private::{GitDir, With};
use crate::git::run_with;
use crate::location::Location;
use crate::{Error, names, raw};

/// An index that contains a worktree's files as they are now, except for ignored ones.
#[derive(Debug)]
pub struct WorkIndex {
    /// The file, which goes with the private git folder.
    pub path: PathBuf,
    /// Repositories inside the worktree, which are not in the index.
    pub nested: Vec<PathBuf>,
    /// Untracked files that are too large, which are not in the index.
    pub too_large: Vec<PathBuf>,
}

impl WorkIndex {
    /// Reads the files of `location`, as git would add them to the commit `head`. Untracked files
    /// above `largest` bytes are left out. New contents are stored in `objects`, or in the
    /// repository if that is none.
    pub fn read(
        git: &GitDir,
        location: &Location,
        stored: &Path,
        head: &str,
        objects: Option<&Path>,
        largest: u64,
        cancel: &AtomicBool,
    ) -> Result<Self, Error> {
        let path = git.place("work-index");
        copy_index(stored, &path)?;
        let with = With { index: Some(&path), objects };
        // A damaged index is of no use.
        if git.output(with, "read-tree", ["-m", head], cancel).is_err() {
            let _ = std::fs::remove_file(&path);
            git.output(with, "read-tree", [head], cancel)?;
        }
        let arguments = ["-z", "--raw", "--no-renames", "--ignore-submodules=all"];
        let changed = git.output(with, "diff-files", arguments, cancel)?;
        let (changed, _) = raw::parse(&changed);
        let (untracked, nested) = untracked(git, with, cancel)?;
        let (untracked, too_large): (Vec<_>, Vec<_>) = untracked.into_iter().partition(|file| {
            let found = location.work_tree.join(file).symlink_metadata();
            found.map_or(0, |found| found.len()) <= largest
        });

        // Removed ones first: a folder may be where a file was.
        let (removed, changed): (Vec<_>, Vec<_>) =
            changed.iter().filter(|it| !it.is_submodule()).partition(|it| it.status == b'D');
        let mut input = Vec::new();
        for change in removed {
            input.extend_from_slice(b"0 ");
            input.extend_from_slice(&vec![b'0'; head.len()]);
            input.push(b'\t');
            input.extend_from_slice(change.path.as_os_str().as_bytes());
            input.push(0);
        }
        update(git, with, &["--index-info"], &input, cancel)?;
        let mut input = Vec::new();
        for path in changed.iter().map(|change| &change.path).chain(&untracked) {
            input.extend_from_slice(path.as_os_str().as_bytes());
            input.push(0);
        }
        update(git, with, &["--add", "--remove", "--replace", "--stdin"], &input, cancel)?;
        Ok(Self { path, nested, too_large })
    }

    /// Stores it as the index that the next one starts from.
    pub fn store(&self, stored: &Path) -> Result<(), Error> {
        copy_index(&self.path, stored)
    }
}

fn update(
    git: &GitDir,
    with: With,
    how: &[&str],
    input: &[u8],
    cancel: &AtomicBool,
) -> Result<(), Error> {
    if input.is_empty() {
        return Ok(());
    }
    let mut command = git.command(with);
    command.args(["update-index", "-z"]).args(how);
    run_with(&mut command, input, usize::MAX, cancel)?.success("update-index").map(drop)
}

/// Copies an index, if there is one; what was at `to` is replaced at once. The copy keeps its time: by
/// that git knows which files may have changed in the very moment in which it was written, and reads
/// those again (`Documentation/technical/racy-git.adoc` of git).
pub fn copy_index(from: &Path, to: &Path) -> Result<(), Error> {
    match from.symlink_metadata() {
        Ok(found) if found.is_file() => {
            let bytes = std::fs::read(from).map_err(Error::io(from))?;
            let written = found.modified().map_err(Error::io(from))?;
            crate::link::replace_as_of(to, &bytes, Some(written))
        }
        _ => Ok(()),
    }
}

/// Files that are neither in the index nor ignored, and repositories in the checkout.
pub fn untracked(
    git: &GitDir,
    with: With,
    cancel: &AtomicBool,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Error> {
    let listed = git.output(with, "ls-files", ["-z", "--others", "--exclude-standard"], cancel)?;
    let (nested, files): (Vec<_>, Vec<_>) =
        names::listed(&listed).partition(|path| path.as_os_str().as_bytes().ends_with(b"/"));
    let plain = |path: &Path| path.components().collect::<PathBuf>();
    Ok((files.into_iter().map(plain).collect(), nested.into_iter().map(plain).collect()))
}
