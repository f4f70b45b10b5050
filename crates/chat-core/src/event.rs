//! Defines the events that the Manager sends to its subscribers.

mod kinds;
mod mailbox;
mod session;

pub use kinds::{
    AgentActivity, CallState, ConnectionState, Event, Failure, Health, ModelEntry, OpenCall,
    SessionApproval, SessionPlaceholder, Snapshot, Stage, Status, StopReason,
};
pub use mailbox::Subscription;
pub use session::SessionEvent;

pub use crate::chat::TextKind;
pub use crate::message::Queued;
pub(crate) use mailbox::{Growth, Hub, Mailbox};
