//! Opens a resolved path without following links on the way: neither one that was swapped in since,
//! nor one that leads out of the project.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::Path;

use rustix::fs::{FileType, Mode, OFlags, ResolveFlags, Stat};
use rustix::io::Errno;

use super::{Error, Kind, Project, ResolvedPath};

/// How often to retry when the kernel reports that folders moved meanwhile.
const TRIES: usize = 16;

impl Project {
    /// Opens a file for reading: exactly the one that was resolved.
    pub fn open_file(&self, path: &ResolvedPath) -> Result<File, Error> {
        // Opening a pipe would wait for a writer.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self.descend(path, flags)?;
        let found = rustix::fs::fstat(&file).map_err(|error| Error::of(&path.real, error))?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(Error::NotAFile(path.real.clone()));
        }
        path.is_still(&found)?;
        Ok(file.into())
    }

    /// Opens a folder to list it or to reach its entries: exactly the one that was resolved.
    pub fn open_folder(&self, path: &ResolvedPath) -> Result<OwnedFd, Error> {
        let folder = self.descend(path, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let found = rustix::fs::fstat(&folder).map_err(|error| Error::of(&path.real, error))?;
        path.is_still(&found)?;
        Ok(folder)
    }

    fn descend(&self, path: &ResolvedPath, flags: OFlags) -> Result<OwnedFd, Error> {
        let (start, way) = self.way(path);
        let way = if way.as_os_str().is_empty() { Path::new(".") } else { way };
        open_beneath(start, way, flags, Mode::empty()).map_err(|error| at_use(error, &path.real))
    }

    /// The folder from which a path is reached, and the path from there.
    pub(super) fn way<'a>(&'a self, path: &'a ResolvedPath) -> (BorrowedFd<'a>, &'a Path) {
        match path.relative() {
            Some(relative) => (self.folders.root.as_fd(), relative),
            None => {
                (self.folders.system.as_fd(), path.real.strip_prefix("/").unwrap_or(&path.real))
            }
        }
    }
}

impl ResolvedPath {
    /// Whether this is what was judged, and still has only the same links.
    pub(super) fn is_still(&self, found: &Stat) -> Result<(), Error> {
        let kind = match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            _ => Kind::Special,
        };
        // A link that replaces a file may get the same inode number.
        let same = self.identity == Some((found.st_dev, found.st_ino)) && self.kind == kind;
        let is_file = kind == Kind::File;
        let linked = is_file && found.st_nlink > 1 && !self.several_links;
        if same && !linked { Ok(()) } else { Err(Error::Changed(self.real.clone())) }
    }
}

/// The meaning of a failure to open a resolved path: a link was placed on it later.
pub(super) fn at_use(error: Errno, path: &Path) -> Error {
    match error {
        Errno::LOOP | Errno::XDEV | Errno::NOTDIR | Errno::NOENT => Error::Changed(path.to_owned()),
        Errno::NXIO => Error::NotAFile(path.to_owned()),
        error => Error::of(path, error),
    }
}

/// Opens `way`, which has no `..`, below `start`, without following links.
pub(super) fn open_beneath(
    start: BorrowedFd<'_>,
    way: &Path,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_SYMLINKS;
    let flags = flags | OFlags::CLOEXEC;
    for _ in 0..TRIES {
        match rustix::fs::openat2(start, way, flags, mode, resolve) {
            Err(Errno::AGAIN | Errno::INTR) => {}
            // The kernel, or a container around this program, does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => return open_by_steps(start, way, flags, mode),
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}

/// The same step by step, one folder after another.
pub(super) fn open_by_steps(
    start: BorrowedFd<'_>,
    way: &Path,
    flags: OFlags,
    mode: Mode,
) -> Result<OwnedFd, Errno> {
    let mut names = way.iter().filter(|&name| name != OsStr::new(".")).peekable();
    let mut folder = None;
    let step = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    while let Some(name) = names.next() {
        if name == OsStr::new("..") || name == OsStr::new("/") {
            return Err(Errno::XDEV);
        }
        let here = folder.as_ref().map_or(start, AsFd::as_fd);
        if names.peek().is_none() {
            return rustix::fs::openat(here, name, flags | OFlags::NOFOLLOW, mode);
        }
        folder = Some(rustix::fs::openat(here, name, step, Mode::empty())?);
    }
    rustix::fs::openat(start, ".", flags | OFlags::NOFOLLOW, mode)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::PathEnvironment;

    #[test]
    fn a_link_with_the_number_of_the_file_that_it_replaced_is_another() {
        let folder = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("elsewhere", folder.path().join("link")).unwrap();
        let project = Project::open(folder.path(), &PathEnvironment::default()).unwrap();
        let link = project.resolve_entry("link").unwrap();
        let found = rustix::fs::lstat(folder.path().join("link")).unwrap();
        assert!(link.is_still(&found).is_ok());
        let file = ResolvedPath { kind: Kind::File, ..link };
        assert!(matches!(file.is_still(&found), Err(Error::Changed(_))));
    }
}
