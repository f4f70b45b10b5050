//! Writes a conversation as text: the answer to standard output, everything else to standard error.

use std::collections::HashSet;
use std::io::Write as _;

use chat_core::client::Preparing;
use chat_core::event::{Failure, SessionPlaceholder, Stage, StopReason, TextKind};
use chat_core::message::{Answer, ApprovalRequest, Message, ToolCall, ToolCallId, ToolResult};
use chat_core::tool::Toolbox;
use chat_presentation::words::{self, Progress};
use gettextrs::gettext;
use jiff::Timestamp;

use super::tail::last_line;
use super::{Done, Pieces, Sink, result_line};
use crate::error::explain;
use crate::say;
use crate::terminal::{self, Terminal};

/// Shows a conversation as text.
#[derive(Debug)]
pub struct Text {
    terminal: Terminal,
    tools: Toolbox,
    pieces: Pieces,
    /// Where the cursor is, as far as this program moved it.
    at: At,
    stage: Stage,
    /// Messages that are held back until a question is answered, so that they do not get lost in
    /// between.
    held: Vec<String>,
    /// The calls that were denied because nobody could be asked, which was already reported.
    denied: HashSet<ToolCallId>,
    /// The agent below the session that what follows comes from.
    speaker: Option<String>,
    /// Whether the terminal shows a status line that must be erased.
    status: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum At {
    LineStart,
    MidText,
    MidThinking,
    /// After a question.
    MidPrompt,
}

impl Text {
    pub fn new(terminal: Terminal, tools: Toolbox) -> Self {
        Self {
            terminal,
            tools,
            pieces: Pieces::default(),
            at: At::LineStart,
            stage: Stage::Idle,
            held: Vec::new(),
            denied: HashSet::new(),
            speaker: None,
            status: false,
        }
    }

    /// Ends the current line, whatever it is.
    fn end_line(&mut self) {
        self.wipe_status();
        match self.at {
            At::LineStart => {}
            At::MidText => self.pieces.output().push(b'\n'),
            At::MidThinking | At::MidPrompt => self.pieces.error().push(b'\n'),
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
            self.show(&status);
        }
    }

    /// Shows a line that the next one overwrites. The terminal cuts it if it is too long.
    fn show(&mut self, status: &str) {
        self.end_line();
        let line = self.terminal.dim(status);
        // Writing into memory cannot fail.
        let _ = write!(self.pieces.error(), "\x1b[?7l{line}\x1b[?7h");
        self.status = true;
    }

    fn remark(&mut self, text: &str) {
        self.end_line();
        let line = self.terminal.dim(&terminal::clean(text));
        // Writing into memory cannot fail.
        let _ = writeln!(self.pieces.error(), "{line}");
    }

    fn write_held(&mut self) {
        for line in std::mem::take(&mut self.held) {
            self.remark(&line);
        }
    }
}

impl Sink for Text {
    fn session(&mut self, _: &SessionPlaceholder) {}

    fn speaker(&mut self, agent: Option<&SessionPlaceholder>) {
        self.speaker = agent.and_then(|agent| agent.name.clone());
    }

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

    fn tool_call(&mut self, _: &ToolCall) {}

    fn tool_runs(&mut self, call: &ToolCall) {
        if self.terminal.rewrites() && self.at != At::MidPrompt {
            self.show(&words::tool_line(&self.tools, call, Progress::Running));
        }
    }

    fn tool_output(&mut self, tail: &str) {
        if self.terminal.rewrites()
            && self.at != At::MidPrompt
            && let Some(line) = last_line(tail)
        {
            self.show(&format!("  {line}"));
        }
    }

    fn tool_result(&mut self, call: Option<&ToolCall>, result: &ToolResult) {
        if self.denied.remove(&result.call) && result.failed {
            return;
        }
        let line = result_line(&self.tools, call, result);
        if self.at == At::MidPrompt {
            self.held.push(line);
        } else {
            self.remark(&line);
        }
    }

    fn ask(&mut self, prompt: &str) {
        // The user's own line break already ended the line of a question that is asked again.
        if self.at != At::MidPrompt {
            self.end_line();
        }
        self.pieces.error().extend_from_slice(prompt.as_bytes());
        self.at = if prompt.ends_with('\n') { At::LineStart } else { At::MidPrompt };
    }

    fn line_ended(&mut self) {
        if self.at == At::MidPrompt {
            self.at = At::LineStart;
        }
        self.write_held();
    }

