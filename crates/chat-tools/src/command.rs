//! Holds what the tools for commands share.

mod background;
mod bounds;
mod ending;
mod plain;
mod tail;

pub use background::{Background, Commands};
pub use bounds::CommandBounds;
pub use ending::{exit_of, quarantined, told};
pub use plain::plain;
pub use tail::Tail;
