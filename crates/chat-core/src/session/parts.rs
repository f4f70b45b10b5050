//! What a session is made of. Each part owns its state and changes it at once, behind the session's lock,
//! and returns the events to send. None of them knows the session, the store or whoever watches,
//! waits for anything or translates.

pub(crate) mod last_usage;
pub(crate) mod pending_approvals;
pub(crate) mod permission_rules;
pub(crate) mod queue;
pub(crate) mod steering;
pub(crate) mod title;
pub(crate) mod todos;
pub(crate) mod tool_calls;
pub(crate) mod transcript;
pub(crate) mod turns;
pub(crate) mod watchers;
