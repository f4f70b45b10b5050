//! Watches the files of an open project: the tree, and its changes.
//!
//! One thread walks, then waits. Folders are watched one by one, as many as the system's bounds surely allow: those
//! that are shown, those of open files, and those that changed last. The others are asked for their time, in
//! rounds; where all are watched nobody is woken. Of a folder that is only asked it is known what comes and goes, and
//! not what is written into a file, unless that file is open.

mod dirty;
mod plan;
mod round;
mod worker;

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use chat_permission::path::Project;

pub use worker::MAX_CHANGES;
use worker::{Message, Worker};

use crate::tree::{Folder, State, Tree};

/// Messages that wait for the thread; where there are more, all is looked at again.
const QUEUE: usize = 16_384;

/// What became of the files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The tree is another, as a whole. The first two of these say that the project's own folder is listed, and
    /// that all is.
    Rescanned,
    /// These changed, came or went, by their paths from the project on; the tree knows it already. A folder stands
    /// for all that is in it.
    Changed {
        /// In order, each once, [`MAX_CHANGES`] at most.
        paths: Vec<PathBuf>,
    },
    /// Git's state may be another.
    Git,
    /// Something is not as it should be.
    Error(WatchError),
}

/// What can be wrong with the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchError {
    /// The project's folder is gone or cannot be read. The last tree stays, and nothing more is told: it must be
    /// opened again.
    Gone,
    /// Nothing can be watched: changes are noticed by asking alone, which costs more.
    Unwatched,
}

/// The files of a project. Dropping it ends all that it does; an event that is under way may still come.
#[derive(Debug)]
pub struct Files {
    shared: Arc<Shared>,
    wake: SyncSender<Message>,
}

/// What the thread and its owner both see.
#[derive(Debug)]
struct Shared {
    tree: Mutex<Arc<Tree>>,
    wanted: Mutex<WatchRequest>,
    given_up: AtomicBool,
    /// Whether there were more messages than could wait.
    overflow: AtomicBool,
}

/// What is to be watched before all else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct WatchRequest {
    shown: Vec<PathBuf>,
    open: Vec<PathBuf>,
    rescans: u64,
}

impl Files {
    /// Begins to list the files of a project and to watch them. `tell` is called from a thread of its own and must
    /// not block.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn open(project: Project, tell: impl Fn(Event) + Send + 'static) -> std::io::Result<Self> {
        Self::with(project, plan::most(), tell)
    }

    /// The same, with so many folders watched at most.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn with(
        project: Project,
        most_watches: usize,
        tell: impl Fn(Event) + Send + 'static,
    ) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            tree: Mutex::new(Arc::new(Tree::new(Folder::unknown(State::Ahead)))),
            wanted: Mutex::default(),
            given_up: AtomicBool::new(false),
            overflow: AtomicBool::new(false),
        });
        let (wake, messages) = sync_channel(QUEUE);
        let worker = Worker::new(
            project,
            Arc::clone(&shared),
            wake.clone(),
            messages,
            most_watches,
            Box::new(tell),
        );
        std::thread::Builder::new().name("project files".to_owned()).spawn(|| worker.run())?;
        Ok(Self { shared, wake })
    }

    /// The files as they are now.
    pub fn tree(&self) -> Arc<Tree> {
        Arc::clone(&lock(&self.shared.tree))
    }

    /// Says which folders are shown, by their paths from the project on: they are watched.
    pub fn show(&self, folders: Vec<PathBuf>) {
        lock(&self.shared.wanted).shown = folders;
        self.wake();
    }

    /// Says which files are open, by their paths from the project on: they are watched before all else.
    pub fn opened(&self, files: Vec<PathBuf>) {
        lock(&self.shared.wanted).open = files;
        self.wake();
    }

    /// Looks at everything again.
    pub fn rescan(&self) {
        lock(&self.shared.wanted).rescans += 1;
        self.wake();
    }

    fn wake(&self) {
        // Where the queue is full the thread looks anyway.
        let _ = self.wake.try_send(Message::Wake);
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        self.shared.given_up.store(true, Ordering::Relaxed);
        self.wake();
    }
}

/// What a thread that panicked left is whole: it is replaced, never changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
