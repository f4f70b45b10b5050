//! Keeps a copy of `/etc` for commands up to date. The copy needs a single mount, where the parts
//! of `/etc` would need one each, and bubblewrap reads all mounts for each one that it adds.
//!
//! The copy is made in the background after some commands have started; these see the parts
//! themselves. It is in Natter's own folder, which no command can see or write to. Each start
//! checks whether it still matches `/etc`.

mod copy;

use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::process::geteuid;
use tempfile::TempDir;

use self::copy::{Copy, Mark};
use super::{View, own};

/// How many commands are started before a copy is made: a program that starts no more than this,
/// including the probe, would not have it in time.
const BEFORE: u32 = 2;

/// The minimum age of a change.
const SETTLED: Duration = Duration::from_secs(2);

/// The prefix of the copies' folders, and the name of the copy inside.
const PREFIX: &str = "etc-";
const TOP: &str = "etc";

/// A copy, removed when its last holder drops it; each command that uses it holds it.
#[derive(Debug)]
pub(crate) struct Etc {
    folder: TempDir,
    parts: Parts,
    /// The state of the parts' files and folders before they were copied, and of the copy's
    /// folders. A changed link or name shows in its folder.
    marks: Vec<(PathBuf, Mark)>,
    /// Shows other programs that the copy is in use.
    _lock: File,
}

/// The parts of a view that are in `/etc`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Parts {
    /// Readable files and folders, and where they are shown.
    readable: Vec<(PathBuf, PathBuf)>,
    /// The targets of links, and their paths.
    links: Vec<(PathBuf, PathBuf)>,
}

#[derive(Debug)]
enum CacheState {
    /// None yet, after this many commands.
    Nothing(u32),
    Making,
    Here(Arc<Etc>),
    /// There is too much for a copy, or the program is ending.
    Never,
}

/// Without the network and with it.
static CACHE: [Mutex<CacheState>; 2] = [const { Mutex::new(CacheState::Nothing(0)) }; 2];

impl Etc {
    /// Where it is visible.
    pub(crate) const MOUNT_POINT: &str = "/etc";

    /// The stored copy, which may be out of date.
    pub(crate) fn cached(network: bool) -> Option<Arc<Self>> {
        match &*lock(network) {
            CacheState::Here(etc) => Some(etc.clone()),
            CacheState::Nothing(_) | CacheState::Making | CacheState::Never => None,
        }
    }

    /// The same, if it is up to date and fits this view. The view must be complete.
    pub(crate) fn current(self: Arc<Self>, view: &View, network: bool) -> Option<Arc<Self>> {
        let parts = Parts::of(view)?;
        if self.is_current(&parts) {
            return Some(self);
        }
        let mut kept = lock(network);
        if matches!(&*kept, CacheState::Here(etc) if Arc::ptr_eq(etc, &self)) {
            *kept = CacheState::Nothing(BEFORE);
        }
        None
    }

    /// Starts to make a copy for later commands, if there is none. Called for each started command.
    pub(crate) fn prepare(view: &View, network: bool) {
        let mut kept = lock(network);
        match &mut *kept {
            CacheState::Nothing(started) if *started < BEFORE => {
                *started += 1;
                return;
            }
            CacheState::Nothing(_) => {}
            CacheState::Making | CacheState::Here(_) | CacheState::Never => return,
        }
        let (Some(parts), Some(folder)) = (Parts::of(view), own::passing(&view.home)) else {
            return;
        };
        let make = move || {
            let made = Self::make(parts, &folder, SETTLED);
            let mut kept = lock(network);
            if matches!(*kept, CacheState::Making) {
                *kept = match made {
                    Ok(etc) => CacheState::Here(Arc::new(etc)),
                    Err(error) if error.kind() == io::ErrorKind::FileTooLarge => CacheState::Never,
                    // For example, something was changed meanwhile.
                    Err(_) => CacheState::Nothing(0),
                };
            }
        };
        let thread = std::thread::Builder::new().name("sandbox-etc".into());
        *kept =
            if thread.spawn(make).is_ok() { CacheState::Making } else { CacheState::Nothing(0) };
    }

    /// Removes the copies at the program's end.
    pub(crate) fn take_away() {
        for network in [false, true] {
            *lock(network) = CacheState::Never;
        }
    }

    /// The folder that is shown there.
    pub(crate) fn folder(&self) -> PathBuf {
        self.folder.path().join(TOP)
    }

