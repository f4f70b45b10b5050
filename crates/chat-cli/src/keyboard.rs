//! Reads a single line from the terminal without blocking the rest of the program.

use std::io::{self, PipeReader, PipeWriter};
use std::os::fd::{AsFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
use tokio::sync::oneshot;

use crate::terminal::Terminal;

/// The longest line that a terminal returns, in bytes (`N_TTY_BUF_SIZE` of Linux).
const LINE: usize = 4096;

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// A line, without its end.
    Line(String),
    /// Ctrl+D, or the terminal disappeared.
    End,
}

/// A pending read of a line. Dropping it cancels the read: what is typed later goes to the next
/// reader.
#[derive(Debug)]
pub struct Reading {
    line: oneshot::Receiver<Typed>,
    /// Closing it wakes the waiting thread.
    _wake: PipeWriter,
}

impl Reading {
    /// Whether the user can see a question and type an answer.
    pub fn is_possible(terminal: Terminal) -> bool {
        terminal.input && terminal.error
    }

    /// Waits for the next line; what was typed before is added to `before`. None where that is impossible.
    pub fn begin_after(before: &mut String) -> Option<Self> {
        before.push_str(&take_typed());
        Self::begin()
    }

    /// Waits for the next line, also one that was typed before. None where that is impossible.
    pub fn begin() -> Option<Self> {
        let begun = || {
            let input = io::stdin().as_fd().try_clone_to_owned()?;
            let (woken, wake) = io::pipe()?;
            let (typed, line) = oneshot::channel();
            std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || {
                if let Some(line) = read(&input, &woken) {
                    // The receiver is gone if the question was settled in the meantime.
                    let _ = typed.send(line);
                }
            })?;
            io::Result::Ok(Self { line, _wake: wake })
        };
        begun().inspect_err(|error| tracing::warn!(%error, "nothing can be asked")).ok()
    }

    /// Returns what was typed. Cancel-safe; must not be awaited again after it has returned.
    pub async fn typed(&mut self) -> Typed {
        (&mut self.line).await.unwrap_or(Typed::End)
    }
}

/// Takes what was typed at the terminal and not read yet, also a line that has not ended.
pub fn take_typed() -> String {
    let input = io::stdin();
    // If this fails the terminal is gone, and reading from it reports that.
    let Ok(before) = tcgetattr(&input) else { return String::new() };
    let mut at_once = before.clone();
    at_once.local_modes.remove(LocalModes::ICANON);
    at_once.special_codes[SpecialCodeIndex::VMIN] = 0;
    at_once.special_codes[SpecialCodeIndex::VTIME] = 0;
    let mut typed = Vec::new();
    if tcsetattr(&input, OptionalActions::Now, &at_once).is_ok() {
        let mut bytes = [0; LINE];
        while let Ok(read @ 1..) = rustix::io::read(&input, &mut bytes) {
            typed.extend_from_slice(&bytes[..read]);
        }
        let _ = tcsetattr(&input, OptionalActions::Now, &before);
    }
    text(&String::from_utf8_lossy(&typed))
}

/// The text in what was typed, without keys such as arrows.
fn text(typed: &str) -> String {
    let mut text = String::new();
    let mut chars = typed.chars().peekable();
    while let Some(char) = chars.next() {
        match char {
            '\r' | '\n' => text.push('\n'),
            '\x1b' if chars.next_if_eq(&'[').is_some() => {
                // A key ends with a letter or a tilde.
                chars.by_ref().find(|it| ('@'..='~').contains(it));
            }
            '\x1b' if chars.next_if_eq(&'O').is_some() => {
                chars.next();
            }
            char if char.is_control() => {}
            char => text.push(char),
        }
    }
    text
}

/// Waits until something was typed at the terminal. False if it is woken first.
pub fn is_typed(input: impl AsFd, woken: &PipeReader) -> io::Result<bool> {
    loop {
        let mut both = [PollFd::new(&input, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        match poll(&mut both, None) {
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
            Ok(_) => return Ok(both[1].revents().is_empty()),
        }
    }
}

/// Whether a line was ended at the terminal and not read yet.
pub fn is_readable(input: impl AsFd) -> bool {
    let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
    let mut fds = [PollFd::new(&input, PollFlags::IN)];
    poll(&mut fds, Some(&at_once)).is_ok_and(|ready| ready > 0)
}

/// Waits for a line and reads it; none if it is woken first.
fn read(input: &OwnedFd, woken: &PipeReader) -> Option<Typed> {
    loop {
        match is_typed(input, woken) {
            Ok(true) => {}
            Ok(false) => return None,
            Err(_) => return Some(Typed::End),
        }
        // A terminal becomes readable once a whole line is there.
        let mut bytes = [0; LINE];
        match rustix::io::read(input, &mut bytes) {
            // Input without a line break was ended with Ctrl+D.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_no_text() {
        assert_eq!(text("one\r\x1b[Atwo\x1b[1;5C\x1bOP\x7f\x1b[3~ three\n"), "one\ntwo three\n");
        assert_eq!(text("half \x1b["), "half ");
    }
}
