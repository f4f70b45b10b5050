//! Measures how long each iteration of the main loop blocks the next one, in wall clock and CPU
//! time, and when parts were painted that are given no diagnostics. Measures only if the environment
//! asks for diagnostics.
//!
//! `GLib` reveals where an iteration begins and ends only through its poll function, which gtk4-rs
//! does not wrap. It is replaced once, at start.
#![allow(unsafe_code, reason = "GLib's poll function can be replaced from C alone")]

use std::cell::Cell;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use chat_presentation::diagnostics::{Diagnostics, thread_cpu};
use gtk::glib;
use gtk::prelude::IsA;

use crate::paint;

static MEASURED: OnceLock<Diagnostics> = OnceLock::new();

thread_local! {
    /// When the last poll returned, and the thread's CPU time then.
    static TURN: Cell<Option<(Instant, Duration)>> = const { Cell::new(None) };
}

/// Starts to measure this thread's main loop, if the environment asks for it.
pub(crate) fn watch(diagnostics: &Diagnostics) {
    if !diagnostics.is_on() || MEASURED.set(diagnostics.clone()).is_err() {
        return;
    }
    let context = glib::MainContext::default();
    // SAFETY: called on the thread that owns the default context, before its loop runs, with a
    // function that has the type GLib wants and lives as long as the program.
    unsafe {
        glib::ffi::g_main_context_set_poll_func(
            glib::translate::ToGlibPtr::to_glib_none(&context).0,
            Some(measured_poll),
        );
    }
}

/// Records when the widget's next frame was painted, if this thread's main loop is measured.
pub(crate) fn mark_after_frame(widget: &impl IsA<gtk::Widget>, name: &'static str) {
    if let Some(diagnostics) = MEASURED.get() {
        paint::after_next(widget, move || diagnostics.mark(name));
    }
}

/// Records how long the last iteration took, polls as `GLib` would, and begins the next iteration.
unsafe extern "C" fn measured_poll(
    descriptors: *mut glib::ffi::GPollFD,
    count: u32,
    timeout: i32,
) -> i32 {
    if let (Some((began, cpu)), Some(diagnostics)) = (TURN.take(), MEASURED.get()) {
        diagnostics.stall(began.elapsed(), thread_cpu().saturating_sub(cpu));
    }
    // SAFETY: the arguments are those that GLib passed.
    let ready = unsafe { glib::ffi::g_poll(descriptors, count, timeout) };
    TURN.set(Some((Instant::now(), thread_cpu())));
    ready
}
