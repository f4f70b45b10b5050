//! Defines what the command tools share.

mod background;
mod bounds;
mod ending;
mod left_overs;
mod plain;
mod repository;
mod tail;

pub use background::{Background, Commands};
pub use bounds::CommandBounds;
pub use ending::{exit_of, outcome, quarantined};
pub use left_overs::CommandLeftOvers;
pub use plain::plain;
pub use repository::git_access;
pub use tail::Tail;
