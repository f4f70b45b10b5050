//! Removes a worktree, after everything in it was stored.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use sha2::{Digest, Sha256};

use crate::git::private::{GitDir, With};
use crate::link::checkout_of;
use crate::location::{Head, head};
use crate::record::Worktree;
use crate::snapshot::Snapshot;
use crate::status::{ahead, size, target};
use crate::worktrees::Worktrees;
use crate::{Error, Status, names};

/// How many commits a preview names.
const MOST_COMMITS: usize = 100;

/// A commit, for showing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitSummary {
    /// Its name, in hexadecimal.
    pub commit: String,
    /// The first line of its message. What is not UTF-8 is replaced.
    pub subject: String,
}

/// What goes when a worktree is removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemovalPreview {
    /// Its state.
    pub status: Status,
    /// The latest of its commits that are not in the branch that it began with, a hundred at most.
    pub commits: Vec<CommitSummary>,
    /// How many there are.
    pub commit_count: u64,
    /// How many ignored files and folders it has. They are not stored.
    pub ignored: u64,
    /// Their size on disk, in bytes.
    pub ignored_size: u64,
}

/// A removed worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Removed {
    /// Everything that was in it, except for ignored files.
    pub snapshot: Snapshot,
    /// Whether its branch was deleted.
    pub is_branch_deleted: bool,
}

