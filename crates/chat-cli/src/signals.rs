//! Listens for Ctrl+C and the other signals that end the program.

use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::error::{CliError, Result};
use crate::say;

/// SIGINT, SIGTERM and SIGHUP. All mean: stop, keep what arrived, end.
#[derive(Debug)]
pub struct Signals {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
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

    /// Forgets Ctrl+C until now: the prompt gets the same signal.
    pub async fn forget_interrupts(&mut self) {
        // Those that came are noticed meanwhile.
        tokio::task::yield_now().await;
        loop {
            tokio::select! {
                biased;
                _ = self.interrupt.recv() => {}
                () = std::future::ready(()) => return,
            }
        }
    }

    /// Whether a signal came that ends more than a reply.
    pub fn ends_all(&self) -> bool {
        self.ending
    }
}
