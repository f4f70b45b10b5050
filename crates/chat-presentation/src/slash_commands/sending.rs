//! Attaches the text of commands and skills to messages.

use std::fmt::Write;
use std::sync::Arc;

use chat_core::definitions::{CommandDefinition, Skill};
use chat_core::error::{Kind, Result};
use chat_core::manager::Manager;
use chat_core::message::{Attachment, ChatRequest, CommandText};

use super::{CommandKind, SlashCommand};

/// Attaches to a message what the command stands for with which it begins, and has it go to the agent and the model
/// that the command names. The chat stays with them, as if the user had chosen them.
///
/// # Errors
/// `SkillUnreadable`, and what [`Models::find`](chat_core::manager::Models::find) says of the model.
pub async fn attach(
    manager: &Manager,
    command: &SlashCommand,
    arguments: &str,
    request: &mut ChatRequest,
) -> Result<()> {
    let text = match &command.kind {
        CommandKind::BuiltIn(_) => return Ok(()),
        CommandKind::File(command) => {
            let CommandDefinition { agent, model, .. } = &**command;
            if let Some(model) = model {
                request.model = Some(manager.models().find(model).await?);
            }
            request.agent = agent.clone().or(request.agent.take());
            command.expand(arguments)
        }
        CommandKind::Skill(skill) => {
            let skill = Arc::clone(skill);
            let name = skill.name.clone();
            let reading = tokio::task::spawn_blocking(move || text_of(&skill));
            let text = reading.await.ok().flatten();
            text.ok_or(Kind::SkillUnreadable { name })?
        }
    };
    let command = CommandText { name: command.name.clone(), text };
    request.content.attachments.retain(|other| !matches!(other, Attachment::Command(_)));
    request.content.attachments.push(Attachment::Command(command));
    Ok(())
}

/// The text of a skill, and where its files are. Blocks. None if it cannot be read, or is not what the user trusted.
fn text_of(skill: &Skill) -> Option<String> {
    let mut text = skill.read_body().ok()?;
    if !skill.files.is_empty() {
        text.truncate(text.trim_end().len());
        let _ = write!(text, "\n\nThe files of this skill are in {}:\n", skill.folder().display());
        for file in &skill.files {
            let _ = writeln!(text, "- {}", file.display());
        }
    }
    Some(text)
}
