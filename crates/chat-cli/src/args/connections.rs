//! Defines the commands for connections.

use chat_core::settings::ConnectionKind;
use clap::Subcommand;

use super::values::kind_parser;

/// What to do with connections.
#[derive(Debug, Subcommand)]
pub enum Connections {
    /// List connections
    List {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Add a connection to a server
    Add {
        /// A name for the connection, without a slash
        name: String,
        /// Its address
        #[arg(
            long,
            help = "The server’s address, such as http://127.0.0.1:11434 or https://openrouter.ai/api/v1"
        )]
        url: String,
        /// The protocol; detected by default
        #[arg(long, value_parser = kind_parser())]
        kind: Option<ConnectionKind>,
        /// Read the key from standard input and store it in the keyring
        #[arg(long, conflicts_with = "key_env")]
        key_stdin: bool,
        /// Read the key from this environment variable each time
        #[arg(long, value_name = "VARIABLE")]
        key_env: Option<String>,
        /// A model that the server has but doesn’t list; can be used several times
        #[arg(long = "model", value_name = "MODEL")]
        models: Vec<String>,
    },
    /// Change the key of a connection: typed at a hidden prompt, or one line of standard input
    Key {
        /// Name of the connection
        name: String,
        /// Read the key from this environment variable each time
        #[arg(long, value_name = "VARIABLE", conflicts_with = "remove")]
        env: Option<String>,
        /// Remove the key
        #[arg(long)]
        remove: bool,
    },
    /// Test a connection and list its models
    Test {
        /// Name of the connection
        name: String,
    },
    /// Remove a connection and its key
    Remove {
        /// Name of the connection
        name: String,
    },
}
