//! The loaded models: who uses which, and which goes when memory or patience ends.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use chat_gguf::Header;
use tokio::sync::{Notify, watch};

use crate::failure::Failure;
use crate::inference::{self, Limits, Loading, Progress};
use crate::memory;

/// So often it is looked whether the files of the models are still those that were loaded.
const LOOK: Duration = Duration::from_secs(5);

/// All models of this engine.
#[derive(Debug)]
pub struct Models {
    limits: Limits,
    /// The most bytes that all of them may take; none is what the machine has.
    most: Option<u64>,
    /// How long an unused one stays.
    patience: Duration,
    loaded: Mutex<HashMap<PathBuf, Entry>>,
    changed: Notify,
    /// How many were loaded.
    loads: AtomicU64,
}

#[derive(Debug)]
struct Entry {
    /// Which loading of the file it is: one that failed may be tried anew while it is still held.
    number: u64,
    loading: Loading,
    /// What the files were then.
    files: Vec<Option<Stamp>>,
    header: Header,
    /// The bytes that it needs with the widest window it was asked for.
    needs: u64,
    users: usize,
    used: Instant,
}

/// A model that somebody uses: it stays until this is dropped.
#[derive(Debug)]
pub struct Use {
    models: Arc<Models>,
    path: PathBuf,
    number: u64,
    /// How far it is loaded.
    pub progress: watch::Receiver<Progress>,
    /// The window that was granted, in tokens.
    pub window: u32,
}

impl Models {
    /// None is loaded yet.
    pub fn new(limits: Limits, most: Option<u64>, patience: Duration) -> Arc<Self> {
        let (loaded, changed) = (Mutex::default(), Notify::new());
        Arc::new(Self { limits, most, patience, loaded, changed, loads: AtomicU64::new(0) })
    }

    /// How much each may take.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, Entry>> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Uses a model with a window of so many tokens; loads it where it is not.
    ///
    /// # Errors
    /// `NoModel`, `BadModel`, `TooLarge` with the numbers, `Load`.
    pub async fn get(self: &Arc<Self>, path: &Path, window: u32) -> Result<Use, Failure> {
        let models = Arc::clone(self);
        let path = path.to_owned();
        let got = tokio::task::spawn_blocking(move || models.get_now(&path, window)).await;
        got.unwrap_or(Err(Failure::Gone))
    }

    fn get_now(self: &Arc<Self>, path: &Path, window: u32) -> Result<Use, Failure> {
        let path = path.canonicalize().map_err(|_| Failure::NoModel(path.to_owned()))?;
        let mut loaded = self.lock();
        let files = stamps(&path);
        // One that failed is tried anew. Of another file under this name nothing is loaded yet; who
        // uses the old one goes on with it.
        let failed =
            |entry: &Entry| matches!(*entry.loading.progress.borrow(), Progress::Failed(_));
        if loaded.get(&path).is_some_and(|entry| failed(entry) || entry.files != files)
            && let Some(old) = loaded.remove(&path)
            && old.users == 0
        {
            unload(old);
        }
        let known = loaded.get(&path).map(|entry| entry.header.clone());
        let header = match known {
            Some(header) => header,
            None => {
                Header::read_model(&path).map_err(|error| Failure::BadModel(error.to_string()))?
            }
        };
        let window = window.min(header.context_length().unwrap_or(window)).max(1);
        let needs = header.memory(window);
        let has = loaded.get(&path).map_or(0, |entry| entry.needs);
        if needs > has {
            self.make_room(&mut loaded, &path, needs - has, needs)?;
        }
        if !loaded.contains_key(&path) {
            tracing::info!(path = %path.display(), needs, "loading a model");
            let loading = inference::load(path.clone(), header.clone(), self.limits)?;
            let (number, used) = (self.loads.fetch_add(1, Ordering::Relaxed), Instant::now());
            let entry = Entry { number, loading, files, header, needs, users: 0, used };
            loaded.insert(path.clone(), entry);
        }
        let Some(entry) = loaded.get_mut(&path) else { return Err(Failure::Gone) };
        entry.needs = entry.needs.max(needs);
        entry.users += 1;
        let progress = entry.loading.progress.clone();
        let number = entry.number;
        Ok(Use { models: Arc::clone(self), path, number, progress, window })
    }

