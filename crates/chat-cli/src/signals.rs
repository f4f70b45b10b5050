//! Listens for Ctrl+C and the other signals that end the program.

use std::task::{Context, Waker};

use nix::sys::signal::{Signal as Interrupt, raise};
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::{CliError, Result};
use crate::say;

const MARKER: Interrupt = Interrupt::SIGURG;

/// SIGINT, SIGTERM and SIGHUP. All mean: stop, keep what arrived, end.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
    /// SIGURG, which means nothing to anybody: the program sends it to itself.
    marker: Signal,
    /// Whether the whole program should end.
    ending: bool,
}

impl Signals {
    /// Starts listening.
    pub fn new() -> Result<Self> {
        let listen = |kind| {
            signal(kind).map_err(|error| CliError::Said(say::input_failed(&error.to_string())))
        };
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
            hang_up: listen(SignalKind::hangup())?,
            marker: listen(SignalKind::from_raw(MARKER as i32))?,
            ending: false,
        })
    }

    /// Waits for the next signal. Cancel-safe.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => self.ending = true,
            _ = self.hang_up.recv() => self.ending = true,
        }
    }

    /// Forgets the interrupts that have arrived until now, after the program has sent some to a thread
    /// of its own.
    pub async fn forget_own_interrupts(&mut self) {
        forget(&mut self.marker);
        // All signals that have arrived are reported together, so those before this one are known with it.
        match raise(MARKER) {
            Ok(()) => drop(self.marker.recv().await),
            Err(error) => tracing::warn!(%error, "an interrupt may be taken for one of the user"),
        }
        forget(&mut self.interrupt);
    }

    /// Whether a signal came that ends more than a reply.
    pub fn ends_all(&self) -> bool {
        self.ending
    }
}

/// Forgets the signals that were reported.
fn forget(signal: &mut Signal) {
    let mut context = Context::from_waker(Waker::noop());
    while signal.poll_recv(&mut context).is_ready() {}
}