impl Worktrees {
    /// Looks what would go with a worktree. Changes nothing.
    ///
    /// # Errors
    /// The worktree or its repository is not as recorded; git fails; it was cancelled.
    pub fn preview_removal(
        &self,
        worktree: &Worktree,
        cancel: &AtomicBool,
    ) -> Result<RemovalPreview, Error> {
        let status = self.status(worktree, cancel)?;
        let location = worktree.location()?;
        let git = GitDir::new(&location, cancel)?;
        let target = target(&git, worktree, cancel)?;
        let range = format!("{target}..{}", status.commit);
        let most = format!("--max-count={MOST_COMMITS}");
        let arguments =
            ["-z", "--format=%H %s", "--no-color", "--no-show-signature", &most, &range, "--"];
        let listed = git.output(With::default(), "log", arguments, cancel)?;
        let summary = |text: &[u8]| {
            let text = String::from_utf8_lossy(text);
            let (commit, subject) = text.split_once(' ')?;
            Some(CommitSummary { commit: commit.to_owned(), subject: subject.to_owned() })
        };
        let commits = listed.split(|byte| *byte == 0).filter_map(summary).collect();

        let index = worktree.index();
        let with = With { index: Some(&index), objects: None };
        let arguments = ["-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let listed = git.output(with, "ls-files", arguments, cancel)?;
        let (mut ignored, mut ignored_size) = (0, 0);
        for path in names::listed(&listed) {
            let full = worktree.folder.join(path);
            ignored += 1;
            ignored_size += full.symlink_metadata().map_or(0, |found| found.blocks() * 512);
            if full.symlink_metadata().is_ok_and(|found| found.is_dir()) {
                ignored_size += size(&full, cancel)?;
            }
        }
        let commit_count = ahead(&git, &target, &status.commit, cancel)?;
        Ok(RemovalPreview { status, commits, commit_count, ignored, ignored_size })
    }

    /// Stores a worktree in a snapshot, and removes it: its folder, its git folder, and its branch
    /// if `with_branch`. End all commands in it before. A worktree whose `.git` leads elsewhere is
    /// removed too, since nothing is read from that.
    ///
    /// # Errors
    /// [`Error::Changed`] if something was written meanwhile; a file cannot be stored; the
    /// repository is not as recorded. Then nothing was removed.
    pub fn remove(
        &self,
        worktree: &Worktree,
        with_branch: bool,
        cancel: &AtomicBool,
    ) -> Result<Removed, Error> {
        let _lock = self.lock(worktree)?;
        let location = worktree.location_without_link()?;
        let git = GitDir::new(&location, cancel)?;
        let before = fingerprint(&worktree.folder, cancel)?;
        let snapshot = self.snapshot(worktree, cancel)?;

        // Nobody writes by its path any more; who did meanwhile is noticed.
        let (removing, removed) = (worktree.removing(), worktree.removed());
        let io = Error::io(&worktree.folder);
        fs::rename(&worktree.folder, &removing).map_err(&io)?;
        if fingerprint(&removing, &AtomicBool::new(false))? != before {
            fs::rename(&removing, &worktree.folder).map_err(&io)?;
            return Err(Error::Changed);
        }
        fs::rename(&removing, &removed).map_err(&io)?;

        // Everything is stored. What cannot be deleted from here on is left over, and listed.
        let is_branch_deleted = with_branch && delete_branch(&git, worktree, &snapshot);
        forget(worktree);
        if let Err(error) = delete_folder(&removed) {
            tracing::warn!(%error, "a removed worktree could not be deleted");
        }
        Ok(Removed { snapshot, is_branch_deleted })
    }

    /// Forgets a worktree whose folder or repository is gone. Its branch stays, and so does its
    /// folder, if that is still there.
    ///
    /// # Errors
    /// Both are there: [`Error::PathInUse`].
    pub fn forget(&self, worktree: &Worktree) -> Result<(), Error> {
        let _lock = self.lock(worktree)?;
        let is_there = |path: &Path| path.symlink_metadata().is_ok();
        if is_there(&worktree.folder) && is_there(&worktree.record.own)
            || is_there(&worktree.removing())
        {
            return Err(Error::PathInUse(worktree.folder.clone()));
        }
        forget(worktree);
        Ok(())
    }
}

/// Deletes the branch that was stored, unless it has other commits by now or is checked out.
fn delete_branch(git: &GitDir, worktree: &Worktree, snapshot: &Snapshot) -> bool {
    let Some(tip) = &snapshot.tip else { return false };
    let is_used = |own: PathBuf| {
        own != worktree.record.own && head(&own) == Head::Branch(worktree.branch().to_owned())
    };
    let common = worktree.repository();
    let others = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
    if is_used(common.to_owned()) || others.map(|entry| entry.path()).any(is_used) {
        return false;
    }
    match git.delete_branch(worktree.branch(), tip, &AtomicBool::new(false)) {
        Ok(()) => true,
        Err(error) => {
            tracing::warn!(%error, "the branch of a removed worktree stays");
            false
        }
    }
}

/// Removes a worktree from the repository's list and ours. A git folder that names another folder
/// stays: a worktree that was created later may have it.
fn forget(worktree: &Worktree) {
    let own = &worktree.record.own;
    if own.symlink_metadata().is_ok_and(|found| found.is_dir())
        && checkout_of(own).as_ref() == Some(&worktree.folder)
        && let Err(error) = delete_folder(own)
    {
        tracing::warn!(%error, "the git data of a removed worktree could not be deleted");
    }
    if let Some(worktrees) = own.parent() {
        // Only if it is empty, as git does it.
        let _ = fs::remove_dir(worktrees);
    }
    for file in [worktree.index(), worktree.file()] {
        let _ = fs::remove_file(file);
    }
}

/// Deletes a folder, also one with read-only folders in it. Links are not followed.
pub fn delete_folder(folder: &Path) -> Result<(), Error> {
    if fs::remove_dir_all(folder).is_ok() {
        return Ok(());
    }
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(opened) = rustix::fs::open(
            &folder,
            rustix::fs::OFlags::RDONLY
                | rustix::fs::OFlags::DIRECTORY
                | rustix::fs::OFlags::NOFOLLOW
                | rustix::fs::OFlags::CLOEXEC,
            rustix::fs::Mode::empty(),
        ) else {
            continue;
        };
        let opened = fs::File::from(opened);
        let _ = opened.set_permissions(fs::Permissions::from_mode(0o700));
        let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
        let is_folder = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
        folders.extend(entries.filter(is_folder).map(|entry| entry.path()));
    }
    fs::remove_dir_all(folder).map_err(Error::io(folder))
}

/// Identifies the contents of a folder by what the kernel notes of each change.
fn fingerprint(folder: &Path, cancel: &AtomicBool) -> Result<Vec<u8>, Error> {
    let mut lines = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(path) = folders.pop() {
        if cancel.load(Ordering::Relaxed) {
            return Err(Error::Cancelled);
        }
        for entry in fs::read_dir(&path).map_err(Error::io(&path))?.flatten() {
            let full = entry.path();
            let found = entry.metadata().map_err(Error::io(&full))?;
            let inside = full.strip_prefix(folder).unwrap_or(&full).to_owned();
            let times = (found.mtime(), found.mtime_nsec(), found.ctime(), found.ctime_nsec());
            lines.push((inside, found.ino(), found.size(), times));
            if found.is_dir() {
                folders.push(full);
            }
        }
    }
    lines.sort();
    let mut hash = Sha256::new();
    for line in lines {
        hash.update(format!("{line:?}"));
    }
    Ok(hash.finalize().to_vec())
}
