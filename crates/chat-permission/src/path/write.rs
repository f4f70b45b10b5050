//! Creates, replaces, moves and removes files through their folder, which was opened without
//! following links. A file is written completely or not at all.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Gid, Mode, OFlags, RenameFlags, Stat, Uid};
use rustix::io::Errno;

use super::attributes::Attributes;
use super::open::{at_use, open_beneath};
use super::{Error, Kind, Project, ResolvedPath};

/// The permissions of a new folder, from which the user's umask takes some.
const NEW_FOLDER: Mode = Mode::from_raw_mode(0o777);
/// The permissions of a replacement file, until it gets those of the original.
const OWN_FILE: Mode = Mode::from_raw_mode(0o600);

impl Project {
    /// The open parent folder of a path, and the name in it. Fails if the folder is missing.
    pub fn parent(&self, path: &ResolvedPath) -> Result<(OwnedFd, OsString), Error> {
        self.folder_of(path, false)
    }

    /// Creates a new file and its missing parent folders. If something was created there since the
    /// path was resolved, it stays, and the error is [`Error::Changed`].
    pub fn create(&self, path: &ResolvedPath, contents: &[u8]) -> Result<(), Error> {
        self.create_as(path, contents, 0o666)
    }

    /// The same with these permissions, from which the user's umask takes some.
    pub fn create_as(
        &self,
        path: &ResolvedPath,
        contents: &[u8],
        permissions: u16,
    ) -> Result<(), Error> {
        if path.kind != Kind::Missing {
            return Err(Error::Exists(path.real.clone()));
        }
        let (folder, name) = self.folder_of(path, true)?;
        let io = |error: Errno| Error::of(&path.real, error);
        let mode = Mode::from_raw_mode(u32::from(permissions & 0o777));
        let beside = TempFile::write(&folder, mode, contents, None)
            .map_err(|error| Error::of(&path.real, error))?;
        beside.rename_to(&name, false).map_err(|error| match error {
            Errno::EXIST => Error::Changed(path.real.clone()),
            error => io(error),
        })
    }

    /// Creates a symbolic link where nothing exists, and its missing parent folders.
    pub fn create_link(&self, path: &ResolvedPath, target: &OsStr) -> Result<(), Error> {
        if path.kind != Kind::Missing {
            return Err(Error::Exists(path.real.clone()));
        }
        let (folder, name) = self.folder_of(path, true)?;
        rustix::fs::symlinkat(target, &folder, &name).map_err(|error| match error {
            Errno::EXIST => Error::Changed(path.real.clone()),
            error => Error::of(&path.real, error),
        })?;
        keep(&folder);
        Ok(())
    }

    /// The target of a link.
    pub fn read_link(&self, path: &ResolvedPath) -> Result<OsString, Error> {
        let (folder, name) = self.folder_of(path, false)?;
        entry(&folder, &name, path)?;
        let target = rustix::fs::readlinkat(&folder, &name, Vec::new())
            .map_err(|error| Error::of(&path.real, error))?;
        Ok(OsString::from_vec(target.into_bytes()))
    }

    /// Replaces the whole content of a file, which keeps its permissions and, if that is allowed,
    /// its owner. Its other hard links keep the old content.
    pub fn replace(&self, path: &ResolvedPath, contents: &[u8]) -> Result<(), Error> {
        self.replace_as(path, contents, None)
    }

    /// The same, and sets the executable bit; if that is not given, it stays as it is.
    pub fn replace_as(
        &self,
        path: &ResolvedPath,
        contents: &[u8],
        executable: Option<bool>,
    ) -> Result<(), Error> {
        if path.kind != Kind::File {
            return Err(Error::NotAFile(path.real.clone()));
        }
        let (folder, name) = self.folder_of(path, false)?;
        let old = entry(&folder, &name, path)?;
        let mut like = old;
        like.st_mode = permissions(old.st_mode, executable);
        let attributes = Attributes::of(&folder, &name);
        let beside = TempFile::write(&folder, OWN_FILE, contents, Some((&like, &attributes)))
            .map_err(|error| Error::of(&path.real, error))?;
        // Checked again as late as possible: what is replaced is what was judged, and nobody has
        // written to it since.
        if !is_untouched(&old, &entry(&folder, &name, path)?) {
            return Err(Error::Changed(path.real.clone()));
        }
        beside.rename_to(&name, true).map_err(|error| Error::of(&path.real, error))
    }

