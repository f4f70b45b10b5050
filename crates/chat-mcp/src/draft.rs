//! Describes a server while a person fills in a form about it: texts as they were typed, what is wrong with them, and the
//! server that they make.
//!
//! What a form does not know of a server stays as it is ([`ServerDraft::finish`]).

mod command_line;
mod finish;
mod folders;
mod judge;
mod pair;

use std::fmt;

use crate::config::{ProblemKind, Server, ServerOptions, Template, Transport};

pub use self::command_line::{join_command, split_command};
pub use self::finish::FinishedServer;
pub use self::pair::DraftPair;

/// How a server is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum DraftKind {
    /// A program on this computer.
    #[default]
    Program,
    /// An address.
    Address,
}

/// A server as a form has it. Its `Debug` shows nothing of it, since secrets may have been typed.
#[derive(Clone, PartialEq, Eq)]
pub struct ServerDraft {
    /// Its name.
    pub name: String,
    /// How it is reached. What the form has for the other kind is not used.
    pub kind: DraftKind,
    /// The program and its arguments in one line, with quotes as in a shell.
    pub command: String,
    /// The folder in which the program starts; empty if it is not set.
    pub working_folder: String,
    /// Variables of the program's environment.
    pub variables: Vec<DraftPair>,
    /// The address.
    pub url: String,
    /// Headers of each request to the address.
    pub headers: Vec<DraftPair>,
    /// Whether the program runs in the sandbox. If not, what the form has for the sandbox is not used.
    pub sandbox: bool,
    /// Whether a program in the sandbox has the network.
    pub network: bool,
    /// Folders that a program in the sandbox may change.
    pub folders: Vec<String>,
    /// Folders that it may read.
    pub read_folders: Vec<String>,
}

/// A part of the form that can be filled in wrongly.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DraftField {
    /// The name.
    Name,
    /// The program with its arguments.
    Command,
    /// The folder in which the program starts.
    WorkingFolder,
    /// The variables.
    Variables,
    /// The address.
    Address,
    /// The headers.
    Headers,
    /// The folders that may be changed.
    Folders,
    /// The folders that may be read.
    ReadFolders,
}

/// What is wrong with a part of the form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DraftProblem {
    /// It must be filled in, and is not yet.
    Missing,
    /// A quotation mark is opened and not closed.
    OpenQuote,
    /// A variable or a header has a value and no name.
    Unnamed,
    /// Another server has this name.
    NameTaken {
        /// The name.
        name: String,
    },
    /// The file could not have it.
    Invalid(ProblemKind),
}

impl Default for ServerDraft {
    fn default() -> Self {
        let ServerOptions { sandbox, network, .. } = ServerOptions::default();
        Self {
            name: String::new(),
            kind: DraftKind::default(),
            command: String::new(),
            working_folder: String::new(),
            variables: Vec::new(),
            url: String::new(),
            headers: Vec::new(),
            sandbox,
            network,
            folders: Vec::new(),
            read_folders: Vec::new(),
        }
    }
}

impl fmt::Debug for ServerDraft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerDraft").finish_non_exhaustive()
    }
}

impl ServerDraft {
    /// The form about a server that there is.
    pub fn of(server: &Server) -> Self {
        let options = &server.config.options;
        let draft = Self {
            name: server.name.clone(),
            sandbox: options.sandbox,
            network: options.network,
            folders: options.folders.clone(),
            read_folders: options.read_folders.clone(),
            ..Self::default()
        };
        let pairs = |(name, value): (&String, &Template)| DraftPair::of(name, value);
        match &server.config.transport {
            Transport::Stdio(program) => {
                let words = std::iter::once(&program.command).chain(&program.args);
                Self {
                    command: join_command(words.map(Template::source)),
                    working_folder: program.cwd.clone().unwrap_or_default(),
                    variables: program.env.iter().map(pairs).collect(),
                    ..draft
                }
            }
            Transport::Http(address) => Self {
                kind: DraftKind::Address,
                url: address.url.source().to_owned(),
                headers: address.headers.iter().map(pairs).collect(),
                ..draft
            },
        }
    }
}

#[cfg(test)]
mod tests;
