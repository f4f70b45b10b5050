//! Finds messages of a chat by what the user calls them.

use std::sync::Arc;

use chat_core::message::{Fid, Message, Role};

use crate::engine::Program;
use crate::error::{CliError, Result};
use crate::say;
use crate::show::numbers;

/// The messages that a chat shows, with their numbers.
pub(super) struct Transcript {
    messages: Vec<Arc<Message>>,
    numbers: Vec<Option<usize>>,
}

impl Transcript {
    /// Reads those of a chat.
    pub(super) async fn read(fid: &Fid, program: &Program) -> Result<Self> {
        let messages = program.manager.sessions().transcript(fid).await?;
        Ok(Self { numbers: numbers(&messages), messages })
    }

    /// The message with this number, as in `show`, or id.
    ///
    /// # Errors
    /// A sentence where there is none.
    pub(super) fn find(&self, given: &str) -> Result<&Arc<Message>> {
        let at = match given.strip_prefix('#').unwrap_or(given).parse::<usize>() {
            Ok(number) => self.numbers.iter().position(|it| *it == Some(number)),
            Err(_) => self.messages.iter().position(|it| is_id(it, given)),
        };
        at.map(|at| &self.messages[at]).ok_or_else(|| CliError::Said(say::no_message(given)))
    }

    /// The messages with their numbers, those without one left out.
    pub(super) fn numbered(&self) -> impl Iterator<Item = (usize, &Arc<Message>)> {
        let all = self.numbers.iter().zip(&self.messages);
        all.filter_map(|(number, message)| Some(((*number)?, message)))
    }

    /// The last message that somebody said.
    pub(super) fn last(&self) -> Option<&Arc<Message>> {
        self.messages.iter().rfind(|it| !matches!(it.role, Role::System | Role::Ui))
    }

    /// The reply to the last message of the user's.
    pub(super) fn last_reply(&self) -> Option<&Arc<Message>> {
        self.last().filter(|last| matches!(last.role, Role::Assistant | Role::Tool))
    }
}

fn is_id(message: &Message, given: &str) -> bool {
    message.id.to_string().eq_ignore_ascii_case(given)
}
