//! Reads a single line from the terminal without blocking the rest of the program.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd as _, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::termios::{QueueSelector, tcflush};
use tokio::sync::oneshot;

use crate::terminal::Terminal;

/// The longest line that a terminal gives, in bytes (`N_TTY_BUF_SIZE` of Linux).
const LINE: usize = 4096;

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// A line, without its end.
    Line(String),
    /// Ctrl+D, or the terminal went away.
    End,
}

/// A line that is waited for. Dropping it ends the waiting: what is typed from then on is for
/// whoever reads next.
#[derive(Debug)]
pub struct Reading {
    line: oneshot::Receiver<Typed>,
    /// Its end wakes the thread that waits.
    _wake: PipeWriter,
}

impl Reading {
    /// Whether somebody sees what is asked, and can type an answer.
    pub fn is_possible(terminal: Terminal) -> bool {
        terminal.input && terminal.error
    }

    /// Waits for the next line from now on; what was typed before is forgotten. None where that
    /// cannot be done.
    pub fn begin() -> Option<Self> {
        let begun = || {
            let input = io::stdin().as_fd().try_clone_to_owned()?;
            let (woken, wake) = io::pipe()?;
            let (typed, line) = oneshot::channel();
            // Where this fails the terminal is gone, and reading from it says so.
            let _ = tcflush(&input, QueueSelector::IFlush);
            std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || {
                if let Some(line) = read(&input, &woken) {
                    // Nobody waits where the question was settled just now.
                    let _ = typed.send(line);
                }
            })?;
            io::Result::Ok(Self { line, _wake: wake })
        };
        begun().inspect_err(|error| tracing::warn!(%error, "nothing can be asked")).ok()
    }

    /// What was typed. Cancel-safe; not to be awaited again once it was given.
    pub async fn typed(&mut self) -> Typed {
        (&mut self.line).await.unwrap_or(Typed::End)
    }
}

/// Waits for a line, and reads it; none where it is woken before.
fn read(input: &OwnedFd, woken: &PipeReader) -> Option<Typed> {
    loop {
        let mut both = [PollFd::new(input, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        match poll(&mut both, None) {
            Err(Errno::INTR) => continue,
            Err(_) => return Some(Typed::End),
            Ok(_) if !both[1].revents().is_empty() => return None,
            Ok(_) => {}
        }
        // A terminal is ready once a whole line is there.
        let mut bytes = [0; LINE];
        match rustix::io::read(input, &mut bytes) {
            // What is handed over without an end of line was given up with Ctrl+D.
            Ok(read @ 1..LINE) if bytes[read - 1] != b'\n' => return Some(Typed::End),
            Ok(read @ 1..) => {
                let line = String::from_utf8_lossy(&bytes[..read]);
                return Some(Typed::Line(line.trim_end_matches(['\r', '\n']).to_owned()));
            }
            Err(Errno::INTR | Errno::AGAIN) => {}
            Ok(0) | Err(_) => return Some(Typed::End),
        }
    }
}
