//! Defines what a card says about how a reply ended.

use chat_core::error::Error;
use chat_core::message::Ending;

/// What a card says.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// How the message ended.
    pub ending: Ending,
    /// What went wrong.
    pub error: Option<Error>,
    /// Whether something can be done about it: only about the last reply.
    pub last: bool,
    /// Whether the reply holds anything that could be continued.
    pub continues: bool,
}
