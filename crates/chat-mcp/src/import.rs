//! Reads servers of other programs, and those that a user pastes.
//!
//! Nothing is changed and nothing is kept: a front end shows what was found, and adds what the user chooses
//! ([`Change::Add`](crate::config::Change::Add)).

mod foreign;
mod grants;
mod inputs;
mod ollmchat;
mod pasted;
mod secrets;
mod source;
mod variables;

pub use foreign::{ForeignServer, ForeignServers, RequestedInput};
pub use grants::RequestedGrants;
pub use pasted::read_pasted;
pub use secrets::{
    PlainSecret, SecretPlace, looks_secret, move_secret, names_secret, plain_secrets,
};
pub use source::{ImportFolders, ImportSource};

pub(crate) use inputs::rename_secret;
pub(crate) use secrets::{numbered, scheme};
