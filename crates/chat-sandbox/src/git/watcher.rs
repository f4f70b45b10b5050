//! Watches the git repositories of a project while a command runs there, and checks once more after
//! it has ended.
//!
//! This is our own code because watchers such as `notify` only report that a path has changed, and a
//! command can change it again, or replace a folder by a link, before anybody looks there. This watcher
//! searches the folders themselves, through open folders and without following links, and quarantines
//! what it finds before it moves on.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, Mode, OFlags, fstat, openat, readlinkat, statat};

use super::sanitize::{self, SETTINGS};
use super::walk::{GitEntry, walk};
use super::{Moment, QuarantineReason, QuarantinedFile, changed, id, rebase};
use crate::view::{Protection, View};

/// The delay before the first check, and the minimum time between checks.
const INTERVAL: Duration = Duration::from_secs(1);

/// Checks take at most a fiftieth of the time.
const REST: u32 = 50;

/// The maximum duration of a check. What was not reached is reported.
const LONGEST: Duration = Duration::from_secs(5);

/// How much coarser the clock of file times is.
const COARSE: Duration = Duration::from_millis(20);

/// Searches a project for git repositories.
#[derive(Debug)]
pub(crate) struct GitWatcher {
    area: Arc<Area>,
    looking: Option<JoinHandle<WatchReport>>,
    next: Instant,
    found: Vec<QuarantinedFile>,
}

/// What a search through the project found.
#[derive(Debug, Default)]
pub(crate) struct WatchReport {
    pub(crate) quarantined: Vec<QuarantinedFile>,
    /// Whether a part of the project was not reached.
    pub(crate) is_cut: bool,
    took: Duration,
}

/// What to search, and what was known about it before.
#[derive(Debug)]
struct Area {
    roots: Vec<(PathBuf, OwnedFd)>,
    since: Moment,
    /// Repositories that existed before.
    known: Vec<Arc<KnownRepositories>>,
    /// Paths that the command cannot change at all.
    unchangeable: HashSet<PathBuf>,
    /// Paths that it can write to, even if they are below unchangeable ones.
    pinned: Vec<PathBuf>,
    /// The unchangeable paths that contain some of these.
    mixed: Vec<PathBuf>,
    /// Whether the protection no longer works.
    is_exposed: AtomicBool,
}

/// Repositories, by the path of their data.
type KnownRepositories = HashMap<PathBuf, KnownRepository>;

/// The content of a project before any of the commands that run there: what one of them writes must
/// not count as existing before for another one that starts later.
static BEFORE: Mutex<Option<HashMap<PathBuf, Weak<KnownRepositories>>>> = Mutex::new(None);

#[derive(Debug)]
struct KnownRepository {
    id: (u64, u64),
    /// Whether the command cannot change its critical parts.
    is_protected: bool,
    before: sanitize::Before,
}

impl GitWatcher {
    /// Creates a watcher for a command that is about to start.
    pub(crate) fn new(view: &View) -> Self {
        let open = |path: &Path| {
            let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Some((path.to_owned(), rustix::fs::open(path, how, Mode::empty()).ok()?))
        };
        // A program's own folder is no concern of git's.
        let project = view.program.is_none().then_some(&*view.project);
        let shared: Vec<&Path> = project.into_iter().chain(view.writable()).collect();
        let git = view.git.iter().map(PathBuf::as_path);
        let roots: Vec<_> = shared.iter().copied().chain(git).filter_map(open).collect();
        let since = roots.first().and_then(|(_, root)| now(root)).unwrap_or_else(by_the_clock);
        let unchangeable: HashSet<PathBuf> = view
            .protected
            .iter()
            .filter_map(Protection::unchangeable)
            .map(Path::to_owned)
            .collect();
        let pinned: Vec<PathBuf> =
            view.protected.iter().filter_map(Protection::pinned).map(Path::to_owned).collect();
        let is_mixed = |path: &&PathBuf| pinned.iter().any(|pinned| pinned.starts_with(path));
        let area = Area {
            known: shared.iter().map(|folder| known(view, folder)).collect(),
            mixed: unchangeable.iter().filter(is_mixed).cloned().collect(),
            unchangeable,
            pinned,
            roots,
            since,
            is_exposed: AtomicBool::new(false),
        };
        Self {
            area: Arc::new(area),
            looking: None,
            next: Instant::now() + INTERVAL,
            found: Vec::new(),
        }
    }

