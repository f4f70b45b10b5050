//! Computes what changed between two texts: lines, hunks, and the words inside changed lines.
//!
//! The same two texts always give the same result, however busy the machine is, since hunks are
//! named by it.

mod lines;
mod show;
mod unified;
mod words;

pub use lines::{Changed, changed, split};
pub use show::{Block, Diff, Ending, Kind, Line, Row};
pub use unified::unified;
pub use words::marked;

pub(crate) use lines::changed_items;