    fn answered(&mut self, ask: &ApprovalRequest, answer: Option<&Answer>) {
        if answer.is_some() && self.at == At::MidPrompt {
            self.at = At::LineStart;
        } else if answer == Some(&Answer::Nobody) {
            self.denied.insert(ask.call.clone());
            self.remark(&say::nobody(ask, self.speaker.as_deref()));
        } else {
            self.end_line();
        }
        self.write_held();
    }

    fn message(&mut self, _: &Message) {
        self.end_line();
    }

    fn stage(&mut self, stage: &Stage) {
        // What may take minutes is announced at once, even where the line cannot be erased later.
        let waits = matches!(
            stage,
            Stage::RateLimited { .. }
                | Stage::Preparing(Preparing::Queued | Preparing::AwaitingSlot { .. })
                | Stage::Compacting
        );
        let awaits =
            |stage: &Stage| matches!(stage, Stage::Preparing(Preparing::AwaitingSlot { .. }));
        let awaited = awaits(&self.stage);
        self.stage = stage.clone();
        if self.terminal.rewrites() {
            if *stage == Stage::Looping {
                self.remark(&gettext("Possibly stuck in a loop. Press Ctrl+C to stop it."));
            } else if waits || (awaited && matches!(stage, Stage::Waiting { .. })) {
                self.show_status();
            }
        } else if waits
            // The way up in the queue would fill the screen.
            && !(awaited && awaits(stage))
            && let Some(status) = words::stage(stage, Timestamp::now())
        {
            self.remark(&status);
        }
    }

    fn awaits_agents(&mut self, names: &str) {
        self.remark(&say::awaits_agents(names));
    }

    fn notice(&mut self, failure: &Failure) {
        self.end_line();
        let text = explain(&failure.error, self.terminal);
        self.pieces.error().extend_from_slice(text.as_bytes());
    }

    fn done(&mut self, done: &Done) {
        self.end_line();
        self.write_held();
        if let Some(error) = &done.error {
            let text = explain(error, self.terminal);
            self.pieces.error().extend_from_slice(text.as_bytes());
        } else if done.reason == StopReason::Limit {
            self.remark(&say::length_limit());
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
            Stage::Waiting { .. }
                | Stage::StartingServers { .. }
                | Stage::Preparing(_)
                | Stage::RateLimited { .. }
                | Stage::Compacting
        );
        if !waits || !self.terminal.rewrites() {
            return false;
        }
        // Models usually answer within a second or two, so showing a status earlier would only
        // flicker.
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

#[cfg(test)]
mod tests {
    use chat_core::message::{ApprovalId, ApprovalKind};

    use super::*;

    #[test]
    fn who_awaits_a_slot_hears_it_once_where_lines_cannot_be_erased() {
        let mut text = Text::new(Terminal::default(), Toolbox::default());
        for before in [2, 1, 0] {
            text.stage(&Stage::Preparing(Preparing::AwaitingSlot { before }));
        }
        text.stage(&Stage::Waiting { since: Timestamp::now() });
        let words = b"Waiting for another reply to finish (2 before this one)\n";
        assert_eq!(text.take().error(), words);
    }

    #[test]
    fn what_comes_while_a_question_waits_is_told_behind_the_answer() {
        let mut text = Text::new(Terminal::default(), Toolbox::default());
        let ask = ApprovalRequest {
            id: ApprovalId::generate(),
            call: ToolCallId::new("c1"),
            tool: "run_command".to_owned(),
            kind: ApprovalKind::GoOn { rounds: 5 },
        };
        let result = ToolResult {
            call: ToolCallId::new("c2"),
            name: "read_file".to_owned(),
            text: String::new(),
            failed: false,
            lasting: false,
            stopped: false,
            view: None,
            took: None,
            verdict: None,
            needs: Vec::new(),
            forms: Vec::new(),
        };
        text.ask("Go on?\n");
        text.ask("[y]es, [n]o: ");
        text.tool_result(None, &result);
        assert_eq!(text.take().error(), b"Go on?\n[y]es, [n]o: ");
        text.answered(&ask, Some(&Answer::Allow(None)));
        assert_eq!(text.take().error(), b"read_file\n");
        // Also for a question that nobody answers in the end.
        text.ask("[y]es, [n]o: ");
        text.tool_result(None, &result);
        text.answered(&ask, None);
        assert_eq!(text.take().error(), b"[y]es, [n]o: \nread_file\n");
    }
}
