//! Reads what a person types, on a thread of its own: with editing and history at a terminal, line
//! by line elsewhere.

mod source;

use std::io::{PipeWriter, Write as _};
use std::time::Duration;

use chat_core::settings::Folders;
use tokio::sync::mpsc;
use tokio::time::sleep;

use super::draft::{Draft, Prompted};
use crate::error::Result;
use crate::keyboard::take_typed;
use crate::signals::Signals;
use crate::terminal::{RestoreTerminal, Terminal};

use source::Source;

/// After what time a prompt that did not give way is asked again to.
const AGAIN: Duration = Duration::from_millis(10);

/// The user's input.
#[derive(Debug, PartialEq, Eq)]
pub enum Line {
    /// A whole message, possibly of several lines.
    Text(String),
    /// Ctrl+C while typing.
    Interrupted,
    /// Ctrl+D, or the end of the input.
    End,
}

/// What the thread gives back.
#[derive(Debug)]
enum Read {
    Line(Line),
    /// The prompt gave way while this was being typed.
    GaveWay(Draft),
}

/// What the thread is asked for: a message.
struct Ask {
    /// The names of the commands that it can begin with.
    names: Vec<String>,
    /// What it begins with.
    draft: Draft,
}

/// How the thread is woken while somebody types.
enum Waker {
    /// By a signal.
    Editor,
    Pipe(PipeWriter),
}

/// Reads the user's messages, one at a time.
pub struct Lines {
    ask: std::sync::mpsc::Sender<Ask>,
    answers: mpsc::Receiver<Result<Read>>,
    /// Whether a message was requested that has not arrived yet.
    asked: bool,
    completes: bool,
    /// What the next message begins with.
    draft: Draft,
    /// What was typed behind it while there was no prompt.
    ahead: String,
    prompted: Prompted,
    /// None without a prompt.
    waker: Option<Waker>,
    /// The editor changes the terminal's settings, and a signal may end the program while it reads.
    _terminal: RestoreTerminal,
}

impl Lines {
    /// Starts the reading thread.
    pub fn start(terminal: Terminal, folders: &Folders) -> Self {
        let (ask, asked) = std::sync::mpsc::channel::<Ask>();
        let (answer, answers) = mpsc::channel(1);
        let before = RestoreTerminal::now().keep_typed();
        let prompted = Prompted::default();
        let history = folders.state.join("chat-history");
        let (mut source, waker) = Source::new(terminal, history, prompted.clone());
        std::thread::spawn(move || {
            // Ends when nobody asks or listens any more.
            while let Ok(Ask { names, draft }) = asked.recv() {
                source.complete(names);
                if answer.blocking_send(source.message(draft)).is_err() {
                    break;
                }
            }
        });
        let completes = source::is_editor(terminal);
        Self {
            ask,
            answers,
            asked: false,
            completes,
            draft: Draft::default(),
            ahead: String::new(),
            prompted,
            waker,
            _terminal: before,
        }
    }

    /// Whether [`next`](Self::next) is about to ask for a message in which names are completed.
    pub fn completes(&self) -> bool {
        self.completes && !self.asked
    }

    /// Returns the next message, whose commands have these names. Cancel-safe: a message that was being
    /// typed is returned by the next call.
    pub async fn next(&mut self, names: Vec<String>) -> Result<Line> {
        loop {
            if !self.asked {
                if matches!(self.waker, Some(Waker::Editor)) {
                    // The editor reads several lines at once, but gives only the first one.
                    self.ahead.push_str(&take_typed());
                }
                let mut draft = std::mem::take(&mut self.draft);
                draft.add_typed_ahead(&std::mem::take(&mut self.ahead));
                self.asked = self.ask.send(Ask { names: names.clone(), draft }).is_ok();
            }
            let read = self.answers.recv().await;
            self.asked = false;
            match read.unwrap_or(Ok(Read::Line(Line::End)))? {
                Read::Line(line) => return Ok(line),
                Read::GaveWay(draft) => self.draft = draft,
            }
        }
    }

    /// Takes the prompt off the screen, and keeps what was typed for the next call of
    /// [`next`](Self::next). Gives the line that was ended just then, if there was one.
    pub async fn pause(&mut self, signals: &mut Signals) -> Result<Option<Line>> {
        if !self.asked || self.waker.is_none() {
            return Ok(None);
        }
        self.prompted.give_way();
        if let Some(Waker::Pipe(pipe)) = &mut self.waker {
            // The thread has the other end as long as it reads.
            let _ = pipe.write_all(b"w");
        }
        let read = loop {
            tokio::select! {
                read = self.answers.recv() => break read,
                () = sleep(AGAIN) => self.prompted.give_way(),
            }
        };
        self.asked = false;
        if self.prompted.stay() {
            signals.forget_own_interrupts().await;
        }
        Ok(match read.unwrap_or(Ok(Read::Line(Line::End)))? {
            Read::Line(line) => Some(line),
            Read::GaveWay(draft) => {
                self.draft = draft;
                None
            }
        })
    }

    /// Has the next message begin with this, after what was typed of it before.
    pub fn keep(&mut self, typed: &str) {
        self.ahead.push_str(typed);
    }
}
