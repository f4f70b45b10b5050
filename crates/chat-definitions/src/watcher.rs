//! Keeps a snapshot of all definitions up to date.

mod worker;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::merge::Loader;
use crate::{Definitions, ProjectDefinitions, Sources, TrustStore};
use worker::Worker;

/// All definitions, as they are on disk. One thread waits for changes; while there are none, nothing wakes up.
/// Dropping it ends the watching; a call that has begun may still come.
#[derive(Debug)]
pub struct DefinitionWatcher {
    shared: Arc<Shared>,
    wake: SyncSender<()>,
    trust: Option<TrustStore>,
}

/// What the thread and its owner both see.
#[derive(Debug)]
struct Shared {
    snapshot: Mutex<Arc<Definitions>>,
    given_up: AtomicBool,
    /// Whether someone waits, so that nothing is awaited before reading.
    is_urgent: AtomicBool,
}

impl DefinitionWatcher {
    /// Reads everything, which blocks, and begins to watch it. Whenever something is different, `changed` is called
    /// on a thread of its own, which it must not block.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn open(
        sources: Sources,
        changed: impl Fn(Arc<Definitions>) + Send + 'static,
    ) -> io::Result<Self> {
        let trust = sources.trust.clone();
        let mut loader = Loader::new(sources);
        let (snapshot, _) = loader.scan();
        let shared = Arc::new(Shared {
            snapshot: Mutex::new(Arc::new(snapshot)),
            given_up: AtomicBool::new(false),
            is_urgent: AtomicBool::new(false),
        });
        // One message that waits says as much as many.
        let (wake, messages) = sync_channel(1);
        let worker =
            Worker::new(loader, Arc::clone(&shared), wake.clone(), messages, Box::new(changed));
        std::thread::Builder::new().name("definitions".to_owned()).spawn(|| worker.run())?;
        Ok(Self { shared, wake, trust })
    }

    /// The definitions as they were read last.
    pub fn snapshot(&self) -> Arc<Definitions> {
        Arc::clone(&lock(&self.shared.snapshot))
    }

    /// Reads everything again soon, for folders whose changes are not noticed.
    pub fn reload(&self) {
        self.shared.is_urgent.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Trusts a project's definitions exactly as they are here, which is as the user saw them. They are in the next
    /// snapshot, unless they have changed. Blocks.
    ///
    /// # Errors
    /// The store cannot be written, or there is none.
    pub fn trust(&self, definitions: &ProjectDefinitions) -> io::Result<()> {
        let store = self.trust.as_ref().ok_or(io::ErrorKind::Unsupported)?;
        store.trust(definitions)?;
        self.reload();
        Ok(())
    }

    fn wake(&self) {
        // If a message waits already, the thread looks anyway.
        let _ = self.wake.try_send(());
    }
}

impl Drop for DefinitionWatcher {
    fn drop(&mut self) {
        self.shared.given_up.store(true, Ordering::Relaxed);
        self.wake();
    }
}

/// What a thread that panicked left is whole: it is replaced, never changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
