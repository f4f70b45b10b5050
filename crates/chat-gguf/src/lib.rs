//! Reads the header of a GGUF file, the file format of llama.cpp's models, and verifies that the
//! file is whole: nothing of the model itself is loaded.
//!
//! A file comes from anywhere, so nothing that it says is believed: counts and lengths are held
//! against the file's size and fixed limits before anything is allocated. The format is described
//! in ggml's `docs/gguf.md`.

#![warn(missing_docs)]
#![cfg_attr(not(test), warn(clippy::unwrap_used))]

mod error;
mod facts;
mod header;
mod memory;
mod reader;
mod split;
mod tensor;
mod value;

#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "write"))]
pub mod write;

pub use error::Error;
pub use header::Header;
pub use split::parts;
