//! Keeps what the tools of one session remember from one call to the next.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

use crate::message::BackgroundCommand;

/// What the tools of one session remember: a value for each type. It lives as long as the session
/// is in use; what a value began (a command in the background) ends when it is dropped.
#[derive(Default)]
pub struct Memory {
    values: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    stopped: Mutex<CancellationToken>,
    busy: Arc<AtomicUsize>,
    /// What the program waits for before it ends.
    tasks: TaskTracker,
    background: Mutex<Vec<Arc<dyn Background>>>,
    /// Called when a command in the background began, wrote or ended.
    heard: OnceLock<Box<dyn Fn() + Send + Sync>>,
}

/// A command in the background, as its session sees it.
#[async_trait]
pub trait Background: Send + Sync {
    /// What it is, and how far it came; none once it has ended.
    fn running(&self) -> Option<BackgroundCommand>;

    /// Ends it with all of its processes, and waits until they are gone.
    async fn end(&self);
}

impl Memory {
    /// Of a session in a program that waits for these before it ends.
    pub(crate) fn within(tasks: TaskTracker) -> Self {
        Self { tasks, ..Self::default() }
    }

    /// The value of a type, made where there is none.
    pub fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let value = values.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // The key is the type: it cannot be another.
        Arc::clone(value).downcast().unwrap_or_default()
    }

    /// Keeps the session in use while the guard lives. The program does not end before that, unless
    /// it takes too long.
    pub fn keep(&self) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        Busy { count: Arc::clone(&self.busy), _task: self.tasks.token() }
    }

    /// Fires when the person next stops the session: what goes on in the background ends then.
    pub fn stopped(&self) -> CancellationToken {
        self.stopped.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The person stops the session.
    pub(crate) fn stop(&self) {
        let mut stopped = self.stopped.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *stopped).cancel();
    }

    /// A command continues in the background. It reports through [`changed`](Self::changed).
    pub fn add_background(&self, command: Arc<dyn Background>) {
        self.background().push(command);
        self.changed();
    }

    /// A command in the background wrote or ended. Not to be called oftener than eyes follow.
    pub fn changed(&self) {
        self.background().retain(|command| command.running().is_some());
        if let Some(heard) = self.heard.get() {
            heard();
        }
    }

    /// Has this called from now on when the commands in the background change.
    pub(crate) fn on_change(&self, heard: impl Fn() + Send + Sync + 'static) {
        // There is one session for it, which says so once.
        let _ = self.heard.set(Box::new(heard));
    }

    /// The commands that run in the background, the oldest first.
    pub(crate) fn commands(&self) -> Vec<BackgroundCommand> {
        self.background().iter().filter_map(|command| command.running()).collect()
    }

    /// Ends a command in the background. Says whether it still ran.
    pub(crate) async fn end(&self, id: &str) -> bool {
        let is_it = |command: &&Arc<dyn Background>| {
            command.running().is_some_and(|running| running.id == id)
        };
        let Some(command) = self.background().iter().find(is_it).cloned() else { return false };
        command.end().await;
        true
    }

    fn background(&self) -> MutexGuard<'_, Vec<Arc<dyn Background>>> {
        self.background.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether something goes on that must not be dropped.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed) > 0
    }
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Memory").field("busy", &self.is_busy()).finish_non_exhaustive()
    }
}

/// Something goes on as long as this lives.
#[derive(Debug)]
pub struct Busy {
    count: Arc<AtomicUsize>,
    _task: TaskTrackerToken,
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.count.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_one_value_for_all() {
        let memory = Memory::default();
        *memory.get::<Mutex<u32>>().lock().unwrap() = 5;
        memory.get::<Mutex<String>>().lock().unwrap().push('a');
        assert_eq!(*memory.get::<Mutex<u32>>().lock().unwrap(), 5);
        assert_eq!(*memory.get::<Mutex<String>>().lock().unwrap(), "a");
    }

    #[test]
    fn a_stop_is_one_of_what_goes_on_and_not_of_what_comes() {
        let memory = Memory::default();
        let before = memory.stopped();
        memory.stop();
        assert!(before.is_cancelled() && !memory.stopped().is_cancelled());
    }

    #[test]
    fn it_is_busy_while_somebody_keeps_it() {
        let memory = Memory::default();
        let (one, two) = (memory.keep(), memory.keep());
        drop(one);
        assert!(memory.is_busy());
        drop(two);
        assert!(!memory.is_busy());
    }
}