    /// Makes a copy in the folder `within`, unless something was changed within the time `settled`:
    /// a disk's clock is coarse, and a second change at the same time would not be noticed.
    fn make(parts: Parts, within: &Path, settled: Duration) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(within)?;
        if !is_own(&within.symlink_metadata()?) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let (folder, lock) = begin(within)?;
        let top = folder.path().join(TOP);
        std::fs::create_dir(&top)?;
        // Like a system folder. Nobody else can reach it.
        std::fs::set_permissions(&top, Permissions::from_mode(0o755))?;
        let mut marks = Vec::new();
        for (from, _) in &parts.readable {
            copy::collect_marks(from, &mut marks)?;
        }
        if !marks.iter().all(|(_, mark)| copy::is_older(mark, settled)) {
            return Err(io::ErrorKind::ResourceBusy.into());
        }
        let mut copy = Copy::new(&top);
        for (from, place) in &parts.readable {
            copy.add(from, inside(place)?)?;
        }
        for (target, place) in &parts.links {
            copy.link(target, inside(place)?)?;
        }
        marks.extend(copy.folders()?);
        Ok(Self { folder, parts, marks, _lock: lock })
    }

    fn is_current(&self, parts: &Parts) -> bool {
        let is_the_same = |(path, mark): &(PathBuf, Mark)| {
            path.symlink_metadata().is_ok_and(|found| copy::mark(&found) == *mark)
        };
        self.parts == *parts && self.marks.iter().all(is_the_same)
    }
}

impl Parts {
    /// None if something is shown in `/etc` that cannot be part of a copy, or is all of it.
    fn of(view: &View) -> Option<Self> {
        let inside = |places: &[(PathBuf, PathBuf)]| {
            let places = places.iter().filter(|(_, place)| place.starts_with(Etc::MOUNT_POINT));
            places.cloned().collect::<Vec<_>>()
        };
        let whole = std::iter::once(&view.home).chain(&view.git).chain(&view.hidden);
        let parts = Self { readable: inside(&view.readable), links: inside(&view.links) };
        let is_place = |(_, place): &(PathBuf, PathBuf)| place == Path::new(Etc::MOUNT_POINT);
        let lies_elsewhere = |path: &Path| !path.starts_with(Etc::MOUNT_POINT) && !is_above(path);
        (whole.map(PathBuf::as_path).chain(view.folders()).all(lies_elsewhere)
            && !parts.readable.iter().chain(&parts.links).any(is_place))
        .then_some(parts)
    }
}

fn is_above(path: &Path) -> bool {
    Path::new(Etc::MOUNT_POINT).starts_with(path)
}

fn inside(place: &Path) -> io::Result<&Path> {
    place.strip_prefix(Etc::MOUNT_POINT).map_err(|_| io::ErrorKind::InvalidInput.into())
}

/// Whether a folder belongs to the user, and nobody else can write to it.
fn is_own(found: &Metadata) -> bool {
    found.is_dir() && found.uid() == geteuid().as_raw() && found.mode() & 0o022 == 0
}

