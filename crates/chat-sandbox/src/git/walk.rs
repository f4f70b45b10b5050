//! Walks all folders below an open one, without following links.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;
use std::time::Instant;

use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags, Stat, fstat, openat, openat2, statat,
};
use rustix::io::Errno;

use super::{Moment, changed};
use crate::view::LARGE;

/// How many bytes of names are read at once.
const AT_ONCE: usize = 32 << 10;

const FOLDER: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Something of git's that was found.
pub(super) enum GitEntry<'a> {
    /// A folder that git may take for a repository's data, open.
    Data { folder: &'a OwnedFd, path: &'a Path },
    /// A `.git` that leads elsewhere, in an open folder.
    Pointer { folder: &'a OwnedFd, name: &'a OsStr, path: &'a Path },
    /// A symbolic link in git's data, in an open folder.
    Link { folder: &'a OwnedFd, name: &'a OsStr, path: &'a Path, within: &'a Within },
}

/// The git data that something is in.
#[derive(Clone)]
pub(super) struct Within {
    /// The data's own folder.
    pub(super) data: Rc<Path>,
    /// Whether that folder was changed since then.
    pub(super) is_new: bool,
    /// Whether a folder in between was changed: its content may have come with it.
    pub(super) came: bool,
}

/// Walks through a folder, reporting `path`s below it. Skips everything below folders that
/// `passes_over` names. Returns whether it finished before the deadline, and entered every folder
/// that a command may have closed.
pub(super) fn walk(
    root: &OwnedFd,
    since: Moment,
    deadline: Instant,
    passes_over: impl Fn(&Path) -> bool,
    mut met: impl FnMut(GitEntry<'_>),
) -> bool {
    let mut is_whole = true;
    let mut buffer = Vec::with_capacity(AT_ONCE);
    let mut folders = VecDeque::from([(PathBuf::new(), None::<Within>)]);
    let mut large = VecDeque::new();
    while let Some((path, within)) = folders.pop_front().or_else(|| large.pop_front()) {
        if Instant::now() > deadline {
            return false;
        }
        let folder = match open(root, &path, since) {
            Ok(folder) => folder,
            // It no longer exists, or was closed before.
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS) => continue,
            Err(_) => {
                is_whole = false;
                continue;
            }
        };
        let (mut shape, mut inside, mut links) = (Shape::default(), Vec::new(), Vec::new());
        let mut entries = RawDir::new(&folder, buffer.spare_capacity_mut());
        while let Some(Ok(entry)) = entries.next() {
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            shape.has(name);
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let stat = statat(&folder, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW);
                    stat.map_or(FileType::Unknown, |stat| FileType::from_raw_mode(stat.st_mode))
                }
                kind => kind,
            };
            if kind == FileType::Directory {
                inside.push(name.to_owned());
            } else if name.eq_ignore_ascii_case(".git") {
                met(GitEntry::Pointer { folder: &folder, name, path: &path.join(name) });
            } else if kind == FileType::Symlink {
                links.push(name.to_owned());
            }
        }
        let is_named = path.file_name().is_some_and(|it| it.eq_ignore_ascii_case(".git"));
        let is_new = fstat(&folder).is_ok_and(|stat| changed(&stat) >= since);
        let within: Option<Within> = match within {
            Some(within) => Some(Within { came: within.came || is_new, ..within }),
            None if is_named || shape.is_data() => {
                Some(Within { data: path.as_path().into(), is_new, came: false })
            }
            None => None,
        };
        for name in inside {
            let inside = path.join(&name);
            if !passes_over(&inside) {
                let is_large = LARGE.iter().any(|large| name == *large);
                let queue = if is_large { &mut large } else { &mut folders };
                queue.push_back((inside, within.clone()));
            }
        }
        if let Some(within) = &within {
            for name in &links {
                met(GitEntry::Link { folder: &folder, name, path: &path.join(name), within });
            }
        }
        if is_named || shape.may_be_data() {
            met(GitEntry::Data { folder: &folder, path: &path });
        }
    }
    is_whole
}

