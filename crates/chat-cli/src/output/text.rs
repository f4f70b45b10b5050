//! A conversation for people: the answer on standard output, all else on standard error.

use std::io::Write as _;

use chat_core::client::Preparing;
use chat_core::event::{Failure, SessionPlaceholder, Stage, StopReason, TextKind};
use chat_core::message::{Message, ToolCall, ToolResult};
use chat_edge::words;
use jiff::Timestamp;

use super::{Done, Pieces, Sink};
use crate::terminal::{self, Terminal};
use crate::trouble::explain;

/// Shows a conversation as text.
#[derive(Debug)]
pub struct Text {
    terminal: Terminal,
    pieces: Pieces,
    /// Where the cursor stands, as far as we moved it.
    at: At,
    stage: Stage,
    /// Whether a line about the stage stands on the terminal and is to be wiped.
    status: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    LineStart,
    MidText,
    MidThinking,
}

impl Text {
    pub fn new(terminal: Terminal) -> Self {
        Self {
            terminal,
            pieces: Pieces::default(),
            at: At::LineStart,
            stage: Stage::Idle,
            status: false,
        }
    }

    /// Ends the line that is being written, whatever it is.
    fn end_line(&mut self) {
        self.wipe_status();
        match self.at {
            At::LineStart => {}
            At::MidText => self.pieces.output().push(b'\n'),
            At::MidThinking => self.pieces.error().push(b'\n'),
        }
        self.at = At::LineStart;
    }

    fn wipe_status(&mut self) {
        if std::mem::take(&mut self.status) {
            self.pieces.error().extend_from_slice(b"\r\x1b[2K");
        }
    }

    fn show_status(&mut self) {
        if let Some(status) = words::stage(&self.stage, Timestamp::now()) {
            self.end_line();
            let line = self.terminal.dim(&status);
            self.pieces.error().extend_from_slice(line.as_bytes());
            self.status = true;
        }
    }

    fn remark(&mut self, text: &str) {
        self.end_line();
        let line = self.terminal.dim(&terminal::clean(text));
        // Writing into memory cannot fail.
        let _ = writeln!(self.pieces.error(), "{line}");
    }
}

impl Sink for Text {
    fn session(&mut self, _: &SessionPlaceholder) {}

    fn text(&mut self, kind: TextKind, text: &str) {
        if text.is_empty() {
            return;
        }
        match kind {
            TextKind::Text => {
                if self.at != At::MidText {
                    self.end_line();
                }
                self.wipe_status();
                let clean = self.terminal.clean_output(text);
                self.pieces.output().extend_from_slice(clean.as_bytes());
                self.at = if text.ends_with('\n') { At::LineStart } else { At::MidText };
            }
            TextKind::Thinking if self.terminal.error => {
                if self.at != At::MidThinking {
                    self.end_line();
                }
                self.wipe_status();
                let dim = self.terminal.dim(&terminal::clean(text));
                self.pieces.error().extend_from_slice(dim.as_bytes());
                self.at = if text.ends_with('\n') { At::LineStart } else { At::MidThinking };
            }
            TextKind::Thinking => {}
        }
    }

    fn tool_call(&mut self, call: &ToolCall) {
        self.remark(&format!("{} {}", call.name, call.arguments));
    }

    fn tool_result(&mut self, result: &ToolResult) {
        if result.failed {
            self.remark(&format!("{}: {}", result.name, result.text));
        }
    }

    fn message(&mut self, _: &Message) {
        self.end_line();
    }

    fn stage(&mut self, stage: &Stage) {
        // What may take minutes is said at once, and where no line can be wiped away too.
        let waits =
            matches!(stage, Stage::RateLimited { .. } | Stage::Preparing(Preparing::Queued));
        self.stage = stage.clone();
        if self.terminal.rewrites() {
            if waits {
                self.show_status();
            }
        } else if waits && let Some(status) = words::stage(stage, Timestamp::now()) {
            self.remark(&status);
        }
    }

    fn notice(&mut self, failure: &Failure) {
        self.end_line();
        let text = explain(&failure.error, self.terminal);
        self.pieces.error().extend_from_slice(text.as_bytes());
    }

    fn done(&mut self, done: &Done) {
        self.end_line();
        if let Some(error) = &done.error {
            let text = explain(error, self.terminal);
            self.pieces.error().extend_from_slice(text.as_bytes());
        } else if let Some(words) = words::stop_reason(done.reason) {
            // Whoever pressed Ctrl+C in a pipe knows it.
            if done.reason != StopReason::Stopped || self.terminal.error {
                self.remark(&words);
            }
        }
        self.stage = Stage::Idle;
    }

    fn tick(&mut self) -> bool {
        let waits = matches!(
            self.stage,
            Stage::Waiting { .. } | Stage::Preparing(_) | Stage::RateLimited { .. }
        );
        if !waits || !self.terminal.rewrites() {
            return false;
        }
        // Models answer within a second or two when all is well: no need to flicker.
        let quick = |since: Timestamp| Timestamp::now().duration_since(since).as_secs() < 3;
        if !matches!(self.stage, Stage::Waiting { since } if quick(since)) {
            self.show_status();
        }
        true
    }

    fn take(&mut self) -> Pieces {
        std::mem::take(&mut self.pieces)
    }
}
