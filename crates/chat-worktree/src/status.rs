//! Inspects a worktree.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::diff::LARGEST;
use crate::git::private::{GitDir, With};
use crate::git::{Output, run};
use crate::record::Worktree;
use crate::work_index::WorkIndex;
use crate::worktrees::Worktrees;
use crate::{Error, Head, raw};

/// The state of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// What it is on: its own branch, unless a command switched that.
    pub head: Head,
    /// The commit that it is on, in hexadecimal.
    pub commit: String,
    /// How many commits it has that the branch does not have that it began with; where that is not
    /// known, that its base does not have.
    pub ahead: u64,
    /// How many files differ from that commit.
    pub changed: u64,
    /// How many files that commit does not have, without ignored ones.
    pub untracked: u64,
    /// Repositories inside the worktree.
    pub nested: Vec<PathBuf>,
    /// Its size on disk in bytes, with ignored files, and without its commits.
    pub size: u64,
}

impl Status {
    /// Whether it has files that are not committed.
    pub fn is_dirty(&self) -> bool {
        self.changed + self.untracked > 0 || !self.nested.is_empty()
    }
}

impl Worktrees {
    /// Inspects a worktree. Takes as long as listing its files and reading the changed ones.
    ///
    /// # Errors
    /// The worktree or its repository is not as recorded; git fails; it was cancelled.
    pub fn status(&self, worktree: &Worktree, cancel: &AtomicBool) -> Result<Status, Error> {
        let location = worktree.location()?;
        let git = GitDir::new(&location, cancel)?;
        let commit = head_commit(&git, worktree, cancel)?;
        let objects = git.place("new-objects");
        std::fs::create_dir(&objects).map_err(Error::io(&objects))?;
        let stored = worktree.index();
        let work =
            WorkIndex::read(&git, &location, &stored, &commit, Some(&objects), LARGEST, cancel)?;
        let with = With { index: Some(&work.path), objects: Some(&objects) };
        let arguments = ["--cached", "-z", "--raw", "--no-renames", &commit];
        let output = git.output(with, "diff-index", arguments, cancel)?;
        let (changes, _) = raw::parse(&output);
        let new = changes.iter().filter(|change| change.status == b'A').count();
        Ok(Status {
            head: location.head(),
            ahead: ahead(&git, &target(&git, worktree, cancel)?, &commit, cancel)?,
            changed: (changes.len() - new) as u64,
            untracked: (new + work.too_large.len()) as u64,
            nested: work.nested,
            size: size(&worktree.folder, cancel)?,
            commit,
        })
    }
}

/// The commit that a worktree is on; its base, if it is on none.
pub fn head_commit(
    git: &GitDir,
    worktree: &Worktree,
    cancel: &AtomicBool,
) -> Result<String, Error> {
    Ok(match git.resolve("HEAD^{commit}", cancel)? {
        Some(commit) => commit,
        None => worktree.base().to_owned(),
    })
}

/// The commit of the branch that a worktree began with; its base, if there is no such branch.
pub fn target(git: &GitDir, worktree: &Worktree, cancel: &AtomicBool) -> Result<String, Error> {
    let found = match worktree.target() {
        Some(target) => git.branch(target, cancel)?,
        None => None,
    };
    Ok(found.unwrap_or_else(|| worktree.base().to_owned()))
}

/// The commit that the work since `commit` is compared with: where it left the branch that the
/// worktree began with, so that what was merged counts no more.
pub fn start(
    git: &GitDir,
    worktree: &Worktree,
    commit: &str,
    cancel: &AtomicBool,
) -> Result<String, Error> {
    let mut command = git.command(With::default());
    command.args(["merge-base", &target(git, worktree, cancel)?, commit]);
    let found = run(&mut command, cancel)?;
    let line = Output::line(&found.bytes);
    let is_one = found.code == Some(0) && !line.is_empty();
    Ok(if is_one { line } else { worktree.base().to_owned() })
}

/// How many commits `commit` has that `base` does not have.
pub fn ahead(git: &GitDir, base: &str, commit: &str, cancel: &AtomicBool) -> Result<u64, Error> {
    let range = format!("{base}..{commit}");
    let count = git.output(With::default(), "rev-list", ["--count", &range, "--"], cancel)?;
    Ok(Output::line(&count).parse().unwrap_or(0))
}

/// The size of a folder on disk, in bytes. Links are not followed, and what cannot be read counts
/// nothing.
pub fn size(folder: &Path, cancel: &AtomicBool) -> Result<u64, Error> {
    let mut total = 0;
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        let Ok(entries) = folder.read_dir() else { continue };
        for entry in entries.flatten() {
            let Ok(found) = entry.metadata() else { continue };
            total += found.blocks() * 512;
            if found.is_dir() {
                folders.push(entry.path());
            }
        }
    }
    Ok(total)
}
