//! Marks inherited files to be closed in commands, since a desktop or a terminal may have left them
//! open.

use std::sync::Once;

/// Marks all open files except the standard streams to be closed in programs that are started from
/// now on. Does so only once: files that this program opens itself are marked from the beginning,
/// unless they are meant to be inherited.
pub(crate) fn keep() {
    static ONCE: Once = Once::new();
    ONCE.call_once(mark_all);
}

#[expect(unsafe_code, reason = "no safe call marks a file that nobody here owns")]
fn mark_all() {
    // SAFETY: it changes one flag of open files, which takes effect only at `exec`, and touches no
    // memory. Kernels before 5.11 do not know it and change nothing.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
}
