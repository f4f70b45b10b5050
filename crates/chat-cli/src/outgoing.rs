//! Defines a message that is to be sent, with the command that it begins with.

use chat_presentation::slash_commands::{SlashCommand, SlashCommands, Typed};

/// A message that is to be sent.
#[derive(Debug)]
pub struct Outgoing {
    pub text: String,
    /// The command with which it begins, and its arguments.
    pub command: Option<(SlashCommand, String)>,
}

impl Outgoing {
    /// A text as it is.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), command: None }
    }

    /// A text that may begin with one of these commands.
    pub fn of(text: &str, commands: &SlashCommands) -> Self {
        match commands.read(text) {
            Typed::Command(command, arguments) => {
                let command = Some((command.clone(), arguments.to_owned()));
                Self { text: text.to_owned(), command }
            }
            Typed::Message(text) => Self::text(text),
            _ => Self::text(text),
        }
    }
}