    /// Moves a file, a folder or a link to a free name.
    pub fn rename(&self, from: &ResolvedPath, to: &ResolvedPath) -> Result<(), Error> {
        if to.kind != Kind::Missing {
            return Err(Error::Exists(to.real.clone()));
        }
        // Checked first, so that nothing is created if the move is not allowed.
        let source = self.judged(from)?;
        let (folder, name) = self.folder_of(to, true)?;
        moved(from, &source, &folder, &name).map_err(|error| match error {
            Error::Exists(_) => Error::Changed(to.real.clone()),
            error => error,
        })
    }

    /// Moves a file, a folder or a link to a name in an open folder, wherever that is. It is
    /// [`Error::Exists`] if the name is taken.
    pub fn move_into(
        &self,
        from: &ResolvedPath,
        folder: &OwnedFd,
        name: &OsStr,
    ) -> Result<(), Error> {
        moved(from, &self.judged(from)?, folder, name)
    }

    /// Removes a file, a link or an empty folder for good.
    pub fn remove(&self, path: &ResolvedPath) -> Result<(), Error> {
        let (folder, name) = self.judged(path)?;
        let flags = if path.kind == Kind::Folder { AtFlags::REMOVEDIR } else { AtFlags::empty() };
        rustix::fs::unlinkat(&folder, &name, flags)
            .map_err(|error| Error::of(&path.real, error))?;
        keep(&folder);
        Ok(())
    }

    /// The parent folder of a path, and the name in it. The entry must be what was judged.
    fn judged(&self, path: &ResolvedPath) -> Result<(OwnedFd, OsString), Error> {
        let (folder, name) = self.folder_of(path, false)?;
        entry(&folder, &name, path)?;
        Ok((folder, name))
    }

    fn folder_of(&self, path: &ResolvedPath, make: bool) -> Result<(OwnedFd, OsString), Error> {
        let (start, way) = self.way(path);
        let Some(name) = way.file_name() else {
            return Err(Error::Exists(path.real.clone()));
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY;
        let failed = |error: Errno| at_use(error, &path.real);
        let above =
            way.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match open_beneath(start, above, flags, Mode::empty()) {
            Err(Errno::NOENT) if make => {
                let mut folder =
                    open_beneath(start, Path::new("."), flags, Mode::empty()).map_err(failed)?;
                for part in above {
                    match rustix::fs::mkdirat(&folder, part, NEW_FOLDER) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(failed(error)),
                    }
                    folder = open_beneath(folder.as_fd(), Path::new(part), flags, Mode::empty())
                        .map_err(failed)?;
                }
                Ok((folder, name.to_owned()))
            }
            folder => Ok((folder.map_err(failed)?, name.to_owned())),
        }
    }
}

fn moved(
    from: &ResolvedPath,
    (old_folder, old_name): &(OwnedFd, OsString),
    folder: &OwnedFd,
    name: &OsStr,
) -> Result<(), Error> {
    move_to_free(old_folder, old_name, folder, name).map_err(|error| match error {
        Errno::EXIST => Error::Exists(from.real.with_file_name(name)),
        error => Error::of(&from.real, error),
    })?;
    keep(folder);
    Ok(())
}

/// The entry `name`, which must be what was judged.
fn entry(folder: &OwnedFd, name: &OsStr, path: &ResolvedPath) -> Result<Stat, Error> {
    let found = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
        .map_err(|error| at_use(error, &path.real))?;
    path.is_still(&found)?;
    Ok(found)
}

/// A file's permissions, executable for everybody who may read it, or not executable.
fn permissions(mode: u32, executable: Option<bool>) -> u32 {
    match executable {
        None => mode,
        Some(true) => mode | (mode & 0o444) >> 2,
        Some(false) => mode & !0o111,
    }
}

/// Whether nobody wrote to a file in between, as far as its times tell.
fn is_untouched(before: &Stat, after: &Stat) -> bool {
    let told = |stat: &Stat| {
        (stat.st_size, (stat.st_mtime, stat.st_mtime_nsec), (stat.st_ctime, stat.st_ctime_nsec))
    };
    told(before) == told(after)
}

/// A temporary file next to the one that it replaces. It is removed if it is dropped before that.
struct TempFile<'a> {
    folder: &'a OwnedFd,
    name: Option<OsString>,
}

