//! One conversation, the only owner of its transcript.

mod empty;

pub use empty::EmptySession;
