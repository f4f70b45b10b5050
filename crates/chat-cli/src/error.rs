//! Defines what can end a command early, how it is reported, and the exit codes.

use std::fmt::Write as _;
use std::process::ExitCode;

use chat_core::error::{BudgetLimit, Error, Kind};
use chat_core::event::StopReason;
use chat_presentation::words;

use crate::say;
use crate::terminal::{self, Terminal};

/// The result of a command.
pub type Result<T, E = CliError> = std::result::Result<T, E>;

/// Why a command ended early.
#[derive(Debug)]
pub enum CliError {
    /// The engine's error.
    Engine(Error),
    /// An error with this message.
    Said(String),
    /// The command line is invalid; the message says why.
    Usage(String),
    /// The reader of our output is gone.
    BrokenPipe,
    /// The user stopped it.
    Stopped,
}

impl From<Error> for CliError {
    fn from(error: Error) -> Self {
        Self::Engine(error)
    }
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It succeeded.
    Done,
    /// It failed, or a limit ended it.
    Failed,
    /// The command line was wrong.
    Usage,
    /// The user stopped it.
    Stopped,
}

impl Outcome {
    /// The exit code. These four values never change.
    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Stopped => 130,
        })
    }
}

impl From<StopReason> for Outcome {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Complete => Self::Done,
            StopReason::Stopped => Self::Stopped,
            StopReason::Error | StopReason::Limit | StopReason::Interrupted => Self::Failed,
        }
    }
}

impl CliError {
    /// The outcome of a command that failed with this error.
    pub fn outcome(&self) -> Outcome {
        match self {
            // The command line names what cannot be attached.
            Self::Engine(error) if matches!(error.kind, Kind::Attachment { .. }) => Outcome::Usage,
            Self::Engine(_) | Self::Said(_) => Outcome::Failed,
            Self::Usage(_) => Outcome::Usage,
            // Whoever closed the pipe has everything they wanted.
            Self::BrokenPipe => Outcome::Done,
            Self::Stopped => Outcome::Stopped,
        }
    }

    /// Prints what happened and what to do to standard error.
    pub fn report(&self, terminal: Terminal) {
        match self {
            Self::Engine(error) => terminal::say(&explain(error, terminal)),
            Self::Said(sentence) | Self::Usage(sentence) => {
                terminal::say(&format!("{}\n", terminal.alarm(sentence)));
            }
            Self::BrokenPipe | Self::Stopped => {}
        }
    }
}

/// The error message, the server's own message, and commands that may help. Nothing for settings that cannot be read,
/// unless it says where: that was said at the start.
pub fn explain(error: &Error, terminal: Terminal) -> String {
    if matches!(error.kind, Kind::ConfigInvalid { .. }) && error.detail.is_none() {
        return String::new();
    }
    let mut out = format!("{}\n", terminal.alarm(&words::sentence(error)));
    let connection = error.connection.as_deref();
    let hint = match (&error.kind, connection) {
        (Kind::Unauthorized { signin_url: None, .. }, Some(name)) => Some(say::give_key(name)),
        (Kind::AgentBudget { limit }, _) => Some(say::raise_limit(
            match limit {
                BudgetLimit::Tokens(_) => "tokens",
                BudgetLimit::Turns(_) => "turns",
                BudgetLimit::Minutes(_) => "minutes",
            },
            "agents",
        )),
        (Kind::RoundLimit { .. }, _) => Some(say::raise_limit("rounds", "tools")),
        _ => say::hint(&words::advice(error).actions, connection),
    };
    for line in error.detail.iter().flat_map(|detail| detail.lines()).chain(hint.as_deref()) {
        // Writing into a string cannot fail.
        let _ = writeln!(out, "  {}", terminal.dim(&terminal::clean(line)));
    }
    out
}