impl<'a> TempFile<'a> {
    fn write(
        folder: &'a OwnedFd,
        mode: Mode,
        contents: &[u8],
        old: Option<(&Stat, &Attributes)>,
    ) -> std::io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        // The file must be new, and never reached through a link.
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let (name, file) = loop {
            let count = COUNT.fetch_add(1, Ordering::Relaxed);
            let name = format!(".natter-{}-{count}", std::process::id());
            match rustix::fs::openat(folder, &name, flags, mode) {
                Err(Errno::EXIST) => {}
                file => break (name, file?),
            }
        };
        let beside = Self { folder, name: Some(name.into()) };
        let mut file = File::from(file);
        file.write_all(contents)?;
        if let Some((old, attributes)) = old {
            // Only root may give a file away; otherwise it belongs to the user, and to one of their
            // groups.
            let (owner, group) = (Uid::from_raw(old.st_uid), Gid::from_raw(old.st_gid));
            let _ = rustix::fs::fchown(&file, Some(owner), Some(group))
                .or_else(|_| rustix::fs::fchown(&file, None, Some(group)));
            let is_of_group = rustix::fs::fstat(&file)?.st_gid == old.st_gid;
            let mut mode = old.st_mode & 0o7777;
            // The ACL first: the permissions have the last word.
            if !attributes.give(&file) || !is_of_group {
                // Another group would get the access of the original group, or of those in the ACL:
                // give it what all others have.
                mode = closed_to_group(mode);
            }
            rustix::fs::fchmod(&file, Mode::from_raw_mode(mode))?;
        }
        file.sync_all()?;
        Ok(beside)
    }

    fn rename_to(mut self, name: &OsStr, of_another: bool) -> Result<(), Errno> {
        let Some(own) = self.name.take() else {
            return Ok(());
        };
        let moved = if of_another {
            rustix::fs::renameat(self.folder, &own, self.folder, name)
        } else {
            move_to_free(self.folder, &own, self.folder, name)
        };
        if moved.is_err() {
            self.name = Some(own);
        }
        moved?;
        keep(self.folder);
        Ok(())
    }
}

impl Drop for TempFile<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = rustix::fs::unlinkat(self.folder, name, AtFlags::empty());
        }
    }
}

/// Renames to a free name.
fn move_to_free(
    old: &OwnedFd,
    old_name: &OsStr,
    new: &OwnedFd,
    new_name: &OsStr,
) -> Result<(), Errno> {
    match rustix::fs::renameat_with(old, old_name, new, new_name, RenameFlags::NOREPLACE) {
        // Some file systems cannot guarantee this.
        Err(Errno::INVAL | Errno::NOSYS) => {
            match rustix::fs::statat(new, new_name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(_) => Err(Errno::EXIST),
                Err(Errno::NOENT) => rustix::fs::renameat(old, old_name, new, new_name),
                Err(error) => Err(error),
            }
        }
        moved => moved,
    }
}

/// Syncs a folder's entries to disk. Not every file system can do it; the file itself is safe.
fn keep(folder: &OwnedFd) {
    let _ = rustix::fs::fsync(folder);
}

/// The permissions of a file for a foreign group: what both the group and all others have.
fn closed_to_group(mode: u32) -> u32 {
    mode & !0o070 | (mode >> 3 & mode & 0o007) << 3
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn another_group_gets_what_this_one_and_all_others_have() {
        for (mode, closed) in [
            (0o640, 0o600),
            (0o664, 0o644),
            (0o604, 0o604),
            (0o675, 0o655),
            (0o777, 0o777),
            (0o4750, 0o4700),
            (0o623, 0o623),
        ] {
            assert_eq!(closed_to_group(mode), closed, "{mode:o}");
        }
    }

    #[test]
    fn a_write_of_somebody_else_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let look = || rustix::fs::stat(&path).unwrap();
        std::fs::write(&path, "a").unwrap();
        let before = look();
        assert!(is_untouched(&before, &look()));
        std::fs::write(&path, "ab").unwrap();
        assert!(!is_untouched(&before, &look()));
        // Same length, different time.
        let before = look();
        let file = File::options().write(true).open(&path).unwrap();
        file.set_modified(SystemTime::now() + Duration::from_secs(9)).unwrap();
        assert!(!is_untouched(&before, &look()));
    }
}
