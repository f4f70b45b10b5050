//! Offers the tools of servers to models: under safe names, within bounds, each call permitted for itself.

mod approved;
mod change;
mod definition;
mod find;
mod names;
mod offer;
mod result;
mod server_tool;

pub use self::approved::Approved;
pub use self::definition::{Definition, Unusable};
pub use self::find::FIND_TOOLS;
pub(crate) use self::find::FindTools;
pub(crate) use self::names::prefixes;
pub(crate) use self::offer::{Offer, Offered, Share, choose};
pub(crate) use self::server_tool::{Called, ServerTool};
