//! Defines why an MCP server did not give what the user asked it for.

use serde::{Deserialize, Serialize};

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

impl ServerFault {
    /// What happened, for a model: in English.
    pub(super) fn for_model(&self, server: &str) -> String {
        match self {
            Self::Unknown => format!("There is no MCP server “{server}”."),
            Self::NotConnected => format!("The MCP server “{server}” is not connected."),
            Self::TimedOut => format!("The MCP server “{server}” did not answer in time."),
            Self::SignIn => format!("The MCP server “{server}” wants the user to sign in."),
            Self::Refused { .. } => format!("The MCP server “{server}” refused the request."),
            Self::Invalid => {
                format!("The MCP server “{server}” sent something that could not be read.")
            }
            Self::TooLarge => format!("The MCP server “{server}” sent too much."),
            Self::Empty => format!("The MCP server “{server}” sent nothing."),
            Self::ArgumentMissing { argument } => {
                format!("The prompt of the MCP server “{server}” needs the argument “{argument}”.")
            }
        }
    }
}