    /// When the next check is due.
    pub(crate) fn next(&self) -> Instant {
        self.next
    }

    /// Starts a check if it is due, on a separate thread, since a large project takes a while.
    pub(crate) fn scan_if_due(&mut self, now: Instant) {
        if now < self.next {
            return;
        }
        self.next = now + INTERVAL;
        match &self.looking {
            Some(looking) if looking.is_finished() => self.gather(),
            Some(_) => {}
            None => {
                let area = self.area.clone();
                let thread = std::thread::Builder::new().name("sandbox-git".into());
                self.looking = thread.spawn(move || area.scan()).ok();
            }
        }
    }

    /// Checks for the last time, when nothing of the command runs any more.
    pub(crate) fn finish(&mut self) -> WatchReport {
        self.gather();
        let last = self.area.scan();
        let mut quarantined = std::mem::take(&mut self.found);
        quarantined.extend(last.quarantined);
        WatchReport { quarantined, ..last }
    }

    /// From now on, treats nothing as protected.
    pub(crate) fn expose(&self) {
        self.area.is_exposed.store(true, Ordering::Release);
    }

    /// Collects what the last check found.
    fn gather(&mut self) {
        if let Some(Ok(look)) = self.looking.take().map(JoinHandle::join) {
            self.next = Instant::now() + look.took * REST;
            self.found.extend(look.quarantined);
        }
    }
}

impl Area {
    fn scan(&self) -> WatchReport {
        let began = Instant::now();
        let mut report = WatchReport::default();
        let is_exposed = self.is_exposed.load(Ordering::Acquire);
        for (root, folder) in &self.roots {
            let is_closed = |path: &Path| !is_exposed && self.is_closed(&root.join(path));
            let meet =
                |met: GitEntry<'_>| report.quarantined.extend(self.meet(root, &met, is_exposed));
            report.is_cut |= !walk(folder, self.since, began + LONGEST, is_closed, meet);
        }
        report.took = began.elapsed();
        report
    }

    /// The repository with this data that existed before.
    fn known(&self, path: &Path) -> Option<&KnownRepository> {
        self.known.iter().find_map(|known| known.get(path))
    }

    /// Whether the command can change nothing below a folder.
    fn is_closed(&self, folder: &Path) -> bool {
        let is_open =
            || self.pinned.iter().any(|open| open.starts_with(folder) || folder.starts_with(open));
        self.unchangeable.contains(folder) && !self.pinned.iter().any(|it| it.starts_with(folder))
            || self.mixed.iter().any(|mixed| folder != mixed && folder.starts_with(mixed))
                && !is_open()
    }

    fn meet(&self, root: &Path, met: &GitEntry<'_>, is_exposed: bool) -> Vec<QuarantinedFile> {
        match met {
            GitEntry::Data { folder, path } => {
                let path = root.join(path);
                if !is_exposed && self.unchangeable.contains(&path) {
                    // What changes right in it is the user's doing.
                    return Vec::new();
                }
                let there = fstat(folder).map(|stat| id(&stat));
                let known = self.known(&path).filter(|known| there == Ok(known.id));
                let before = known.map(|known| &known.before);
                let mut put = rebase::sanitize(folder, &path, self.since, before);
                if !known.is_some_and(|known| known.is_protected && !is_exposed) {
                    put.extend(sanitize::data(folder, &path, self.since, before));
                }
                put
            }
            GitEntry::Pointer { folder, name, path } => {
                let path = root.join(path);
                let stat = statat(folder, *name, AtFlags::SYMLINK_NOFOLLOW);
                let is_new = stat.is_ok_and(|stat| changed(&stat) >= self.since);
                if !is_new || !is_exposed && self.unchangeable.contains(&path) {
                    return Vec::new();
                }
                quarantine(folder, name, path)
            }
            GitEntry::Link { folder, name, path, within } => {
                let Ok(stat) = statat(folder, *name, AtFlags::SYMLINK_NOFOLLOW) else {
                    return Vec::new();
                };
                let was_there = self.known(&root.join(&within.data)).is_some();
                // Folders that git writes to by name; in other folders the user may have links of
                // their own.
                let is_written = ["logs", "refs"]
                    .iter()
                    .any(|of| path.strip_prefix(&within.data).is_ok_and(|it| it.starts_with(of)));
                let came = within.came && (is_written || !was_there);
                let is_new = changed(&stat) >= self.since || came || within.is_new && !was_there;
                let path = root.join(path);
                if !is_new
                    || !leads_away(folder, name)
                    || !is_exposed && self.unchangeable.contains(&path)
                {
                    return Vec::new();
                }
                let put = quarantine(folder, name, path);
                for put in &put {
                    sanitize::say_where_it_led(folder, &put.moved_to);
                }
                put
            }
        }
    }
}

