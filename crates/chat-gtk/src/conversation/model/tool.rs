//! Defines the state of a tool call, and the texts and places that its card shows.

pub mod details;
pub mod location;
pub mod state;