/// Creates an empty folder with a lock, and removes those of killed programs.
fn begin(within: &Path) -> io::Result<(TempDir, File)> {
    // Otherwise another program could take the folder for an abandoned one before it has its lock.
    let turn = File::open(within)?;
    flock(&turn, FlockOperation::LockExclusive)?;
    for entry in within.read_dir()? {
        let entry = entry?;
        let is_copy = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_copy
            && entry.file_type()?.is_dir()
            && let Ok(folder) = File::open(entry.path())
            && flock(&folder, FlockOperation::NonBlockingLockExclusive).is_ok()
        {
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
    let mut folder = tempfile::Builder::new();
    let folder = folder.prefix(PREFIX).permissions(Permissions::from_mode(0o700));
    let folder = folder.tempdir_in(within)?;
    let lock = File::open(folder.path())?;
    flock(&lock, FlockOperation::NonBlockingLockShared)?;
    Ok((folder, lock))
}

fn lock(network: bool) -> MutexGuard<'static, CacheState> {
    CACHE[usize::from(network)].lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder with parts, and one for copies.
    fn scene() -> (TempDir, Parts, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(at("certs/deep")).unwrap();
        std::fs::write(at("certs/deep/one"), "certificate").unwrap();
        symlink("deep/one", at("certs/hash.0")).unwrap();
        std::fs::write(at("hosts"), "127.0.0.1 localhost").unwrap();
        std::fs::set_permissions(at("hosts"), Permissions::from_mode(0o700)).unwrap();
        let place = |name: &str| Path::new(Etc::MOUNT_POINT).join(name);
        let parts = Parts {
            readable: vec![(at("certs"), place("ssl/certs")), (at("hosts"), place("hosts"))],
            links: vec![("/usr/share/zoneinfo/UTC".into(), place("localtime"))],
        };
        let copies = at("copies");
        (folder, parts, copies)
    }

    fn make(parts: Parts, copies: &Path) -> Etc {
        Etc::make(parts, copies, Duration::ZERO).unwrap()
    }

    #[test]
    fn a_copy_holds_what_the_parts_hold_and_goes_with_its_last_holder() {
        let (_folder, parts, copies) = scene();
        let etc = make(parts.clone(), &copies);
        let at = |name: &str| etc.folder().join(name);
        assert_eq!(std::fs::read_to_string(at("ssl/certs/hash.0")).unwrap(), "certificate");
        assert_eq!(at("ssl/certs/hash.0").read_link().unwrap(), Path::new("deep/one"));
        assert_eq!(at("localtime").read_link().unwrap(), Path::new("/usr/share/zoneinfo/UTC"));
        let mode = |name: &str| at(name).metadata().unwrap().permissions().mode() & 0o7777;
        assert_eq!([mode("hosts"), mode("ssl/certs/deep/one"), mode("")], [0o555, 0o444, 0o755]);
        let written = |path: &Path| path.metadata().unwrap().modified().unwrap();
        assert_eq!(written(&at("hosts")), written(&parts.readable[1].0));
        assert!(etc.is_current(&parts));
        drop(etc);
        assert_eq!(copies.read_dir().unwrap().count(), 0);
    }

    #[test]
    fn each_change_is_noticed() {
        type Change = fn(&Path, &Etc);
        let changes: [Change; 7] = [
            |at, _| std::fs::write(at.join("certs/deep/one"), "certificatE").unwrap(),
            |at, _| std::fs::write(at.join("certs/deep/two"), "").unwrap(),
            |at, _| {
                std::fs::remove_file(at.join("certs/hash.0")).unwrap();
                symlink("deep/two", at.join("certs/hash.0")).unwrap();
            },
            |at, _| std::fs::remove_file(at.join("hosts")).unwrap(),
            |at, _| {
                std::fs::set_permissions(at.join("hosts"), Permissions::from_mode(0o600)).unwrap();
            },
            |_, etc| std::fs::remove_file(etc.folder().join("ssl/certs/deep/one")).unwrap(),
            |_, etc| std::fs::remove_dir_all(etc.folder()).unwrap(),
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let (folder, parts, copies) = scene();
            let etc = make(parts.clone(), &copies);
            // Waits until the disk's clock has moved on: otherwise nothing would seem changed.
            let clock = folder.path().join("clock");
            let moment = || {
                std::fs::write(&clock, "").unwrap();
                copy::mark(&clock.metadata().unwrap())
            };
            let began = moment();
            while moment() == began {}
            assert!(etc.is_current(&parts), "{number}");
            change(folder.path(), &etc);
            assert!(!etc.is_current(&parts), "{number}");
        }
        let (_folder, mut parts, copies) = scene();
        let etc = make(parts.clone(), &copies);
        parts.links.clear();
        assert!(!etc.is_current(&parts));
    }

    #[test]
    fn what_a_killed_program_left_behind_goes_and_what_another_uses_stays() {
        let (_folder, parts, copies) = scene();
        let used = make(parts.clone(), &copies);
        let abandoned = copies.join("etc-abandoned/deep");
        std::fs::create_dir_all(&abandoned).unwrap();
        let other = copies.join("other");
        std::fs::create_dir(&other).unwrap();
        let _also = make(parts, &copies);
        assert!(used.folder().is_dir() && other.is_dir() && !abandoned.exists());
    }

    #[test]
    fn much_is_not_copied() {
        let (folder, parts, copies) = scene();
        let large = File::create(folder.path().join("certs/large")).unwrap();
        large.set_len(16 << 20).unwrap();
        let error = Etc::make(parts, &copies, Duration::ZERO).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert_eq!(copies.read_dir().unwrap().count(), 0);
    }

    #[test]
    fn what_was_changed_just_now_is_not_copied_nor_anything_to_where_others_can_write() {
        let (_folder, parts, copies) = scene();
        let failed = |settled| Etc::make(parts.clone(), &copies, settled).unwrap_err().kind();
        assert_eq!(failed(Duration::from_hours(1)), io::ErrorKind::ResourceBusy);
        assert_eq!(copies.read_dir().unwrap().count(), 0);
        std::fs::set_permissions(&copies, Permissions::from_mode(0o770)).unwrap();
        assert_eq!(failed(Duration::ZERO), io::ErrorKind::PermissionDenied);
    }

    #[test]
    fn a_copy_is_shown_only_where_nothing_else_lies_in_its_place() {
        let view = || {
            let mut view = View::of(Path::new("/project"), Path::new("/nowhere/home")).unwrap();
            view.readable.push(("/etc/hosts".into(), "/etc/hosts".into()));
            view.readable.push(("/usr".into(), "/usr".into()));
            view.links.push(("usr/bin".into(), "/bin".into()));
            view
        };
        let parts = Parts::of(&view()).unwrap();
        assert_eq!(parts.readable, [("/etc/hosts".into(), "/etc/hosts".into())]);
        assert!(parts.links.is_empty());
        let none = |change: fn(&mut View)| {
            let mut view = view();
            change(&mut view);
            assert_eq!(Parts::of(&view), None);
        };
        none(|view| view.project = "/etc/nixos".into());
        none(|view| view.git.push("/etc/.git".into()));
        none(|view| view.hidden.push("/etc/natter".into()));
        none(|view| view.home = "/".into());
        none(|view| view.readable.push(("/other".into(), "/etc".into())));
    }
}