/// Whether a link leads out of its folder: old versions of git created links that do not.
fn leads_away(folder: &OwnedFd, name: &OsStr) -> bool {
    let Ok(target) = readlinkat(folder, name, Vec::new()) else { return true };
    let mut steps = Path::new(OsStr::from_bytes(target.as_bytes())).components();
    steps.any(|step| !matches!(step, Component::Normal(_) | Component::CurDir))
}

/// The known repositories of a project where a command starts, or of another folder.
fn known(view: &View, project: &Path) -> Arc<KnownRepositories> {
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = before.get_or_insert_default();
    if let Some(known) = before.get(project).and_then(Weak::upgrade) {
        return known;
    }
    let known = Arc::new(known_repositories(view, project));
    before.retain(|_, known| known.strong_count() > 0);
    before.insert(project.to_owned(), Arc::downgrade(&known));
    known
}

/// What of it is in another folder is known with that one.
fn known_repositories(view: &View, project: &Path) -> KnownRepositories {
    let is_elsewhere = |path: &Path| {
        !path.starts_with(project) && view.folders().any(|folder| path.starts_with(folder))
    };
    // A linked work tree's own part has no other settings.
    let settings =
        |it: &Protection| ["config", "gitdir"].iter().any(|name| it.path().ends_with(name));
    let protected = view.protected.iter().filter(|it| settings(it));
    let protected = protected.filter_map(|it| it.path().parent()).map(|path| (path, true));
    let seen = view.unprotected.iter().map(|path| (path.as_path(), false));
    let known = protected.chain(seen).filter(|(path, _)| !is_elsewhere(path));
    let known = known.filter_map(|(path, is_protected)| {
        Some((path.to_owned(), KnownRepository::of(path, is_protected)?))
    });
    known.collect()
}

/// Quarantines something that leads git elsewhere.
fn quarantine(folder: &OwnedFd, name: &OsStr, path: PathBuf) -> Vec<QuarantinedFile> {
    let kept = sanitize::quarantine(folder, name);
    let aside = kept.map(|kept| QuarantinedFile {
        moved_to: path.with_file_name(kept),
        path,
        why: QuarantineReason::RunsPrograms,
    });
    aside.into_iter().collect()
}

impl KnownRepository {
    /// The repository with this data, if it is complete already. One that the command completes is
    /// not known.
    fn of(path: &Path, is_protected: bool) -> Option<Self> {
        let how = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = rustix::fs::open(path, how, Mode::empty()).ok()?;
        let has = |name| statat(&folder, name, AtFlags::empty()).is_ok();
        if !has("objects") && !has("commondir") {
            return None;
        }
        let id = id(&fstat(&folder).ok()?);
        let settings = SETTINGS.map(|name| sanitize::read(&folder, name).unwrap_or_default());
        let before = sanitize::Before { settings, rebase: rebase::todo(&folder) };
        Some(Self { id, is_protected, before })
    }
}

/// The current time of this folder's file system, by an unnamed file.
fn now(folder: &OwnedFd) -> Option<Moment> {
    let how = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = openat(folder, ".", how, Mode::RUSR).ok()?;
    Some(changed(&fstat(&file).ok()?))
}

fn by_the_clock() -> Moment {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let since = since.saturating_sub(COARSE);
    (since.as_secs().cast_signed(), since.subsec_nanos().into())
}
