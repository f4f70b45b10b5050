//! Counts presses of Esc: a second one soon after the first stops the reply.

use std::time::{Duration, Instant};

use super::handle::Handle;
use super::messages::{FrameMsg, Output};

/// How long a second Esc counts as the answer to the first, in seconds.
pub(crate) const ESCAPE_TWICE: u32 = 3;

/// The key.
pub(super) struct EscapeKey {
    handle: Handle<FrameMsg>,
    pressed: Option<Instant>,
}

impl EscapeKey {
    pub(super) fn new(handle: Handle<FrameMsg>) -> Self {
        Self { handle, pressed: None }
    }

    /// It is pressed while a reply comes. Whether that is the second time, which stops the reply; after the
    /// first, another one is asked for.
    pub(super) fn press(&mut self) -> bool {
        let twice = Duration::from_secs(ESCAPE_TWICE.into());
        if self.pressed.is_some_and(|at| at.elapsed() < twice) {
            return true;
        }
        self.pressed = Some(Instant::now());
        self.handle.output(Output::EscapeAgain(true));
        false
    }

    /// A press counts no longer, and nothing asks for another.
    pub(super) fn forget(&mut self) {
        if self.pressed.take().is_some() {
            self.handle.output(Output::EscapeAgain(false));
        }
    }
}
