//! Records what a program did so that people can review it and two runs give the same text.
//!
//! Values that differ between runs (ids, times, ports, temporary folders, durations) become
//! placeholders. The same id gets the same placeholder everywhere in one recording, so that
//! relations stay visible.

mod json;
mod placeholders;
mod requests;

pub use json::indented;
pub use placeholders::Placeholders;
pub use requests::requests;
