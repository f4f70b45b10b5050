//! What the Manager tells its subscribers.

mod kinds;
mod live;
mod mailbox;

pub use kinds::{
    ConnectionState, Event, Failure, Health, ModelEntry, SessionPlaceholder, Snapshot, Stage,
    Status, StopReason, TextKind,
};
pub(crate) use live::LiveText;
pub use mailbox::Subscription;

pub use crate::message::Queued;
pub(crate) use mailbox::{Growth, Hub, Mailbox};
