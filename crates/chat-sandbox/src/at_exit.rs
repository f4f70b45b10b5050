//! Makes the program's exit wait for its commands: for their processes, and for the placeholders in
//! a project while they run. Otherwise a command in the background would leave its placeholders
//! behind, because the end of the program kills the thread that removes them. Files that were kept
//! for later commands are removed too.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use crate::running::Control;
use crate::view::Etc;

/// The longest time that the program's end waits.
const MOST: Duration = Duration::from_secs(3);

static LIVE: Mutex<Vec<Arc<Control>>> = Mutex::new(Vec::new());
static ENDED: Condvar = Condvar::new();

/// Held by a command's thread until it has nothing more to do.
pub(crate) struct Live(Arc<Control>);

impl Live {
    pub(crate) fn new(control: Arc<Control>) -> Self {
        static ONCE: Once = Once::new();
        ONCE.call_once(register);
        live().push(control.clone());
        Self(control)
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        live().retain(|control| !Arc::ptr_eq(control, &self.0));
        ENDED.notify_all();
    }
}

fn live() -> MutexGuard<'static, Vec<Arc<Control>>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends all running commands, and waits for them.
extern "C" fn end() {
    let live = live();
    for control in live.iter() {
        control.stop();
    }
    let _ = ENDED.wait_timeout_while(live, MOST, |live| !live.is_empty());
    Etc::take_away();
}

#[expect(unsafe_code, reason = "no safe call has anything done at the program's end")]
fn register() {
    // SAFETY: the function takes no arguments, never unwinds, and uses only statics, which live to
    // the end. If it cannot be registered, what is left behind is removed by the project's next
    // command.
    let _ = unsafe { libc::atexit(end) };
}
