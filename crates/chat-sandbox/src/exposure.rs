//! Notices when somebody outside replaces what is protected from a command.
//!
//! A mount is on a file, not on its name: when a person's git writes its settings anew and renames
//! them into place, or an editor saves so, the kernel takes the mount away in the sandbox too, and
//! the command could write to what is there now.

use std::collections::HashSet;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};

/// How often is looked where the kernel does not tell.
const OFTEN: Duration = Duration::from_millis(100);

/// Watches over what is protected.
#[derive(Debug)]
pub(crate) struct Exposure {
    /// None where the kernel gives no more of them.
    events: Option<OwnedFd>,
    placed: Vec<(PathBuf, Option<(u64, u64)>)>,
}

impl Exposure {
    /// Watches over these from now on.
    pub(crate) fn new<'a>(protected: impl Iterator<Item = &'a Path>) -> Self {
        let protected: Vec<PathBuf> = protected.map(Path::to_owned).collect();
        let events = watch(&protected);
        let placed = protected.into_iter().map(|path| (path.clone(), id(&path))).collect();
        Self { events, placed }
    }

    /// Becomes readable when it is time to [look](Self::happened).
    pub(crate) fn events(&self) -> Option<BorrowedFd<'_>> {
        self.events.as_ref().map(AsFd::as_fd)
    }

    /// When it is to be looked at the latest, though no event came.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.events.is_none().then(|| Instant::now() + OFTEN)
    }

    /// Whether anything is not what it was.
    pub(crate) fn happened(&self) -> bool {
        if let Some(events) = &self.events {
            let mut buffer = [MaybeUninit::uninit(); 4096];
            let mut reader = Reader::new(events, &mut buffer);
            let mut is_quiet = true;
            while reader.next().is_ok() {
                is_quiet = false;
            }
            if is_quiet {
                return false;
            }
        }
        self.placed.iter().any(|(path, before)| id(path) != *before)
    }
}

/// Has the kernel tell of names that come and go beside these.
fn watch(protected: &[PathBuf]) -> Option<OwnedFd> {
    let events = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
    let what = WatchFlags::MOVED_TO
        | WatchFlags::MOVED_FROM
        | WatchFlags::CREATE
        | WatchFlags::DELETE
        | WatchFlags::ONLYDIR;
    let folders: HashSet<&Path> = protected.iter().filter_map(|path| path.parent()).collect();
    for folder in folders {
        inotify::add_watch(&events, folder, what).ok()?;
    }
    Some(events)
}

fn id(path: &Path) -> Option<(u64, u64)> {
    path.symlink_metadata().ok().map(|it| (it.dev(), it.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_replaced_is_noticed_and_what_is_only_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let [file, other] = ["file", "other"].map(|name| folder.path().join(name));
        for told in [true, false] {
            std::fs::write(&file, "one").unwrap();
            let mut exposure = Exposure::new(std::iter::once(&*file));
            if !told {
                exposure.events = None;
            }
            std::fs::write(&file, "two").unwrap();
            std::fs::write(&other, "three").unwrap();
            assert!(!exposure.happened());
            std::fs::rename(&other, &file).unwrap();
            assert!(exposure.happened());
        }
    }
}
