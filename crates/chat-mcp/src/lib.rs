//! Knows which servers of the Model Context Protocol the user has, and what each would start.
//!
//! [`config`] reads and writes `mcp.json`, and reads the `.mcp.json` of projects. [`import`] reads what other programs
//! keep, and what a user pastes. [`draft`] makes a server of a form that a user fills in. [`http`] reaches servers at an address, and [`oauth`] signs in to them.
//!
//! Nothing here is for the eyes of users: [`config::Problem`]s are kinds, which front ends put into words. Reading blocks.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod client;
pub mod config;
pub mod connection;
pub mod draft;
pub mod form;
pub mod http;
pub mod import;
pub mod keys;
pub mod oauth;
pub mod servers;
pub mod tools;
pub mod transport;
