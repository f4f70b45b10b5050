//! Runs the commands on single messages: `edit`, `regenerate`, `branches`, `fork`, `resume`, and `delete --message`.

mod branches;
mod named;

use chat_core::error::Kind;
use chat_core::manager;
use chat_core::message::{Attachment, DeleteScope, Ending, Fid, Role};
use chat_presentation::words::one_line;
use serde::Serialize;

use crate::args::{Edit, Messages, Regenerate, Request};
use crate::ask;
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::keyboard::take_typed;
use crate::output::line_of;
use crate::request;
use crate::say;
use crate::sessions::answer;
use crate::terminal;
use crate::turn::Beginning;

use named::Transcript;

/// Runs a command on the messages of a chat.
pub async fn run(action: Messages, program: &Program) -> Result<Outcome> {
    match action {
        Messages::Edit(args) => {
            let (json, names_agent) = (args.request.json, args.request.agent.is_some());
            Box::pin(ask::answer(edit(*args, program), json, names_agent, program)).await
        }
        Messages::Regenerate(args) => {
            let (json, names_agent) = (args.json, args.agent.is_some());
            Box::pin(ask::answer(regenerate(args, program), json, names_agent, program)).await
        }
        Messages::Resume { fid, json } => {
            Box::pin(ask::answer(resume(&fid, program), json, false, program)).await
        }
        Messages::Branches { fid, show: Some(message), .. } => {
            branches::show(&Fid::new(fid), &message, program).await
        }
        Messages::Branches { fid, show: None, json } => {
            branches::list(&Fid::new(fid), json, program).await
        }
        Messages::Fork { fid, message, json } => {
            fork(&Fid::new(fid), message.as_deref(), json, program).await
        }
    }
}

/// Reads another version of a message. What was attached to the old one stays attached, unless the new text
/// mentions it again.
async fn edit(args: Edit, program: &Program) -> Result<Beginning> {
    let fid = Fid::new(args.fid.clone());
    let transcript = Transcript::read(&fid, program).await?;
    let edited = transcript.find(&args.message)?;
    if !edited.is_of_user() {
        return Err(CliError::Said(say::not_yours(&args.message)));
    }
    let message = edited.id;
    let old = program.manager.messages().content(&fid, message).await?;
    let options = Request { session: Some(args.fid), ..args.request };
    let mut request = ask::make(&options, args.text, program).await?;
    let words = program.manager.context().at_words(&request, &request.content.text).await?;
    let stays = |attachment: &Attachment| match attachment {
        Attachment::File { name, .. } => words.mentions.iter().all(|word| word.name != *name),
        // The new text may begin with another command, or with none.
        Attachment::Command(_) => false,
        Attachment::Image { .. } => true,
    };
    let kept: Vec<_> = old.attachments.into_iter().filter(stays).collect();
    request.content.attachments.splice(0..0, kept);
    Ok(Beginning::Edit { fid, message, request })
}

/// Finds the reply that is to be written again.
async fn regenerate(args: Regenerate, program: &Program) -> Result<Beginning> {
    let fid = Fid::new(args.fid.clone());
    let transcript = Transcript::read(&fid, program).await?;
    let reply = match &args.message {
        Some(given) => {
            let reply = transcript.find(given)?;
            if !matches!(reply.role, Role::Assistant | Role::Tool) {
                return Err(CliError::Said(say::not_a_reply(given)));
            }
            Some(reply.id)
        }
        None => transcript.last_reply().map(|reply| reply.id),
    };
    let options = Request {
        session: Some(args.fid),
        model: args.model,
        agent: args.agent,
        thinking: args.thinking,
        ..Request::default()
    };
    let request = request::make(&options, program).await?;
    let (model, agent, thinking) = (request.model, request.agent, request.thinking);
    let with = manager::Regenerate { model, agent, thinking };
    if reply.is_none() && with != manager::Regenerate::default() {
        // Only a message can be sent with these.
        return Err(CliError::Said(say::no_reply()));
    }
    Ok(Beginning::Regenerate { fid, reply, with })
}

/// Checks that the last reply is one that can go on.
async fn resume(fid: &str, program: &Program) -> Result<Beginning> {
    let fid = Fid::new(fid);
    let transcript = Transcript::read(&fid, program).await?;
    let is_complete = transcript.last().is_none_or(|last| {
        last.role == Role::Assistant
            && last.ended == Some(Ending::Complete)
            && last.tool_calls().next().is_none()
    });
    if is_complete {
        return Err(CliError::Said(say::nothing_to_continue()));
    }
    Ok(Beginning::Resume { fid })
}

/// A new chat as JSON.
#[derive(Serialize)]
struct NewChat<'a> {
    fid: &'a str,
}

/// Begins a new chat with what was said in one, and prints its id.
async fn fork(fid: &Fid, given: Option<&str>, json: bool, program: &Program) -> Result<Outcome> {
    let transcript = Transcript::read(fid, program).await?;
    let at = match given {
        Some(given) => transcript.find(given)?.id,
        None => transcript.last().ok_or_else(|| CliError::Said(say::no_messages()))?.id,
    };
    let copy = match program.manager.messages().fork(fid, at).await {
        Err(error) if matches!(error.kind, Kind::NothingToSend) => {
            return Err(CliError::Said(say::still_writing()));
        }
        copy => copy?,
    };
    let line = if json { line_of(&NewChat { fid: copy.as_str() }) } else { format!("{copy}\n") };
    program.output.print(line).await?;
    Ok(Outcome::Done)
}

/// Deletes a message, or all from it on. Asks first; if nobody can be asked, `--yes` is required.
pub async fn delete(
    fid: &str,
    given: &str,
    branch: bool,
    yes: bool,
    program: &Program,
) -> Result<Outcome> {
    let fid = Fid::new(fid);
    let transcript = Transcript::read(&fid, program).await?;
    let message = transcript.find(given)?;
    if !yes && !program.terminal.input {
        return Err(CliError::Said(say::nobody_to_ask()));
    }
    if !yes {
        let text = one_line(&message.plain_text());
        let question = if branch {
            say::ask_delete_from(&text)
        } else if message.role == Role::User {
            say::ask_delete_message(&text)
        } else {
            say::ask_delete_reply(&text)
        };
        // What was typed before the question does not answer it.
        take_typed();
        terminal::say(&terminal::clean(&question));
        if !answer().await? {
            terminal::say(&format!("{}\n", say::not_deleted()));
            return Ok(Outcome::Failed);
        }
    }
    let scope = if branch { DeleteScope::Branch } else { DeleteScope::Message };
    let deleted = program.manager.messages().delete(&fid, message.id, scope).await?;
    // A temporary chat has no trash.
    if let Some(first) = deleted.messages.first().filter(|_| !fid.is_temporary()) {
        let words = say::deleted_messages(deleted.shown, &first.to_string());
        terminal::say(&format!("{words}\n"));
    }
    Ok(Outcome::Done)
}
