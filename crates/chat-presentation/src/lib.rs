//! Presents the engine to people, for both the window and the terminal: sentences, logs,
//! diagnostics.
//!
//! The engine speaks in kinds; here they become translated sentences, and the advice what a person
//! can do. Neither program has its own words for what both say.

pub mod diagnostics;
pub mod fuzzy;
pub mod i18n;
pub mod log;
pub mod search_words;
pub mod slash_commands;
pub mod words;
