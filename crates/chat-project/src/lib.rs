//! Provides a project folder as the window, the agent and the terminal need it: its files and what
//! changes in them ([`Files`]), finding among them ([`search()`]) and in them ([`symbols()`]), git's
//! state ([`git`]), the project's rules ([`rules()`]), and the reading and writing of one file
//! ([`document`]).
//!
//! What lies in a project is data that anybody may have put there: no link is followed out of it, no program that
//! it names is run, nothing endless is read. All of this blocks: who has an event loop calls it from a thread.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod below;
pub mod document;
pub mod entries;
pub mod git;
pub mod ignored;
mod kinds;
mod letters;
mod program;
mod read;
mod rules;
mod search;
mod symbols;
pub mod text;
pub mod tree;
mod watch;

pub use below::below;
pub use kinds::kinds;
pub use program::program;
pub use rules::{Left, Rule, Rules, rules};
pub use search::{FileMatch, PreferredFiles, search};
pub use symbols::{SymbolMatch, definition_lines, symbols};
pub use tree::Tree;
pub use watch::{Event, Files, MAX_CHANGES, WatchError};
