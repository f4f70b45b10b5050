//! What the tools of one session remember from one call to the next.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;

/// What the tools of one session remember: a value for each type. It lives as long as the session
/// is in use; what a value began (a command in the background) ends when it is dropped.
#[derive(Default)]
pub struct Memory {
    values: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
    stopped: Mutex<CancellationToken>,
    busy: Arc<AtomicUsize>,
}

impl Memory {
    /// The value of a type, made where there is none.
    pub fn get<T: Default + Send + Sync + 'static>(&self) -> Arc<T> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let value = values.entry(TypeId::of::<T>()).or_insert_with(|| Arc::new(T::default()));
        // The key is the type: it cannot be another.
        Arc::clone(value).downcast().unwrap_or_default()
    }

    /// Keeps the session in use while the guard lives.
    pub fn keep(&self) -> Busy {
        self.busy.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(&self.busy))
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
pub struct Busy(Arc<AtomicUsize>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
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
