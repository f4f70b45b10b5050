//! Defines the commands for servers of tools.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueHint};

use super::values::{parse_header, parse_variable};

/// What to do with servers of tools.
#[derive(Debug, Subcommand)]
pub enum Mcp {
    /// List the servers
    List {
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Add a server: a program after --, or an address with --url
    Add(Box<AddServer>),
    /// Remove a server, with its secrets
    Remove {
        /// Name of the server
        name: String,
    },
    /// Start a server, and tell whether it works
    Test {
        /// Name of the server
        name: String,
    },
    /// Start a server, and list its tools
    Tools {
        /// Name of the server
        name: String,
        /// Print one JSON object per line
        #[arg(long)]
        json: bool,
    },
    /// Sign in to a server that wants that, in your browser
    SignIn {
        /// Name of the server
        name: String,
    },
    /// Show what the servers of a project would start, and trust them
    Trust {
        /// The project folder
        #[arg(value_name = "DIR", value_hint = ValueHint::DirPath, default_value = ".")]
        project: PathBuf,
        /// Trust them without asking
        #[arg(long, conflicts_with = "remove")]
        yes: bool,
        /// Stop trusting them
        #[arg(long)]
        remove: bool,
    },
}

/// A server to add.
#[derive(Debug, Args)]
pub struct AddServer {
    /// A name: up to 64 letters, digits, hyphens, underscores, periods, and @
    pub name: String,
    /// Its address
    #[arg(
        long,
        conflicts_with = "command",
        help = "The server’s address, such as https://issues.example/mcp"
    )]
    pub url: Option<String>,
    /// A header of each request, such as "Authorization: Bearer KEY"; a key goes to your keyring; can be used
    /// several times
    #[arg(long = "header", value_name = "NAME: VALUE", value_parser = parse_header, requires = "url")]
    pub headers: Vec<(String, String)>,
    /// A variable for the program; a key goes to your keyring; can be used several times
    #[arg(long = "env", value_name = "NAME=VALUE", value_parser = parse_variable, conflicts_with = "url")]
    pub variables: Vec<(String, String)>,
    /// Give the program network access
    #[arg(long, conflicts_with = "url")]
    pub network: bool,
    /// A folder that the program may change; can be used several times
    #[arg(long = "folder", value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "url")]
    pub folders: Vec<PathBuf>,
    /// A folder that the program may read; can be used several times
    #[arg(long = "read-folder", value_name = "DIR", value_hint = ValueHint::DirPath, conflicts_with = "url")]
    pub read_folders: Vec<PathBuf>,
    /// Run the program outside the sandbox, where it may do everything that you may
    #[arg(long, conflicts_with_all = ["url", "network", "folders", "read_folders"])]
    pub no_sandbox: bool,
    /// The program and its arguments
    #[arg(last = true, required_unless_present = "url", value_name = "COMMAND")]
    pub command: Vec<String>,
}
