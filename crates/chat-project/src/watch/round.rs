//! Polls what is not watched for changes: each folder, and open files.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, Stat};

use super::dirty::Dirty;
use crate::tree::{Depth, Stamp, stamp};

/// From the beginning of one round to the next: with the quiet after it less than a second.
const BETWEEN: Duration = Duration::from_millis(700);
/// A round and the pause after it are as one to this: a huge project is asked less often, so that it costs little.
const SHARE: u32 = 20;

/// What is asked.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// Folders that are not watched.
    pub folders: Vec<(PathBuf, Stamp)>,
    /// Open files that lie in such, and what they were.
    files: BTreeMap<PathBuf, Option<FileStamp>>,
    /// Git's files, where its folders are not watched.
    git: BTreeMap<PathBuf, Option<FileStamp>>,
    next: Option<Instant>,
}

type FileStamp = (u64, i64, (i64, i64));

impl Round {
    /// When the next one begins; never, where all is watched.
    pub fn due(&self) -> Option<Instant> {
        self.next.filter(|_| !self.is_empty())
    }

    fn is_empty(&self) -> bool {
        self.folders.is_empty() && self.files.is_empty() && self.git.is_empty()
    }

    /// What is to be asked from now on.
    pub fn ask(
        &mut self,
        folders: Vec<(PathBuf, Stamp)>,
        files: Vec<PathBuf>,
        git: Vec<PathBuf>,
        root: &File,
    ) {
        self.folders = folders;
        let known = |old: &BTreeMap<PathBuf, Option<FileStamp>>, paths: Vec<PathBuf>| {
            let with = |path: PathBuf| {
                let stamp =
                    old.get(&path).copied().unwrap_or_else(|| lstat(root, &path).map(file_stamp));
                (path, stamp)
            };
            paths.into_iter().map(with).collect()
        };
        self.files = known(&self.files, files);
        self.git = known(&self.git, git);
        self.next.get_or_insert_with(|| Instant::now() + BETWEEN);
    }

    /// Asks all, once.
    pub fn run(&mut self, root: &File, dirty: &mut Dirty) {
        let begun = Instant::now();
        for (path, known) in &self.folders {
            compare(root, path, *known, dirty);
        }
        for (path, known) in &mut self.files {
            let now = lstat(root, path).map(file_stamp);
            if now != *known {
                *known = now;
                dirty.file(path);
            }
        }
        for (path, known) in &mut self.git {
            let now = lstat(root, path).map(file_stamp);
            if now != *known {
                *known = now;
                dirty.git();
            }
        }
        let took = begun.elapsed();
        self.next = Some(begun + BETWEEN.max(took * SHARE));
    }
}

/// Looks whether a folder is still what it was.
pub(super) fn compare(root: &File, path: &Path, known: Stamp, dirty: &mut Dirty) {
    let now = lstat(root, path).map(|found| stamp(&found));
    if now.is_some_and(|now| now == known && known.changed != 0) {
        return;
    }
    let is_other = now.is_none_or(|now| now.inode != known.inode && known.inode != 0);
    if let Some(above) = path.parent().filter(|_| is_other) {
        dirty.folder(above, Depth::Itself);
    }
    dirty.folder(path, if is_other { Depth::Below } else { Depth::Itself });
}

/// What the system says of something, a link being a link.
fn lstat(root: &File, path: &Path) -> Option<Stat> {
    let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
    rustix::fs::statat(root, path, AtFlags::SYMLINK_NOFOLLOW).ok()
}

fn file_stamp(found: Stat) -> FileStamp {
    (found.st_ino, found.st_size, (found.st_mtime, found.st_mtime_nsec as i64))
}
