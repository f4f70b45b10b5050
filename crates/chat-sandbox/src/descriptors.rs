//! Marks inherited files to be closed in commands, since a desktop or a terminal may have left them
//! open.

use std::sync::Once;

/// Marks all open files but the three streams to be closed in what is started from now on. Does so
/// once: what this program opens itself is marked from the beginning, but for what is meant to be
/// inherited.
pub(crate) fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(mark_all);
}

#[expect(unsafe_code, reason = "no safe call marks a file that nobody here owns")]
fn mark_all() {
    // SAFETY: it changes one flag of open files, which is heard at `exec` alone, and touches no
    // memory. Kernels before 5.11 do not know it and change nothing.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
}
