//! Runs the main loop in tests.

use std::time::{Duration, Instant};

use gtk::glib;

/// The timeout: far more than anything needs on a busy machine.
const PATIENCE: Duration = Duration::from_secs(20);

/// Runs the main loop until this is true.
pub(crate) fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    // Wakes the loop so that the deadline is checked even without events.
    let bell = glib::timeout_add_local(Duration::from_millis(20), || glib::ControlFlow::Continue);
    while !holds() {
        assert!(Instant::now() < deadline, "waited in vain for {what}");
        glib::MainContext::default().iteration(true);
    }
    bell.remove();
}
