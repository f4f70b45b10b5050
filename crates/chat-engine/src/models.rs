//! Keeps the loaded models, and unloads them when memory or patience ends.

use std::collections::HashMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use chat_gguf::Header;
use tokio::sync::{Notify, watch};

use crate::failure::Failure;
use crate::inference::{self, Limits, Loading, Order, Progress};
use crate::memory;

/// So often it is looked whether the files of the models are still those that were loaded.
const LOOK: Duration = Duration::from_secs(5);

/// All models of this engine.
#[derive(Debug)]
pub struct Models {
    limits: Limits,
    /// The most bytes that all of them may take; none is what the machine had when none was loaded.
    most: Option<u64>,
    /// What the machine has left now, in bytes.
    free: fn() -> Option<u64>,
    /// What it had left when none was loaded. Weights that are mapped still count as free, and what a
    /// model that is being loaded will take counts so too: only a sum of our own tells.
    had: AtomicU64,
    /// Threads of models that are not here any more and whose memory may not be free yet.
    leaving: Mutex<Vec<Leaving>>,
    /// How long an unused one stays.
    patience: Duration,
    loaded: Mutex<HashMap<PathBuf, Entry>>,
    changed: Notify,
    /// How many were loaded.
    loads: AtomicU64,
}

#[derive(Debug)]
struct Leaving {
    give_up: Arc<AtomicBool>,
    thread: JoinHandle<()>,
}

