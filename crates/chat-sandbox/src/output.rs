//! Keeps a command's output: live, as an excerpt for a model, and complete on disk. It is never
//! held in memory in full.

mod decoder;
mod excerpt;
mod follow;
mod spool;

pub use decoder::Decoder;
pub use excerpt::{Excerpt, Span};
pub(crate) use follow::Channel;
pub use follow::{Chunk, Follow};
pub use spool::{Keep, Part, Spool};

/// One of a command's two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}
