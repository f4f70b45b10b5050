//! Copies system files and folders, and detects whether they have changed since.

use std::fs::{File, FileTimes, Metadata, Permissions};
use std::io::{self, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::OFlags;

/// How many files and folders, and how many bytes, are copied at most. If there is more, nothing is
/// copied.
const FILES: usize = 2000;
const BYTES: u64 = 16 << 20;

/// Changes when a file or folder does: its inode and device, its permissions, its length, and its
/// change time.
pub(super) type Mark = [i64; 6];

pub(super) fn mark(found: &Metadata) -> Mark {
    let when = [(found.ctime(), found.ctime_nsec()), (found.mtime(), found.mtime_nsec())];
    let [changed, written] = when.map(|(seconds, rest)| seconds * 1_000_000_000 + rest);
    let number = |number: u64| number.cast_signed();
    [
        number(found.dev()),
        number(found.ino()),
        found.mode().into(),
        number(found.len()),
        changed,
        written,
    ]
}

/// Whether the last change is at least this old.
pub(super) fn is_older(mark: &Mark, age: Duration) -> bool {
    let [.., changed, _] = mark;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let then = now.saturating_sub(age).as_nanos();
    // Waiting does not make a time in the future older.
    u128::try_from(*changed).is_ok_and(|changed| changed <= then || changed > now.as_nanos())
}

/// Adds the marks of the file or folder at `path`, and of everything below. Links have none:
/// changing one changes its folder.
pub(super) fn collect_marks(path: &Path, marks: &mut Vec<(PathBuf, Mark)>) -> io::Result<()> {
    collect_marks_of(path, &path.symlink_metadata()?, marks)
}

fn collect_marks_of(
    path: &Path,
    found: &Metadata,
    marks: &mut Vec<(PathBuf, Mark)>,
) -> io::Result<()> {
    marks.push((path.to_owned(), mark(found)));
    if found.is_dir() {
        for entry in readable(path.read_dir())?.into_iter().flatten() {
            let entry = entry?;
            if !entry.file_type()?.is_symlink() {
                collect_marks_of(&entry.path(), &entry.metadata()?, marks)?;
            }
        }
    }
    if marks.len() > FILES { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(()) }
}

/// A copy that is being made.
pub(super) struct Copy<'a> {
    to: &'a Path,
    left: u64,
    folders: Vec<PathBuf>,
}

impl<'a> Copy<'a> {
    /// Starts a copy into an empty folder.
    pub(super) fn new(to: &'a Path) -> Self {
        Self { to, left: BYTES, folders: vec![to.to_owned()] }
    }

    /// Adds a file, or a folder with everything below, at a place in the copy. What the user may
    /// not read is left out, and so is anything that is not a file, a folder or a link.
    pub(super) fn add(&mut self, from: &Path, place: &Path) -> io::Result<()> {
        self.make_way(place)?;
        self.copy(from, &from.symlink_metadata()?, &self.to.join(place))
    }

    /// Adds a link to `target`.
    pub(super) fn link(&mut self, target: &Path, place: &Path) -> io::Result<()> {
        self.make_way(place)?;
        symlink(target, self.to.join(place))
    }

    /// Finishes the copy, and returns its folders.
    pub(super) fn folders(self) -> io::Result<Vec<(PathBuf, Mark)>> {
        let marked = |folder: PathBuf| {
            let found = folder.symlink_metadata()?;
            Ok((folder, mark(&found)))
        };
        self.folders.into_iter().map(marked).collect()
    }

    fn make_way(&mut self, place: &Path) -> io::Result<()> {
        let mut above: Vec<&Path> = place.ancestors().skip(1).collect();
        above.reverse();
        for folder in above {
            let folder = self.to.join(folder);
            if !folder.is_dir() {
                std::fs::create_dir(&folder)?;
                self.folders.push(folder);
            }
        }
        Ok(())
    }

    fn copy(&mut self, from: &Path, found: &Metadata, to: &Path) -> io::Result<()> {
        if found.is_symlink() {
            return symlink(from.read_link()?, to);
        }
        if found.is_file() {
            return self.copy_file(from, to);
        }
        if found.is_dir()
            && let Some(entries) = readable(from.read_dir())?
        {
            std::fs::create_dir(to)?;
            self.folders.push(to.to_owned());
            for entry in entries {
                let entry = entry?;
                self.copy(&entry.path(), &entry.metadata()?, &to.join(entry.file_name()))?;
            }
        }
        Ok(())
    }

    fn copy_file(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        // It may have been replaced by now.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mut options = File::options();
        options.read(true).custom_flags(flags.bits().cast_signed());
        let Some(from) = readable(options.open(from))? else { return Ok(()) };
        let found = from.metadata()?;
        if !found.is_file() {
            return Ok(());
        }
        let mut copy = File::create_new(to)?;
        self.left -= io::copy(&mut from.take(self.left), &mut copy)?;
        if self.left == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let is_program = found.mode() & 0o111 != 0;
        copy.set_permissions(Permissions::from_mode(if is_program { 0o555 } else { 0o444 }))?;
        copy.set_times(FileTimes::new().set_modified(found.modified()?))
    }
}

/// None for what the user may not read.
fn readable<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(it) => Ok(Some(it)),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(None),
        Err(error) => Err(error),
    }
}
