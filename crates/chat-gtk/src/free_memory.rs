//! Gives freed memory back to the system, and keeps it in few heaps.
//!
//! What a long chat took is freed in pieces all over the heap, and the allocator of glibc keeps such
//! memory until it is told not to: a window that had shown 80 long replies kept 12 MB of it. It also
//! gives most threads a heap of their own, whose free memory no other thread uses.
#![allow(unsafe_code, reason = "glibc's functions have no safe binding")]

use std::cell::Cell;
use std::time::Duration;

use gtk::glib;

/// How long to wait. What else happens meanwhile is covered by the same call.
const DELAY: Duration = Duration::from_secs(2);

/// How many heaps there are: one for the main thread, and one for all others.
#[cfg(target_env = "gnu")]
const HEAPS: std::ffi::c_int = 2;

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

/// Has all threads but the main one share a heap. Call it before there are other threads.
#[cfg(target_env = "gnu")]
pub fn share_heaps() {
    /// The number of this parameter in `malloc.h`.
    const M_ARENA_MAX: std::ffi::c_int = -8;
    unsafe extern "C" {
        fn mallopt(parameter: std::ffi::c_int, value: std::ffi::c_int) -> std::ffi::c_int;
    }
    // SAFETY: `mallopt` of glibc takes any two numbers; see mallopt(3).
    unsafe { mallopt(M_ARENA_MAX, HEAPS) };
}

/// Other allocators have no such heaps.
#[cfg(not(target_env = "gnu"))]
pub fn share_heaps() {}

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use std::ffi::{CString, c_char, c_int, c_void};
    use std::sync::Barrier;

    use super::*;

    unsafe extern "C" {
        fn fopen(path: *const c_char, mode: *const c_char) -> *mut c_void;
        fn fclose(file: *mut c_void) -> c_int;
        fn malloc_info(options: c_int, file: *mut c_void) -> c_int;
    }

    /// How many heaps there are.
    fn heaps() -> usize {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("heaps.xml");
        let path = CString::new(file.to_str().unwrap()).unwrap();
        // SAFETY: both strings end with a null byte, and the file is open until it is closed here.
        unsafe {
            let stream = fopen(path.as_ptr(), c"w".as_ptr());
            assert!(!stream.is_null());
            assert_eq!(malloc_info(0, stream), 0);
            fclose(stream);
        }
        std::fs::read_to_string(file).unwrap().matches("<heap nr=").count()
    }

    #[test]
    fn many_threads_share_two_heaps() {
        let before = heaps();
        share_heaps();
        let together = Barrier::new(8);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let block = vec![1_u8; 10_000];
                    together.wait();
                    assert_eq!(block.len(), 10_000);
                });
            }
        });
        assert!(heaps() <= before.max(2), "{} heaps", heaps());
    }
}
