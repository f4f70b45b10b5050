//! Defines the commands for connections.

use std::path::PathBuf;

use chat_core::settings::ConnectionKind;
use clap::{Args, Subcommand};

use super::values::{kind_parser, parse_header, parse_header_variable};

/// What to do with connections.
#[derive(Debug, Subcommand)]
pub enum Connections {
    /// List connections
    List {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Add a connection to a server: a known one by its name (see presets), or any other with --url
    Add(Box<AddConnection>),
    /// List the servers that can be added by name
    Presets {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
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

/// A connection to add.
#[derive(Debug, Args)]
pub struct AddConnection {
    /// A known server, such as openai; with --url, a name for the connection, without a slash
    pub name: String,
    /// Its address
    #[arg(
        long,
        help = "The server’s address, such as http://127.0.0.1:11434 or https://openrouter.ai/api/v1"
    )]
    pub url: Option<String>,
    /// The protocol; detected by default
    #[arg(long, value_parser = kind_parser())]
    pub kind: Option<ConnectionKind>,
    /// Another name for the connection to a known server
    #[arg(long = "name", value_name = "NAME")]
    pub other_name: Option<String>,
    /// Read the key from standard input and store it in the keyring
    #[arg(long, conflicts_with = "key_env")]
    pub key_stdin: bool,
    /// Read the key from this environment variable each time
    #[arg(long, value_name = "VARIABLE")]
    pub key_env: Option<String>,
    /// A model that the server has but doesn’t list; can be used several times
    #[arg(long = "model", value_name = "MODEL")]
    pub models: Vec<String>,
    /// A header of each request, such as "X-Team: blue", stored in the settings file; can be used several
    /// times
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = parse_header)]
    pub headers: Vec<(String, String)>,
    /// A header whose value is read from an environment variable each time; can be used several times
    #[arg(long = "header-env", value_name = "NAME=VARIABLE", value_parser = parse_header_variable)]
    pub header_variables: Vec<(String, String)>,
    /// The proxy for this server, or none
    #[arg(
        long,
        value_name = "URL",
        help = "The proxy for this server, such as http://proxy:3128 or socks5://127.0.0.1:1080, or none"
    )]
    pub proxy: Option<String>,
    /// A PEM file with certificates to trust for this server
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}
