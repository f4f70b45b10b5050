//! Defines why an MCP server did not give what the user asked it for.

use serde::{Deserialize, Serialize};

/// What a server did not give, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerFailure {
    /// The server's name.
    pub server: String,
    /// What it was asked for.
    pub item: ServerItem,
    /// Why it was not given.
    pub why: ServerFault,
}

/// What a server was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerItem {
    /// What it has.
    List,
    /// The resource with this URI.
    Resource(String),
    /// The prompt of this name.
    Prompt(String),
}

/// Why it was not given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServerFault {
    /// No server of this name is in use.
    Unknown,
    /// It does not run, or cannot be reached.
    NotConnected,
    /// It did not answer in time.
    TimedOut,
    /// It wants the user to sign in.
    SignIn,
    /// It refused.
    Refused {
        /// What it says about that, which is data.
        message: String,
    },
    /// It sent something that cannot be understood.
    Invalid,
    /// It sent more than is taken.
    TooLarge,
    /// There is nothing in it that can be attached.
    Empty,
    /// A prompt needs this argument.
    ArgumentMissing {
        /// Its name.
        argument: String,
    },
}

impl ServerFailure {
    /// What happened, for a model: in English.
    pub(super) fn for_model(&self) -> String {
        let Self { server, why, .. } = self;
        match why {
            ServerFault::Unknown => format!("There is no MCP server “{server}”."),
            ServerFault::NotConnected => format!("The MCP server “{server}” is not connected."),
            ServerFault::TimedOut => format!("The MCP server “{server}” did not answer in time."),
            ServerFault::SignIn => format!("The MCP server “{server}” wants the user to sign in."),
            ServerFault::Refused { .. } => {
                format!("The MCP server “{server}” refused the request.")
            }
            ServerFault::Invalid => {
                format!("The MCP server “{server}” sent something that could not be read.")
            }
            ServerFault::TooLarge => format!("The MCP server “{server}” sent too much."),
            ServerFault::Empty => format!("The MCP server “{server}” sent nothing."),
            ServerFault::ArgumentMissing { argument } => {
                format!("The prompt of the MCP server “{server}” needs the argument “{argument}”.")
            }
        }
    }
}
