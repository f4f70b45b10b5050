//! Gives freed memory back to the system.
//!
//! What a long chat took is freed in pieces all over the heap, and the allocator of glibc keeps such
//! memory until it is told not to: a window that had shown 80 long replies kept 12 MB of it.
#![allow(unsafe_code, reason = "glibc's function has no safe binding")]

use std::cell::Cell;
use std::time::Duration;

use gtk::glib;

/// How long to wait. What else happens meanwhile is covered by the same call.
const DELAY: Duration = Duration::from_secs(2);

thread_local! {
    static IS_SCHEDULED: Cell<bool> = const { Cell::new(false) };
}

/// Gives back what is free in a moment, when the main loop has nothing else to do. Call it after
/// much was freed.
pub(crate) fn give_back_soon() {
    if IS_SCHEDULED.replace(true) {
        return;
    }
    glib::timeout_add_local_full(DELAY, glib::Priority::LOW, || {
        IS_SCHEDULED.set(false);
        give_back();
        glib::ControlFlow::Break
    });
}

#[cfg(target_env = "gnu")]
fn give_back() {
    unsafe extern "C" {
        fn malloc_trim(pad: usize) -> std::ffi::c_int;
    }
    // SAFETY: `malloc_trim` of glibc can be called at any time from any thread; see malloc_trim(3).
    unsafe { malloc_trim(0) };
}

#[cfg(not(target_env = "gnu"))]
fn give_back() {}
