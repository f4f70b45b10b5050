//! Runs the commands about background commands: `/commands`, `/end`.

use std::time::Duration;

use chat_core::message::BackgroundCommand;
use chat_presentation::words;
use jiff::Timestamp;

use super::Conversation;
use crate::error::{CliError, Result};
use crate::say;

impl Conversation<'_> {
    /// Lists the background commands of this chat.
    pub(super) fn commands(&self) {
        let session = self.request.session.as_ref();
        let commands =
            session.map(|fid| self.program.manager.commands().list(fid)).unwrap_or_default();
        if commands.is_empty() {
            self.remark(&say::no_commands());
        }
        for command in &commands {
            self.remark(&line(command, Timestamp::now()));
        }
    }

    /// Ends a background command.
    pub(super) async fn end(&self, id: &str) -> Result<()> {
        let ended = match &self.request.session {
            Some(fid) => self.program.manager.commands().end(fid, id).await?,
            None => false,
        };
        if !ended {
            return Err(CliError::Said(say::no_such_command(id)));
        }
        self.remark(&say::command_ended(id));
        Ok(())
    }
}

/// Formats a command as a line of text.
fn line(command: &BackgroundCommand, now: Timestamp) -> String {
    let BackgroundCommand { id, command, since, bytes } = command;
    let ran = Duration::try_from(now.duration_since(*since)).unwrap_or_default();
    let (ran, wrote) = (words::short_time(ran), words::bytes(*bytes));
    format!("{id}  {}  {ran}  {wrote}", words::one_line(command))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_stands_in_one_line() {
        let command = BackgroundCommand {
            id: "out2".to_owned(),
            command: "npm run dev\n# and wait".to_owned(),
            since: Timestamp::UNIX_EPOCH,
            bytes: 2_000,
        };
        let now = Timestamp::from_second(65).unwrap();
        let line = line(&command, now);
        assert!(line.starts_with("out2  npm run dev"), "{line}");
        assert!(!line.contains('\n') && line.contains("1 min 5 s"), "{line}");
    }
}
