//! Notices when somebody outside replaces a file that is protected from a command.
//!
//! A mount belongs to a file, not to its name: when the user's git rewrites its settings and
//! renames them into place, or an editor saves this way, the kernel removes the mount in the
//! sandbox too, and the command could write to the new file.

use std::collections::{HashMap, HashSet};
use std::ffi::{OsStr, OsString};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};
use rustix::fs::{AtFlags, CWD, StatxFlags, statx};

/// How often to check if the kernel sends no events.
const OFTEN: Duration = Duration::from_millis(100);

/// Watches protected files.
#[derive(Debug)]
pub(crate) struct MountWatch {
    /// None if the kernel allows no more watches.
    events: Option<Events>,
    placed: Vec<(PathBuf, Option<Id>)>,
}

/// The kernel's events for the folders with protected files.
#[derive(Debug)]
struct Events {
    queue: OwnedFd,
    /// The protected names in them, by the kernel's number for each folder.
    names: HashMap<i32, HashSet<OsString>>,
}

/// Identifies a file: device, inode number, and creation time. The number alone is not enough,
/// since the next file may reuse the number of a deleted one.
#[derive(Debug, PartialEq)]
struct Id {
    device: (u32, u32),
    number: u64,
    /// None if the file system does not store it.
    made: Option<(i64, u32)>,
}

impl MountWatch {
    /// Watches these from now on.
    pub(crate) fn new<'a>(protected: impl Iterator<Item = &'a Path>) -> Self {
        let protected: Vec<PathBuf> = protected.map(Path::to_owned).collect();
        let events = Events::of(&protected);
        let placed = protected.into_iter().map(|path| (path.clone(), Id::of(&path))).collect();
        Self { events, placed }
    }

    /// Becomes readable when it is time to [check](Self::happened).
    pub(crate) fn events(&self) -> Option<BorrowedFd<'_>> {
        self.events.as_ref().map(|events| events.queue.as_fd())
    }

    /// When to check at the latest, even without an event.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.events.is_none().then(|| Instant::now() + OFTEN)
    }

    /// Whether anything is, or was in between, another file than before. Reported once.
    pub(crate) fn happened(&self) -> bool {
        match self.events.as_ref().map(Events::summary) {
            Some(EventSummary::Nothing) => false,
            Some(EventSummary::Replaced) => true,
            Some(EventSummary::Incomplete) | None => self.is_not_as_before(),
        }
    }

    fn is_not_as_before(&self) -> bool {
        self.placed.iter().any(|(path, before)| Id::of(path) != *before)
    }
}

/// What the events mean together.
enum EventSummary {
    /// Nothing protected was touched.
    Nothing,
    /// A protected name was created, moved or removed.
    Replaced,
    /// Some events were lost.
    Incomplete,
}

impl Events {
    /// Asks the kernel to report changed names in the folders of these.
    fn of(protected: &[PathBuf]) -> Option<Self> {
        let queue = inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).ok()?;
        let what = WatchFlags::MOVED_TO
            | WatchFlags::MOVED_FROM
            | WatchFlags::CREATE
            | WatchFlags::DELETE
            | WatchFlags::ONLYDIR;
        let mut by_folder: HashMap<&Path, HashSet<OsString>> = HashMap::new();
        for path in protected {
            if let (Some(folder), Some(name)) = (path.parent(), path.file_name()) {
                by_folder.entry(folder).or_default().insert(name.to_owned());
            }
        }
        let mut names = HashMap::new();
        for (folder, inside) in by_folder {
            names.insert(inotify::add_watch(&queue, folder, what).ok()?, inside);
        }
        Some(Self { queue, names })
    }

    /// Reads the pending events.
    fn summary(&self) -> EventSummary {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.queue, &mut buffer);
        let mut summary = EventSummary::Nothing;
        while let Ok(event) = reader.next() {
            let Some(name) = event.file_name() else {
                // There were too many events, or a folder is no longer watched.
                summary = EventSummary::Incomplete;
                continue;
            };
            let names = self.names.get(&event.wd());
            if names.is_some_and(|names| names.contains(OsStr::from_bytes(name.to_bytes()))) {
                return EventSummary::Replaced;
            }
        }
        summary
    }
}

impl Id {
    fn of(path: &Path) -> Option<Self> {
        let what = StatxFlags::INO | StatxFlags::BTIME;
        let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, what).ok()?;
        let has_time = found.stx_mask & StatxFlags::BTIME.bits() != 0;
        Some(Self {
            device: (found.stx_dev_major, found.stx_dev_minor),
            number: found.stx_ino,
            made: has_time.then_some((found.stx_btime.tv_sec, found.stx_btime.tv_nsec)),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn what_is_replaced_is_noticed_and_what_is_only_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let [file, other] = ["file", "other"].map(|name| folder.path().join(name));
        for by_events in [true, false] {
            std::fs::write(&file, "one").unwrap();
            let mut mount_watch = MountWatch::new(std::iter::once(&*file));
            if !by_events {
                mount_watch.events = None;
            }
            std::fs::write(&file, "two").unwrap();
            std::fs::write(&other, "three").unwrap();
            assert!(!mount_watch.happened());
            std::fs::rename(&other, &file).unwrap();
            assert!(mount_watch.happened());
        }
    }

    /// A file system may give a deleted file's number to the next file, so that a file that is
    /// replaced twice can have its old number again: git writes its settings twice to add one
    /// remote.
    #[test]
    fn what_is_replaced_by_a_file_of_the_same_number_is_noticed() {
        for by_events in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let [file, other] = ["file", "other"].map(|name| folder.path().join(name));
            std::fs::write(&file, "one").unwrap();
            wait_for_another_time(&file);
            let mut mount_watch = MountWatch::new(std::iter::once(&*file));
            if !by_events {
                mount_watch.events = None;
            }
            let mut numbers = Vec::new();
            for _ in 0..2 {
                numbers.push(file.symlink_metadata().unwrap().ino());
                std::fs::write(&other, "two").unwrap();
                std::fs::rename(&other, &file).unwrap();
            }
            let is_same = file.symlink_metadata().unwrap().ino() == numbers[0];
            let keeps_time = file.metadata().unwrap().created().is_ok();
            eprintln!(
                "by events: {by_events}, the same again: {is_same}, with times: {keeps_time}"
            );
            assert!(mount_watch.happened() || !by_events && !keeps_time, "by events: {by_events}");
        }
    }

    /// Waits until new files get another time than this one has.
    fn wait_for_another_time(file: &Path) {
        let time = |path: &Path| path.metadata().unwrap().created().ok();
        let before = time(file);
        let later = file.with_file_name("later");
        while before.is_some() && {
            let _ = std::fs::remove_file(&later);
            std::fs::write(&later, "").unwrap();
            time(&later) == before
        } {}
    }
}