#[derive(Debug)]
struct Entry {
    /// Which loading of the file it is: one that failed may be tried again while it is still held.
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

impl Entry {
    /// Whether it failed, or its thread has ended for whatever reason: it answers nobody any more.
    fn is_dead(&self) -> bool {
        self.loading.thread.is_finished()
            || matches!(*self.loading.progress.borrow(), Progress::Failed(_))
    }
}

impl Models {
    /// None is loaded yet.
    pub fn new(limits: Limits, most: Option<u64>, patience: Duration) -> Arc<Self> {
        Arc::new(Self {
            limits,
            most,
            free: memory::available,
            had: AtomicU64::new(u64::MAX),
            leaving: Mutex::default(),
            patience,
            loaded: Mutex::default(),
            changed: Notify::new(),
            loads: AtomicU64::new(0),
        })
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
        // One that failed or died is tried again. Of another file under this name nothing is loaded yet;
        // who uses the old one goes on with it.
        if loaded.get(&path).is_some_and(|entry| entry.is_dead() || entry.files != files)
            && let Some(old) = loaded.remove(&path)
        {
            self.let_go(old);
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
        let mut leaving = self.await_leaving();
        loop {
            let alive = loaded.values().filter(|entry| !entry.is_dead());
            let taken: u64 = alive.map(|entry| entry.needs).sum();
            let free = (self.free)().unwrap_or(u64::MAX);
            if taken == 0 && leaving.is_empty() {
                self.had.store(free, Ordering::Relaxed);
            }
            let most = self.most.unwrap_or_else(|| self.had.load(Ordering::Relaxed));
            let available = free.min(most.saturating_sub(taken));
            if more <= available {
                return Ok(());
            }
            let idle = loaded.iter().filter(|(path, entry)| entry.users == 0 && *path != but);
            let oldest = idle.min_by_key(|(_, entry)| entry.used).map(|(path, _)| path.clone());
            match oldest.and_then(|path| loaded.remove(&path)) {
                Some(entry) => {
                    drop(leaving);
                    self.let_go(entry);
                    leaving = self.await_leaving();
                }
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
            loaded.remove(path).into_iter().for_each(|entry| self.let_go(entry));
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
                    loaded.remove(&path).into_iter().for_each(|entry| self.let_go(entry));
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
        for entry in all {
            self.let_go(Entry { users: 0, ..entry });
        }
        drop(self.await_leaving());
    }

    /// Lets a model go. Who uses it goes on with it.
    fn let_go(&self, entry: Entry) {
        let Entry { loading: Loading { progress, give_up, thread }, users, .. } = entry;
        if users == 0 {
            give_up.store(true, Ordering::Relaxed);
            if let Progress::Ready(facts) = &*progress.borrow() {
                // It may wait for orders, and others may hold a way to give them.
                let _ = facts.orders.send(Order::End);
            }
        }
        self.leaving_now().push(Leaving { give_up, thread });
    }

    fn leaving_now(&self) -> MutexGuard<'_, Vec<Leaving>> {
        self.leaving.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the memory of those is free that nobody uses any more. Gives the others.
    fn await_leaving(&self) -> MutexGuard<'_, Vec<Leaving>> {
        let mut leaving = self.leaving_now();
        let over =
            |one: &mut Leaving| one.give_up.load(Ordering::Relaxed) || one.thread.is_finished();
        for Leaving { thread, .. } in leaving.extract_if(.., over) {
            if thread.join().is_err() {
                tracing::error!("a model's thread panicked");
            }
        }
        leaving
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

impl Drop for Use {
    fn drop(&mut self) {
        self.models.release(&self.path, self.number);
    }
}

#[cfg(test)]
mod tests {
    use chat_gguf::write::Writer;

    use super::*;

    const LIMITS: Limits = Limits { threads: 1, slots: 1 };

    /// A model that is being loaded until it is given up, or whose thread has died.
    fn entry(path: &Path, needs: u64, users: usize, lives: bool) -> Entry {
        let (tell, progress) = watch::channel(Progress::Loading(0.5));
        let give_up = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&give_up);
        let thread = std::thread::spawn(move || {
            let _tell = tell;
            while lives && !stopped.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
        });
        while !lives && !thread.is_finished() {
            std::thread::yield_now();
        }
        let loading = Loading { progress, give_up, thread };
        let header = Header::read_model(path).unwrap();
        Entry {
            number: 7,
            loading,
            files: stamps(path),
            header,
            needs,
            users,
            used: Instant::now(),
        }
    }

    fn tiny() -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join("tiny.gguf");
        std::fs::write(&path, Writer::tiny("Tiny", 4096).bytes()).unwrap();
        (folder, path)
    }

    #[tokio::test]
    async fn a_model_whose_thread_died_is_loaded_anew() {
        let (_folder, path) = tiny();
        let models = Models::new(LIMITS, None, Duration::from_mins(1));
        models.lock().insert(path.clone(), entry(&path, u64::MAX, 1, false));
        let used = models.get(&path, 64).await.unwrap();
        assert_ne!(used.number, 7);
        // Who used the dead one leaves the new one alone.
        models.release(&path, 7);
        assert_eq!(models.lock()[&path].users, 1);
    }

    #[test]
    fn what_models_take_counts_though_the_system_calls_it_free() {
        let (_folder, path) = tiny();
        let mut models = Models::new(LIMITS, None, Duration::from_mins(1));
        Arc::get_mut(&mut models).unwrap().free = || Some(1000);
        let room = |loaded: &mut HashMap<PathBuf, Entry>, more: u64| {
            models.make_room(loaded, Path::new("new"), more, more)
        };
        let mut loaded = HashMap::new();
        room(&mut loaded, 600).unwrap();
        loaded.insert(PathBuf::from("one"), entry(&path, 600, 1, true));
        room(&mut loaded, 400).unwrap();
        let refused = room(&mut loaded, 500).unwrap_err();
        assert_eq!(refused, Failure::TooLarge { needed: 500, available: 400 });
        // One that nobody uses makes room, and one that died has taken none.
        loaded.insert(PathBuf::from("two"), entry(&path, 300, 0, true));
        loaded.insert(PathBuf::from("dead"), entry(&path, 300, 1, false));
        room(&mut loaded, 400).unwrap();
        assert!(!loaded.contains_key(Path::new("two")));
        // What is let go is waited for, and as long as somebody uses it nobody says what the machine has.
        models.let_go(loaded.remove(Path::new("one")).unwrap());
        let kept = models.await_leaving().pop().unwrap();
        models.leaving_now().push(kept);
        Arc::get_mut(&mut models).unwrap().free = || Some(300);
        models.make_room(&mut HashMap::new(), Path::new("new"), 300, 300).unwrap();
        assert_eq!(models.had.load(Ordering::Relaxed), 1000);
        let kept = models.leaving_now().pop().unwrap();
        kept.give_up.store(true, Ordering::Relaxed);
        models.leaving_now().push(kept);
        models.make_room(&mut HashMap::new(), Path::new("new"), 300, 300).unwrap();
        assert_eq!(models.had.load(Ordering::Relaxed), 300);
        for (_, entry) in loaded.drain() {
            models.let_go(entry);
        }
        models.close();
    }
}