/// What git checks to recognize its data, or the part of it that linked work trees share
/// (`is_git_directory` in git's `setup.c`).
#[derive(Default)]
struct Shape([bool; 4]);

impl Shape {
    const NAMES: [&str; 4] = ["objects", "refs", "HEAD", "commondir"];

    fn has(&mut self, name: &OsStr) {
        for (is_there, known) in self.0.iter_mut().zip(Self::NAMES) {
            *is_there |= name.eq_ignore_ascii_case(known);
        }
    }

    fn may_be_data(&self) -> bool {
        let [objects, refs, head, common] = self.0;
        objects && refs || head && common
    }

    /// Whether all of that is there, and not only names that other folders may have, too.
    fn is_data(&self) -> bool {
        let [objects, refs, head, common] = self.0;
        head && (objects && refs || common)
    }
}

/// Opens a folder for reading. If it was closed since then, it is opened to its owner: git can use
/// a folder's content without listing it, and what cannot be checked now may be opened later.
pub(super) fn open(root: &OwnedFd, path: &Path, since: Moment) -> Result<OwnedFd, Errno> {
    match beneath(root, path, FOLDER) {
        Ok(folder) => {
            let stat = fstat(&folder)?;
            if stat.st_mode & 0o500 != 0o500 && changed(&stat) >= since {
                let_owner(&folder, &stat);
            }
            Ok(folder)
        }
        Err(Errno::ACCESS) => {
            let closed = beneath(root, path, OFlags::PATH | FOLDER)?;
            let stat = fstat(&closed)?;
            if changed(&stat) < since || !let_owner(&closed, &stat) {
                return Err(Errno::ACCESS);
            }
            openat(&closed, ".", FOLDER, Mode::empty())
        }
        Err(error) => Err(error),
    }
}

/// Gives the owner full access to an open folder, even one opened only as a path.
pub(super) fn let_owner(folder: &OwnedFd, stat: &Stat) -> bool {
    use std::os::fd::AsRawFd;
    let mode = Mode::from_raw_mode(stat.st_mode & 0o7777) | Mode::RWXU;
    let open = format!("/proc/self/fd/{}", folder.as_raw_fd());
    rustix::fs::chmod(open, mode).is_ok()
}

fn beneath(root: &OwnedFd, path: &Path, how: OFlags) -> Result<OwnedFd, Errno> {
    if path.as_os_str().is_empty() {
        return openat(root, ".", how, Mode::empty());
    }
    let bounds = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(root, path, how, Mode::empty(), bounds) {
        // Kernels before 5.6 lack this call, and some containers refuse calls that they do not
        // know.
        Err(Errno::NOSYS | Errno::PERM) => by_steps(root, path, how),
        opened => opened,
    }
}

fn by_steps(root: &OwnedFd, path: &Path, how: OFlags) -> Result<OwnedFd, Errno> {
    let way = OFlags::PATH | FOLDER;
    let mut folder = None::<OwnedFd>;
    let mut steps = path.components().peekable();
    while let Some(step) = steps.next() {
        let Component::Normal(name) = step else { return Err(Errno::INVAL) };
        let how = if steps.peek().is_some() { way } else { how };
        let from = folder.as_ref().map_or(root.as_fd(), AsFd::as_fd);
        folder = Some(openat(from, name, how, Mode::empty())?);
    }
    folder.ok_or(Errno::INVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_reached_by_steps_and_through_no_link() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("a/b")).unwrap();
        std::os::unix::fs::symlink("a", folder.path().join("link")).unwrap();
        let root = OwnedFd::from(std::fs::File::open(folder.path()).unwrap());
        for open in [by_steps, beneath] {
            assert!(open(&root, Path::new("a/b"), FOLDER).is_ok());
            assert!(open(&root, Path::new("link/b"), FOLDER).is_err());
        }
    }
}
