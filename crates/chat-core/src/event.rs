//! What the Manager tells its subscribers.

mod kinds;
mod mailbox;

pub use kinds::{
    ConnectionState, Event, Failure, Health, ModelEntry, Queued, SessionPlaceholder, Snapshot,
    Stage, Status, StopReason, TextKind,
};
pub use mailbox::Subscription;
