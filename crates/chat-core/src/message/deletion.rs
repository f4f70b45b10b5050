//! Defines what is deleted of a session's messages.

use super::MessageId;

/// How much of a session is deleted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteScope {
    /// A reply with its tool calls, or a message of the user's with the replies to it. What was said after
    /// that stays.
    Message,
    /// The same, and all that came after it.
    Branch,
}

/// Messages that were deleted, with what it takes to bring them back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeletedMessages {
    /// Which, the one that was named first.
    pub messages: Vec<MessageId>,
    /// How many of them people see: the user's, and each reply once, with all its rounds of tools.
    pub shown: usize,
    /// The end of the branch that was shown before; none of those from the trash, which does not know it.
    pub(crate) head: Option<MessageId>,
    /// The end of the branch that is shown since then.
    pub(crate) new_head: Option<MessageId>,
}
