//! Fills a folder that commands may be writing to at the same time: nothing in it is reached
//! through a link.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, mkdirat, openat, statat, symlinkat, unlinkat,
};
use rustix::io::Errno;

const HOW: OFlags =
    OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// An open folder.
pub(super) struct Folder(OwnedFd);

impl Folder {
    /// Opens the folder at a path that no command can change.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self(openat(CWD, path, HOW, Mode::empty())?))
    }

    /// Opens a subfolder; creates it if it does not exist or is something else.
    pub(super) fn enter(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
        let name = name.as_ref();
        match mkdirat(&self.0, name, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
        match openat(&self.0, name, HOW, Mode::empty()) {
            Err(Errno::NOTDIR | Errno::LOOP) => {
                self.remove(name)?;
                mkdirat(&self.0, name, Mode::RWXU)?;
                Ok(Self(openat(&self.0, name, HOW, Mode::empty())?))
            }
            folder => Ok(Self(folder?)),
        }
    }

    /// The same for several nested names.
    pub(super) fn enter_all(&self, path: &str) -> io::Result<Self> {
        let mut names = path.split('/');
        let first = self.enter(names.next().unwrap_or_default())?;
        names.try_fold(first, |folder, name| folder.enter(name))
    }

    /// Creates a link, unless the name is taken.
    pub(super) fn link(&self, target: &Path, name: &OsStr) -> io::Result<()> {
        match symlinkat(target, &self.0, name) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Creates a file, replacing one of that name.
    pub(super) fn put(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        self.remove(name)?;
        let how = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let file = openat(&self.0, name, how, Mode::from_raw_mode(0o644))?;
        File::from(file).write_all(bytes)
    }

    /// Removes a file or a link, if it exists.
    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        match unlinkat(&self.0, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// When a file was modified; none if it does not exist.
    pub(super) fn modified(&self, name: &OsStr) -> Option<SystemTime> {
        let stat = statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let seconds = Duration::from_secs(u64::try_from(stat.st_mtime).ok()?);
        #[allow(clippy::unnecessary_cast, reason = "the types differ by machine")]
        let rest = Duration::from_nanos(stat.st_mtime_nsec as u64);
        Some(SystemTime::UNIX_EPOCH + seconds + rest)
    }

    /// The links in it.
    pub(super) fn links(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            if entry.file_type() == FileType::Symlink {
                names.push(OsStr::from_bytes(entry.file_name().to_bytes()).to_owned());
            }
        }
        Ok(names)
    }
}
