//! Walks a project, from one open folder to the next, so that no link that is swapped in meanwhile
//! leads out.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use chat_permission::path::{Error, Project};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};

use super::{Folder, Kind, Stamp, State, Tree};
use crate::entries::entries;
use crate::ignored::Ignored;

/// How deep a walk goes: each level keeps a folder open.
const DEEPEST: usize = 128;
/// Entries of a tree: whoever opens the whole disk gets a part of it, in some tens of megabytes.
const MOST: usize = 1_000_000;
/// A change that is younger may be followed by another with the same time.
const YOUNG: Duration = Duration::from_millis(100);

/// Lists all that is in a project and not ignored, `.git` being ignored always. `begun` gets the project's own
/// entries as soon as they are known. None where it was given up.
///
/// # Errors
/// The project's folder cannot be opened any more.
pub fn walk(
    project: &Project,
    given_up: &AtomicBool,
    begun: impl FnOnce(Tree),
) -> Result<Option<Tree>, Error> {
    let root = project.open_folder(&project.resolve_path(Path::new(""))?)?;
    let ignored = Ignored::begin(root.as_fd(), project.root());
    let walk = Walk::new(given_up);
    let listed = walk.list(&root, project.root(), &ignored);
    let ahead = |kind| (kind == Kind::Folder).then(|| Folder::unknown(State::Ahead));
    let first = listed.found.iter().map(|(name, kind)| (name, *kind, ahead(*kind))).collect();
    begun(Tree::new(Folder::new(first, listed.stamp, listed.state)));
    let mut path = project.root().to_owned();
    let root = listed.fill(|name| walk.below(&root, name, &mut path, &ignored, 1));
    Ok((!walk.is_given_up()).then(|| Tree::new(root)))
}

pub(super) struct Walk<'a> {
    given_up: &'a AtomicBool,
    left: Cell<usize>,
}

/// What one folder has.
pub(super) struct Listed {
    found: Vec<(OsString, Kind)>,
    stamp: Stamp,
    state: State,
}

impl Listed {
    /// The folder, where `below` says what is in the folders in it.
    pub fn fill(self, mut below: impl FnMut(&OsStr) -> Arc<Folder>) -> Arc<Folder> {
        let filled = |(name, kind): (OsString, Kind)| {
            let below = (kind == Kind::Folder).then(|| below(&name));
            (name, kind, below)
        };
        Folder::new(self.found.into_iter().map(filled).collect(), self.stamp, self.state)
    }
}

impl<'a> Walk<'a> {
    pub fn new(given_up: &'a AtomicBool) -> Self {
        Self { given_up, left: Cell::new(MOST) }
    }

    fn is_given_up(&self) -> bool {
        self.given_up.load(Ordering::Relaxed)
    }

    /// What is in a folder, and not ignored.
    pub fn list(&self, folder: &OwnedFd, path: &Path, ignored: &Ignored) -> Listed {
        // Before it is listed: what changes under way is seen later.
        let stamp = rustix::fs::fstat(folder).map_or_else(|_| Stamp::default(), |it| stamp(&it));
        let Ok(found) = entries(folder, self.given_up) else {
            return Listed { found: Vec::new(), stamp, state: State::Unreadable };
        };
        let mut whole = path.to_owned();
        let mut found: Vec<_> = found
            .into_iter()
            .filter_map(|(name, kind)| {
                let kind = match kind {
                    FileType::Directory => Kind::Folder,
                    FileType::RegularFile => Kind::File,
                    FileType::Symlink => Kind::Link,
                    _ => return None,
                };
                whole.push(&name);
                let is_ignored = name == ".git"
                    || is_placeholder(folder, &name, kind)
                    || ignored.is(&whole, kind == Kind::Folder);
                whole.pop();
                (!is_ignored).then_some((name, kind))
            })
            .collect();
        let left = self.left.get();
        let state = if found.len() > left { State::Cut } else { State::Listed };
        found.truncate(left);
        self.left.set(left - found.len());
        Listed { found, stamp, state }
    }

    /// A folder in one that is open, with all below it. `path` is the whole path of the open one, which lies
    /// `depth` levels deep, the project itself on the first.
    pub fn below(
        &self,
        folder: &OwnedFd,
        name: &OsStr,
        path: &mut PathBuf,
        ignored: &Arc<Ignored>,
        depth: usize,
    ) -> Arc<Folder> {
        if depth >= DEEPEST {
            return Folder::unknown(State::Cut);
        }
        if self.is_given_up() {
            return Folder::unknown(State::Ahead);
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let Ok(opened) = rustix::fs::openat(folder, name, flags, Mode::empty()) else {
            return Folder::unknown(State::Unreadable);
        };
        path.push(name);
        let ignored = Ignored::beneath(ignored, opened.as_fd(), path);
        let listed = self.list(&opened, path, &ignored);
        let filled = listed.fill(|name| self.below(&opened, name, path, &ignored, depth + 1));
        path.pop();
        filled
    }
}

/// Whether this is a marked folder with which the sandbox keeps a place free while a command runs, and which a
/// killed program may leave behind.
fn is_placeholder(folder: &OwnedFd, name: &OsStr, kind: Kind) -> bool {
    if kind != Kind::Folder || (name != ".natter" && name != ".mcp.json") {
        return false;
    }
    let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
    found.is_ok_and(|found| Mode::from_raw_mode(found.st_mode).contains(Mode::SVTX))
}

/// By what a folder is told from itself after a change.
pub(crate) fn stamp(found: &rustix::fs::Stat) -> Stamp {
    let changed = found.st_mtime * 1_000_000_000 + found.st_mtime_nsec as i64;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // A time to come is as good as another.
    let age = (now.as_nanos() as i64).saturating_sub(changed);
    let is_young = (0..YOUNG.as_nanos() as i64).contains(&age);
    Stamp { inode: found.st_ino, changed: if is_young { 0 } else { changed } }
}
