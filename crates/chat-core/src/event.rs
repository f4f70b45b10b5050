//! What the Manager tells its subscribers.

mod kinds;
mod live;
mod mailbox;

pub use kinds::{
    CallState, ConnectionState, Event, Failure, Health, ModelEntry, OpenCall, SessionPlaceholder,
    Snapshot, Stage, Status, StopReason, TextKind,
};
pub(crate) use live::LiveText;
pub use mailbox::Subscription;

pub use crate::message::Queued;
pub(crate) use mailbox::{Growth, Hub, Mailbox};
