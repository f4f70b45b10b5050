//! Runs the thread that waits for changes and reads.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use notify::{RecommendedWatcher, RecursiveMode, Watcher};

use super::{Shared, lock};
use crate::Definitions;
use crate::merge::Loader;
use crate::watch_list::WatchList;

/// Editors write in several steps: how long it is quiet before anything is read.
const QUIET: Duration = Duration::from_millis(100);
/// And how long that is awaited at most.
const PATIENCE: Duration = Duration::from_secs(1);
/// How often everything is read at once because folders came in between.
const ROUNDS: usize = 4;
/// Folders that are watched: each costs the system about a kilobyte.
const MOST_WATCHES: usize = 1_024;

/// Device and inode: a folder that takes another's name is not watched yet.
type Identity = (u64, u64);

pub(super) struct Worker {
    loader: Loader,
    shared: Arc<Shared>,
    messages: Receiver<()>,
    changed: Box<dyn Fn(Arc<Definitions>) + Send>,
    watcher: Option<RecommendedWatcher>,
    watched: BTreeMap<PathBuf, Identity>,
    /// What counts, for the system's thread: what does not never wakes this one.
    list: Arc<Mutex<WatchList>>,
}

impl Worker {
    pub fn new(
        loader: Loader,
        shared: Arc<Shared>,
        wake: SyncSender<()>,
        messages: Receiver<()>,
        changed: Box<dyn Fn(Arc<Definitions>) + Send>,
    ) -> Self {
        let list = Arc::new(Mutex::new(WatchList::default()));
        let heard = Arc::clone(&list);
        let watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
            let counts = match &event {
                Ok(event) => lock(&heard).concerns(event),
                Err(error) => {
                    tracing::info!(%error, "a watch failed");
                    true
                }
            };
            if counts {
                let _ = wake.try_send(());
            }
        });
        let watcher = watcher.inspect_err(|error| tracing::info!(%error, "nothing is watched"));
        Self {
            loader,
            shared,
            messages,
            changed,
            watcher: watcher.ok(),
            watched: BTreeMap::new(),
            list,
        }
    }

    pub fn run(mut self) {
        // What changed before it was watched was heard by nobody.
        let mut is_settled = self.update();
        loop {
            let message = if is_settled {
                self.messages.recv().map_err(|_| RecvTimeoutError::Disconnected)
            } else {
                self.messages.recv_timeout(QUIET)
            };
            if matches!(message, Err(RecvTimeoutError::Disconnected)) {
                return;
            }
            let first = Instant::now();
            while !self.is_given_up()
                && !self.shared.is_urgent.swap(false, Ordering::Relaxed)
                && first.elapsed() < PATIENCE
                && self.messages.recv_timeout(QUIET).is_ok()
            {}
            if self.is_given_up() {
                return;
            }
            is_settled = self.update();
        }
    }

    fn is_given_up(&self) -> bool {
        self.shared.given_up.load(Ordering::Relaxed)
    }

    /// Reads everything, until all that was read had been watched before, and says what is different. Returns whether
    /// it came to an end.
    fn update(&mut self) -> bool {
        let mut latest = None;
        let mut is_settled = false;
        for _ in 0..ROUNDS {
            let (mut snapshot, list) = self.loader.scan();
            let folders = list.folders().map(Path::to_owned).collect();
            *lock(&self.list) = list;
            let (is_fresh, unwatched) = self.watch(folders);
            snapshot.problems.extend(unwatched.iter().map(|path| self.loader.unwatched(path)));
            latest = Some(snapshot);
            if !is_fresh {
                is_settled = true;
                break;
            }
        }
        if let Some(snapshot) = latest {
            self.publish(snapshot);
        }
        is_settled
    }

    fn publish(&self, snapshot: Definitions) {
        let snapshot = Arc::new(snapshot);
        {
            let mut known = lock(&self.shared.snapshot);
            if **known == *snapshot {
                return;
            }
            *known = Arc::clone(&snapshot);
        }
        if !self.is_given_up() {
            (self.changed)(snapshot);
        }
    }

    /// Watches exactly these folders. Returns whether one is watched that was not, and those that cannot be.
    fn watch(&mut self, folders: Vec<PathBuf>) -> (bool, Vec<PathBuf>) {
        let Some(watcher) = &mut self.watcher else { return (false, folders) };
        let mut wanted = BTreeMap::new();
        let mut unwatched = Vec::new();
        let mut is_fresh = false;
        for path in folders {
            let Ok(found) = fs::metadata(&path) else {
                // It went meanwhile.
                is_fresh = true;
                continue;
            };
            if wanted.len() < MOST_WATCHES {
                wanted.insert(path, (found.dev(), found.ino()));
            } else {
                unwatched.push(path);
            }
        }
        self.watched.retain(|path, identity| {
            let stays = wanted.get(path) == Some(identity);
            if !stays {
                // It may be gone.
                let _ = watcher.unwatch(path);
            }
            stays
        });
        for (path, identity) in wanted {
            if self.watched.contains_key(&path) {
                continue;
            }
            match watcher.watch(&path, RecursiveMode::NonRecursive) {
                Ok(()) => {
                    self.watched.insert(path, identity);
                    is_fresh = true;
                }
                Err(error) => {
                    tracing::info!(%error, "{} is not watched", path.display());
                    unwatched.push(path);
                }
            }
        }
        (is_fresh, unwatched)
    }
}
