//! Runs the main loop in tests.

use std::time::{Duration, Instant};

use gtk::glib;

/// How long anything may take: far more than it needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs the main loop until this holds.
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    // Who waits for an event that does not come looks at the clock all the same.
    let bell = glib::timeout_add_local(Duration::from_millis(20), || glib::ControlFlow::Continue);
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        glib::MainContext::default().iteration(true);
    }
    bell.remove();
}