    /// Unloads what was not used longest, until there are so many bytes more.
    fn make_room(
        &self,
        loaded: &mut HashMap<PathBuf, Entry>,
        but: &Path,
        more: u64,
        needed: u64,
    ) -> Result<(), Failure> {
        loop {
            let taken: u64 = loaded.values().map(|entry| entry.needs).sum();
            let free = memory::available().unwrap_or(u64::MAX);
            let allowed = self.most.map_or(u64::MAX, |most| most.saturating_sub(taken));
            let available = free.min(allowed);
            if more <= available {
                return Ok(());
            }
            let idle = loaded.iter().filter(|(path, entry)| entry.users == 0 && *path != but);
            let oldest = idle.min_by_key(|(_, entry)| entry.used).map(|(path, _)| path.clone());
            match oldest.and_then(|path| loaded.remove(&path)) {
                Some(entry) => unload(entry),
                None => return Err(Failure::TooLarge { needed, available }),
            }
        }
    }

    fn release(&self, path: &Path, number: u64) {
        let mut loaded = self.lock();
        let entry = loaded.get_mut(path).filter(|entry| entry.number == number);
        let Some(entry) = entry else { return };
        entry.users -= 1;
        entry.used = Instant::now();
        let loading = matches!(*entry.loading.progress.borrow(), Progress::Loading(_));
        if entry.users == 0 && loading {
            // Nobody waits for it any more.
            entry.loading.give_up.store(true, Ordering::Relaxed);
            loaded.remove(path);
        }
        self.changed.notify_one();
    }

    /// Unloads what nobody used for a while, and what was deleted; sleeps in between. Never ends.
    pub async fn forget_idle(&self) {
        loop {
            let next = {
                let mut loaded = self.lock();
                let over: Vec<_> = loaded
                    .iter()
                    .filter(|(path, entry)| {
                        let over = || entry.used.elapsed() >= self.patience;
                        entry.users == 0 && (over() || stamps(path) != entry.files)
                    })
                    .map(|(path, _)| path.clone())
                    .collect();
                for path in over {
                    tracing::info!(path = %path.display(), "nobody uses it: unloaded");
                    loaded.remove(&path);
                }
                let idle = loaded.values().filter(|entry| entry.users == 0);
                // A file that was deleted keeps its room on the disk as long as it is loaded.
                let next = |entry: &Entry| (entry.used + self.patience).min(Instant::now() + LOOK);
                idle.map(next).min()
            };
            match next {
                Some(at) => tokio::select! {
                    () = tokio::time::sleep_until(at.into()) => {}
                    () = self.changed.notified() => {}
                },
                None => self.changed.notified().await,
            }
        }
    }

    /// The files of the loaded models.
    pub fn paths(&self) -> Vec<PathBuf> {
        let mut paths: Vec<_> = self.lock().keys().cloned().collect();
        paths.sort();
        paths
    }

    /// Unloads all, and waits until their threads have ended.
    pub fn close(&self) {
        let all: Vec<_> = self.lock().drain().map(|(_, entry)| entry).collect();
        all.into_iter().for_each(unload);
    }
}

/// By this a file is told from another one under its name: device, inode, size, and when it was
/// changed last, in seconds and nanoseconds.
type Stamp = (u64, u64, u64, i64, i64);

/// All files of a model as they are now. None for one that is gone.
fn stamps(path: &Path) -> Vec<Option<Stamp>> {
    let files = chat_gguf::parts(path).unwrap_or_else(|| vec![path.to_owned()]);
    let stamp = |file: PathBuf| {
        let about = file.metadata().ok()?;
        Some((about.dev(), about.ino(), about.size(), about.mtime(), about.mtime_nsec()))
    };
    files.into_iter().map(stamp).collect()
}

/// Lets a model go, and waits until its memory is free.
fn unload(entry: Entry) {
    let Entry { loading: Loading { progress, give_up, thread }, .. } = entry;
    give_up.store(true, Ordering::Relaxed);
    drop(progress);
    if thread.join().is_err() {
        tracing::error!("a model's thread panicked");
    }
}

impl Drop for Use {
    fn drop(&mut self) {
        self.models.release(&self.path, self.number);
    }
}
