//! Attaches the text of commands, skills and prompts to messages.

use std::fmt::Write;
use std::sync::Arc;

use chat_core::definitions::{CommandDefinition, Skill};
use chat_core::error::{Kind, Result};
use chat_core::manager::{Manager, PromptContent};
use chat_core::message::{Attachment, ChatRequest, CommandText};

use super::{CommandKind, ServerPrompt, SlashCommand};

/// Attaches to a message what the command stands for with which it begins, and has it go to the agent and the model
/// that the command names. The chat stays with them, as if the user had chosen them.
///
/// # Errors
/// `SkillUnreadable`, `ServerContext`, and what [`Models::find`](chat_core::manager::Models::find) says of the model.
pub async fn attach(
    manager: &Manager,
    command: &SlashCommand,
    arguments: &str,
    request: &mut ChatRequest,
) -> Result<()> {
    let text = match &command.kind {
        CommandKind::BuiltIn(_) | CommandKind::Server => return Ok(()),
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
        CommandKind::Prompt(prompt) => of_prompt(manager, prompt, arguments, request).await?,
    };
    let command = CommandText { name: command.name.clone(), text };
    request.content.attachments.retain(|other| !matches!(other, Attachment::Command(_)));
    request.content.attachments.push(Attachment::Command(command));
    Ok(())
}

/// The text of a prompt. Its pictures are attached to the message.
async fn of_prompt(
    manager: &Manager,
    prompt: &ServerPrompt,
    arguments: &str,
    request: &mut ChatRequest,
) -> Result<String> {
    let values = prompt.values(arguments);
    if let Some(argument) = prompt.missing(&values) {
        return Err(prompt.argument_missing(argument).into());
    }
    let ServerPrompt { server, prompt } = prompt;
    let servers = manager.server_content();
    let PromptContent { text, pictures } =
        servers.prompt(request, server, &prompt.name, values).await?;
    for picture in pictures {
        // Of a message that is edited, they are there already.
        if !request.content.attachments.contains(&picture) {
            request.content.attachments.push(picture);
        }
    }
    Ok(text)
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
