//! What a source file defines: its functions, types and headings, with the lines that they take.
//!
//! Parsed by tree-sitter, which takes broken and half-written files as they are. A pure function of
//! the text: nothing is read, and nothing is kept.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod language;
mod outline;
mod symbol;

pub use language::Language;
pub use outline::{Error, outline};
pub use symbol::{Kind, Symbol};
