//! Reads messages from a terminal or a pipe, and blocks until one is there.

use std::io::{self, BufRead as _, PipeReader, Read as _};
use std::path::PathBuf;

use rustyline::error::ReadlineError;
use rustyline::history::FileHistory;
use rustyline::{CompletionType, Config, Editor};

use super::super::completion::Completion;
use super::super::draft::{Draft, Prompted};
use super::{Line, Read, Waker};
use crate::error::{CliError, Result};
use crate::keyboard;
use crate::say;
use crate::terminal::{self, Terminal};

const PROMPT: &str = "> ";
/// The prompt for a continued line.
const MORE: &str = "… ";

/// How many messages the history keeps.
const HISTORY: usize = 1_000;

/// The terminals at which lines cannot be edited.
const SIMPLE: [&str; 3] = ["dumb", "cons25", "emacs"];

/// Whether lines can be edited.
pub(super) fn is_editor(terminal: Terminal) -> bool {
    let name = std::env::var("TERM").unwrap_or_default();
    terminal.input && terminal.output && !SIMPLE.iter().any(|it| it.eq_ignore_ascii_case(&name))
}

/// Where messages come from.
pub(super) struct Source {
    prompted: Prompted,
    from: Input,
}

enum Input {
    Editor {
        editor: Box<Editor<Completion, FileHistory>>,
        history: PathBuf,
    },
    /// A terminal without an editor.
    Terminal {
        terminal: Terminal,
        woken: PipeReader,
    },
    Pipe,
}

impl Source {
    /// Also gives how to wake it, if it has a prompt.
    pub(super) fn new(
        terminal: Terminal,
        history: PathBuf,
        prompted: Prompted,
    ) -> (Self, Option<Waker>) {
        if is_editor(terminal)
            && let Some(editor) = editor(&history, prompted.clone())
        {
            let from = Input::Editor { editor: Box::new(editor), history };
            return (Self { prompted, from }, Some(Waker::Editor));
        }
        if terminal.input
            && terminal.error
            && let Ok((woken, wake)) = io::pipe()
        {
            let from = Input::Terminal { terminal, woken };
            return (Self { prompted, from }, Some(Waker::Pipe(wake)));
        }
        (Self { prompted, from: Input::Pipe }, None)
    }

    /// Has Tab complete these names.
    pub(super) fn complete(&mut self, names: Vec<String>) {
        if let Input::Editor { editor, .. } = &mut self.from
            && let Some(completion) = editor.helper_mut()
        {
            completion.set_names(names);
        }
    }

    /// Reads a message that begins like this: a line, and the next ones while lines end with a backslash.
    pub(super) fn message(&mut self, mut draft: Draft) -> Result<Read> {
        let mut whole = String::new();
        loop {
            let prompt = if whole.is_empty() { PROMPT } else { MORE };
            let line = match self.line(prompt, &std::mem::take(&mut draft))? {
                Read::Line(Line::Text(line)) => line,
                Read::Line(Line::End) if !whole.is_empty() => break,
                Read::GaveWay(Draft { before, after }) => {
                    return Ok(Read::GaveWay(Draft { before: whole + &before, after }));
                }
                other @ Read::Line(_) => return Ok(other),
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
        Ok(Read::Line(Line::Text(whole)))
    }

    fn line(&mut self, prompt: &str, draft: &Draft) -> Result<Read> {
        match &mut self.from {
            Input::Editor { editor, .. } => {
                let read = editor.readline_with_initial(prompt, (&draft.before, &draft.after));
                let draft = self.prompted.left();
                match read {
                    Ok(line) => Ok(Read::Line(Line::Text(line))),
                    Err(ReadlineError::Interrupted) if self.prompted.is_unwanted() => {
                        Ok(Read::GaveWay(draft))
                    }
                    Err(ReadlineError::Interrupted) => Ok(Read::Line(Line::Interrupted)),
                    Err(ReadlineError::Eof) => Ok(Read::Line(Line::End)),
                    Err(error) => Err(CliError::Said(say::input_failed(&error.to_string()))),
                }
            }
            Input::Terminal { terminal, woken } => {
                let begun = draft.text();
                if !begun.is_empty() {
                    // Nothing could erase it here, if it were in the line.
                    let text = terminal::clean(&say::not_sent(&begun)).into_owned();
                    terminal::say(&format!("{}\n", terminal.dim(&text)));
                }
                terminal::say(prompt);
                loop {
                    match keyboard::is_typed(io::stdin(), woken) {
                        Ok(true) => break,
                        Ok(false) => {}
                        Err(error) => {
                            return Err(CliError::Said(say::input_failed(&error.to_string())));
                        }
                    }
                    // Only the pipe's own end could keep a byte that is there.
                    let _ = woken.read(&mut [0]);
                    // A line that was ended by then is a message.
                    if self.prompted.is_unwanted() && !keyboard::is_readable(io::stdin()) {
                        terminal::say("\n");
                        return Ok(Read::GaveWay(Draft::new(keyboard::take_typed())));
                    }
                }
                plain_line().map(Read::Line)
            }
            Input::Pipe => plain_line().map(Read::Line),
        }
    }

    fn remember(&mut self, message: &str) {
        if let Input::Editor { editor, history } = &mut self.from
            && editor.add_history_entry(message).is_ok_and(|added| added)
            && let Err(error) = editor.append_history(history)
        {
            tracing::warn!(%error, "the history of what was typed was not saved");
        }
    }
}

fn editor(history: &PathBuf, prompted: Prompted) -> Option<Editor<Completion, FileHistory>> {
    let config = Config::builder()
        .auto_add_history(false)
        .completion_type(CompletionType::List)
        .max_history_size(HISTORY)
        .map(rustyline::config::Builder::build);
    let mut editor = config.and_then(Editor::with_config).ok()?;
    // There is no history the first time.
    let _ = editor.load_history(history);
    editor.set_helper(Some(Completion::new(prompted)));
    Some(editor)
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
