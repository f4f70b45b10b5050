//! Defines the patterns of rules: paths, commands, hosts, or tools of servers.

mod command;
mod host;
mod path;
mod server_tool;

use std::fmt;

use crate::Action;

pub use command::CommandPattern;
pub(crate) use command::{Fit, base};
pub use host::{Host, HostPattern};
pub use path::PathPattern;
pub use server_tool::ServerToolPattern;

/// What a rule applies to; its kind follows from the rule's action.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Pattern {
    /// Of `read` and `write`.
    Path(PathPattern),
    /// Of `run`.
    Command(CommandPattern),
    /// Of `network`.
    Host(HostPattern),
    /// Of `mcp`.
    ServerTool(ServerToolPattern),
}

/// A text that is not a valid pattern.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidPattern {
    /// It is empty.
    #[error("the pattern is empty")]
    Empty,
    /// An invalid glob.
    #[error("`{pattern}` is not a valid path pattern: {reason}")]
    Glob {
        /// As it was written.
        pattern: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An unpaired quote, or one in the middle of a word.
    #[error("the quotation marks in `{0}` do not match")]
    Quotes(String),
    /// An unquoted character of a command that the shell would interpret.
    #[error("`{1}` in `{0}` needs single quotation marks: a pattern is a single simple command")]
    Shell(String, char),
    /// A `*` that is not the last word.
    #[error("the `*` in `{0}` is not on its own as the last word")]
    Star(String),
    /// Not a host name or an address.
    #[error("`{0}` is not a host")]
    Host(String),
    /// Not a tool of a server.
    #[error("`{0}` is not a tool of a server: write SERVER/TOOL or SERVER/*")]
    ServerTool(String),
}

impl Pattern {
    /// Parses a pattern of this action.
    pub fn of(action: Action, text: &str) -> Result<Self, InvalidPattern> {
        match action {
            Action::Read | Action::Write => PathPattern::new(text).map(Self::Path),
            Action::Run => CommandPattern::new(text).map(Self::Command),
            Action::Network => HostPattern::new(text).map(Self::Host),
            Action::Mcp => ServerToolPattern::new(text).map(Self::ServerTool),
        }
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path(pattern) => pattern.fmt(f),
            Self::Command(pattern) => pattern.fmt(f),
            Self::Host(pattern) => pattern.fmt(f),
            Self::ServerTool(pattern) => pattern.fmt(f),
        }
    }
}
