//! Defines a message that is to be sent, with the command that it begins with.

use std::path::Path;

use chat_core::definitions::Definitions;
use chat_presentation::slash_commands::{FrontEnd, SlashCommand, SlashCommands, Typed};

use crate::engine::Program;
use crate::error::Result;

/// The commands of a project, with the prompts of its servers. The server whose prompt a text begins with is asked for
/// these.
pub async fn commands(
    definitions: &Definitions,
    project: Option<&Path>,
    text: &str,
    program: &Program,
) -> Result<SlashCommands> {
    program.servers.refresh(project).await;
    let servers = program.manager.server_content();
    let known = || {
        let commands = SlashCommands::new(definitions, FrontEnd::Terminal);
        commands.with_servers(&servers.known(project))
    };
    let commands = known();
    let Some(server) = commands.unasked(text) else { return Ok(commands) };
    servers.ask(project, server).await?;
    Ok(known())
}

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
