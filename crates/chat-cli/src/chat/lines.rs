//! Reads what a person types, on a thread of its own: with editing and history at a terminal, line
//! by line elsewhere.

use std::io::{self, BufRead as _};
use std::path::PathBuf;

use chat_core::settings::Folders;
use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};
use tokio::sync::mpsc;

use super::completion::Completion;
use crate::error::{CliError, Result};
use crate::say;
use crate::terminal::{self, RestoreTerminal, Terminal};

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

/// Reads the user's messages, one at a time.
#[derive(Debug)]
pub struct Lines {
    /// Asks for a message, with the names of the commands that it can begin with.
    ask: std::sync::mpsc::Sender<Vec<String>>,
    answers: mpsc::Receiver<Result<Line>>,
    /// Whether a message was requested that has not arrived yet.
    asked: bool,
    completes: bool,
    /// The editor changes the terminal's settings, and a signal may end the program while it reads.
    _terminal: RestoreTerminal,
}

const PROMPT: &str = "> ";
/// The prompt for a continued line.
const MORE: &str = "… ";

/// How many messages the history keeps.
const HISTORY: usize = 1_000;

impl Lines {
    /// Starts the reading thread.
    pub fn start(terminal: Terminal, folders: &Folders) -> Self {
        let (ask, asked) = std::sync::mpsc::channel::<Vec<String>>();
        let (answer, answers) = mpsc::channel(1);
        let before = RestoreTerminal::now();
        let history = folders.state.join("chat-history");
        std::thread::spawn(move || {
            let mut source = Source::new(terminal, history);
            // Ends when nobody asks or listens any more.
            while let Ok(names) = asked.recv() {
                source.complete(names);
                if answer.blocking_send(source.message()).is_err() {
                    break;
                }
            }
        });
        let completes = is_editor(terminal);
        Self { ask, answers, asked: false, completes, _terminal: before }
    }

    /// Whether [`next`](Self::next) is about to ask for a message in which names are completed.
    pub fn completes(&self) -> bool {
        self.completes && !self.asked
    }

    /// Returns the next message, whose commands have these names. Cancel-safe: a message that was being
    /// typed is returned by the next call.
    pub async fn next(&mut self, names: Vec<String>) -> Result<Line> {
        if !self.asked {
            self.asked = self.ask.send(names).is_ok();
        }
        let line = self.answers.recv().await;
        self.asked = false;
        line.unwrap_or(Ok(Line::End))
    }
}

/// Whether lines can be edited.
fn is_editor(terminal: Terminal) -> bool {
    terminal.input && terminal.output
}

enum Source {
    Terminal { editor: Box<Editor<Completion, FileHistory>>, history: PathBuf },
    Plain { prompts: bool },
}

impl Source {
    fn new(terminal: Terminal, history: PathBuf) -> Self {
        let plain = Self::Plain { prompts: terminal.input && terminal.error };
        if !is_editor(terminal) {
            return plain;
        }
        let config = Config::builder()
            .auto_add_history(false)
            .completion_type(CompletionType::List)
            .max_history_size(HISTORY)
            .map(rustyline::config::Builder::build);
        match config.and_then(Editor::with_config) {
            Ok(mut editor) => {
                // There is no history the first time.
                let _ = editor.load_history(&history);
                editor.set_helper(Some(Completion::default()));
                Self::Terminal { editor: Box::new(editor), history }
            }
            Err(_) => plain,
        }
    }

    /// Has Tab complete these names.
    fn complete(&mut self, names: Vec<String>) {
        if let Self::Terminal { editor, .. } = self
            && let Some(completion) = editor.helper_mut()
        {
            completion.set_names(names);
        }
    }

    /// Reads a message: a line, and the next ones while lines end with a backslash.
    fn message(&mut self) -> Result<Line> {
        let mut whole = String::new();
        loop {
            let prompt = if whole.is_empty() { PROMPT } else { MORE };
            let line = match self.line(prompt)? {
                Line::Text(line) => line,
                Line::End if !whole.is_empty() => break,
                other => return Ok(other),
            };
            if let Some(line) = line.strip_suffix('\\') {
                whole.push_str(line);
                whole.push('\n');
            } else {
                whole.push_str(&line);
                break;
            }
        }
        self.remember(&whole);
        Ok(Line::Text(whole))
    }

    fn line(&mut self, prompt: &str) -> Result<Line> {
        match self {
            Self::Terminal { editor, .. } => match editor.readline(prompt) {
                Ok(line) => Ok(Line::Text(line)),
                Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
                Err(ReadlineError::Eof) => Ok(Line::End),
                Err(error) => Err(CliError::Said(say::input_failed(&error.to_string()))),
            },
            Self::Plain { prompts } => {
                if *prompts {
                    terminal::say(prompt);
                }
                plain_line()
            }
        }
    }

    fn remember(&mut self, message: &str) {
        if let Self::Terminal { editor, history } = self
            && editor.add_history_entry(message).is_ok_and(|added| added)
            && let Err(error) = editor.append_history(history)
        {
            tracing::warn!(%error, "the history of what was typed was not saved");
        }
    }
}

fn plain_line() -> Result<Line> {
    let mut bytes = Vec::new();
    match io::stdin().lock().read_until(b'\n', &mut bytes) {
        Ok(0) => Ok(Line::End),
        Ok(_) => {
            let line = String::from_utf8_lossy(&bytes);
            Ok(Line::Text(line.trim_end_matches(['\r', '\n']).to_owned()))
        }
        Err(error) => Err(CliError::Said(say::input_failed(&error.to_string()))),
    }
}
