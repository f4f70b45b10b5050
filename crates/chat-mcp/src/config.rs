//! Reads and writes the file that lists the user's servers, and reads those of projects.
//!
//! The form is the one that other programs use: an object `mcpServers` with a server for each name, with comments and
//! trailing commas if a person likes them. What only Natter knows of a server stands in its key `natter`.
//!
//! One broken server hides no other: [`McpConfig`] has those that can be used, and a [`Problem`] for each thing that is
//! wrong. Secrets stand in the file as references ([`Template`]), which are replaced only when a server starts.

mod edit;
mod entries;
mod expand;
mod fields;
mod file;
mod json;
mod name;
mod options;
mod problem;
mod project;
mod reading;
mod real_path;
mod server;
mod summary;
mod template;
mod transport;

pub use expand::{
    ExpandError, ResolvedEndpoint, ResolvedProgram, ResolvedServer, Resolver, SecretText,
    Unresolved,
};
pub use file::{Change, ConfigFile, FileVersion, WriteError};
pub use name::{LONGEST_NAME, clean_name, is_name};
pub use problem::{Problem, ProblemKind};
pub use project::{PROJECT_FILE, read_project};
pub use reading::{LARGEST_FILE, MOST_SERVERS, McpConfig};
pub use server::{HttpServer, Server, ServerConfig, ServerOptions, StdioServer, Transport};
pub use summary::{PathBase, StartAction, StartSummary};
pub use template::{InvalidReference, Reference, Template, is_secret_name};

pub(crate) use file::read_limited;
pub(crate) use json::{Lines, key, parse_root, text_of};
pub(crate) use problem::quoted;
pub(crate) use reading::{Reader, SERVERS, SERVERS_OF_VS_CODE};
pub(crate) use real_path::BadFolder;
pub(crate) use transport::{is_reserved_header, keys as server_keys};
