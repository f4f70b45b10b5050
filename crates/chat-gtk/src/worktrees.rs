//! Shows worktrees: a dialog that creates one for a new chat, and one that lists and finishes them.

mod actions;
mod details;
mod dialog;
mod list;
mod new_chat;
mod question;
mod sentences;
#[cfg(test)]
mod test_project;

pub(crate) use dialog::open;
pub(crate) use new_chat::{Outcome as NewChatOutcome, ask as ask_for_new_chat};
pub(crate) use sentences::{left_out, left_over};
