//! Models on this machine: which there are, what they are, and where more come from.

mod facts;
mod index;
mod library;
mod name;

pub use facts::{Facts, Memory};
pub use library::{Installed, Library, LibraryChanges, Source};

/// The name of the connection that the built-in engine is.
pub const CONNECTION: &str = "On this computer";
