//! Decides what a model's tools may do, and what must be asked: rules, modes, and the policy, a
//! pure function `(rules, mode, request) -> decision`.
//!
//! Nothing that a model says is trusted. Paths are resolved on disk before they are judged
//! ([`path::Project::resolve`]) and opened without following links when they are used
//! ([`path::Project::open_file`] and similar functions), so that nothing can be swapped in between.
//! Shell commands are split by a shell parser ([`command::parse`]) and every part is judged. What a
//! command does once it runs is confined only by the sandbox, which is another crate.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

pub mod command;
mod mode;
pub mod path;
pub mod pattern;
mod policy;
pub mod reach;
mod request;
mod rule;
mod secrets;

pub use mode::{Mode, UnknownMode};
pub use path::ResolvedPath;
pub use pattern::Pattern;
pub use policy::{Decision, Why, covers, decide, decide_all};
pub use request::{Redirected, Request, Run, Target, ToolApproval};
pub use rule::{Action, Effect, Entry, InvalidRule, Rule, Scope};
pub use secrets::{InvalidSecretFiles, SecretFiles};
