//! Holds the placeholders of a command for as long as it runs.
//!
//! Overlapping commands share them. Each command holds a shared lock on each, and the last one
//! removes them: removing one sooner would remove it from the other command's view too, and with it
//! the protection.

use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};

use super::placeholder::Placeholder;
use super::{Protection, View, nested, project};
use crate::error::Error;
use crate::git::{QuarantineReason, QuarantinedFile};

/// How often, and how long apart, to retry while another command is removing a placeholder.
const ATTEMPTS: u32 = 200;
const INTERVAL: Duration = Duration::from_millis(5);

/// Keeps protected names from being created as long as it lives.
#[derive(Debug)]
pub(crate) struct Guard {
    held: Vec<Held>,
    /// Folders that were created for the command to write to.
    made: Vec<(PathBuf, File)>,
    quarantined: Vec<PathBuf>,
    nested: Vec<nested::Keep>,
}

/// A placeholder, or what was already in its place, with a shared lock.
#[derive(Debug)]
struct Held {
    path: PathBuf,
    placeholder: Placeholder,
    file: File,
}

impl Guard {
    /// Creates the placeholders, if the back end can use them, and holds existing ones. Where one
    /// cannot be created, whatever is created there is quarantined at the end.
    pub(crate) fn new(view: &mut View, placeholders: bool) -> Result<Self, Error> {
        let mut guard = Self::of_nothing();
        guard.nested = std::mem::take(&mut view.nested);
        for protection in &view.protected {
            let (path, placeholder) = match protection {
                Protection::Pinned(_) | Protection::ReadOnly(_) | Protection::Shared(_) => {
                    continue;
                }
                Protection::Absent(path, _) if !placeholders => {
                    guard.quarantined.push(path.clone());
                    continue;
                }
                Protection::Absent(path, placeholder) | Protection::Held(path, placeholder) => {
                    (path, *placeholder)
                }
            };
            match hold(path, placeholder)? {
                Some(held) => guard.held.push(held),
                None => guard.quarantined.push(path.clone()),
            }
        }
        Ok(guard)
    }

    /// The guard of a command without a view.
    pub(crate) fn of_nothing() -> Self {
        Self { held: Vec::new(), made: Vec::new(), quarantined: Vec::new(), nested: Vec::new() }
    }

    /// Creates writable folders, which are removed again if they stay empty.
    pub(crate) fn make_writable(&mut self, folders: Vec<PathBuf>) {
        for path in folders {
            if std::fs::create_dir(&path).is_ok()
                && let Ok(folder) = File::open(&path)
            {
                let _ = flock(&folder, FlockOperation::NonBlockingLockShared);
                self.made.push((path, folder));
            }
        }
    }

    /// The paths of the placeholders.
    pub(crate) fn placeholders(&self) -> impl Iterator<Item = &Path> {
        self.held.iter().map(|held| held.path.as_path())
    }

    /// Quarantines what was created in spite of the sandbox, and returns it.
    pub(crate) fn quarantine(&mut self) -> Vec<QuarantinedFile> {
        let mut found = Vec::new();
        for path in self.quarantined.drain(..) {
            if path.symlink_metadata().is_err() {
                continue;
            }
            let kept = quarantine_path(&path);
            if std::fs::rename(&path, &kept).is_ok() {
                found.push(QuarantinedFile {
                    path,
                    moved_to: kept,
                    why: QuarantineReason::Protected,
                });
            }
        }
        found
    }

    /// Removes the placeholders and folders now rather than when it is dropped. The returned files
    /// are still open: closing them may wait for the disk.
    pub(crate) fn take_away(&mut self) -> Vec<File> {
        let mut open = Vec::new();
        for Held { path, placeholder, file } in self.held.drain(..) {
            if alone(&file) && is_the_same(&file, &path) {
                placeholder.take_away(&path);
            }
            open.push(unlocked(file));
        }
        for (path, folder) in self.made.drain(..) {
            if alone(&folder) {
                // Removes only an empty folder.
                let _ = std::fs::remove_dir(path);
            }
            open.push(unlocked(folder));
        }
        self.nested.clear();
        open
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.take_away();
    }
}

/// Removes the placeholders that a killed program left in a project, unless a command still needs them.
/// Nothing of the user's is touched: folders are empty and marked, files have the very text. Blocks.
pub fn clear_left_over(project: &Path) {
    for (path, placeholder) in project::placeholders(project) {
        if !placeholder.is_at(&path) {
            continue;
        }
        let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = open(&path, how, Mode::empty()).map(File::from) else { continue };
        if alone(&file) && is_the_same(&file, &path) {
            placeholder.take_away(&path);
        }
    }
}

/// Creates the placeholder unless something exists, and locks what is there. None if nothing can be
/// created, as in a project that the user may not write to.
fn hold(path: &Path, placeholder: Placeholder) -> Result<Option<Held>, Error> {
    for _ in 0..ATTEMPTS {
        let made = placeholder.make(path);
        let how = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match open(path, how, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(rustix::io::Errno::LOOP) => return Err(Error::ProtectedLink(path.to_owned())),
            Err(rustix::io::Errno::NOENT) => match made {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Ok(None),
                // It was removed in between.
                _ => continue,
            },
            Err(error) => return Err(Error::Start(error.into())),
        };
        let locked = flock(&file, FlockOperation::NonBlockingLockShared);
        if locked != Err(rustix::io::Errno::WOULDBLOCK) && is_the_same(&file, path) {
            return Ok(Some(Held { path: path.to_owned(), placeholder, file }));
        }
        // Another command is removing it.
        std::thread::sleep(INTERVAL);
    }
    Err(Error::Start(io::ErrorKind::WouldBlock.into()))
}

/// The same file without its lock.
fn unlocked(file: File) -> File {
    let _ = flock(&file, FlockOperation::Unlock);
    file
}

/// Whether nobody else holds it.
fn alone(file: &File) -> bool {
    flock(file, FlockOperation::NonBlockingLockExclusive).is_ok()
}

fn is_the_same(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(held), Ok(there)) => (held.dev(), held.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// A free name next to `path` that means nothing to any program.
fn quarantine_path(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    (1..1000_u32)
        .map(|number| path.with_file_name(format!("{name}.put-aside-{number}")))
        .find(|aside| aside.symlink_metadata().is_err())
        .unwrap_or_else(|| path.with_file_name(format!("{name}.put-aside")))
}
