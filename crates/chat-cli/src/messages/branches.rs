//! Runs `natter-cli branches`: which messages have other versions, and which of these is shown.

use std::fmt::Write as _;

use chat_core::message::{Fid, MessageId, Role};
use chat_presentation::words::one_line;
use serde::Serialize;

use crate::engine::Program;
use crate::error::{Outcome, Result};
use crate::output::line_of;
use crate::say;
use crate::terminal;

use super::named::Transcript;

/// A message with other versions, as JSON.
#[derive(Serialize)]
struct View {
    number: usize,
    role: Role,
    /// The text of the version that is shown.
    text: String,
    shown: String,
    /// The ids of all versions, the oldest first.
    versions: Vec<String>,
}

/// Lists the messages of the shown branch that have other versions.
pub(super) async fn list(fid: &Fid, json: bool, program: &Program) -> Result<Outcome> {
    let transcript = Transcript::read(fid, program).await?;
    let groups = program.manager.messages().branches(fid).await?;
    let mut out = String::new();
    for (number, message) in transcript.numbered() {
        let Some(group) = groups.iter().find(|group| group.contains(&message.id)) else { continue };
        if json {
            out.push_str(&line_of(&View {
                number,
                role: message.role,
                text: message.plain_text(),
                shown: message.id.to_string(),
                versions: group.iter().map(MessageId::to_string).collect(),
            }));
            continue;
        }
        let place = group.iter().position(|id| *id == message.id).unwrap_or_default() + 1;
        let text = one_line(&message.plain_text());
        let text = program.terminal.clean_output(&text);
        // Writing into a string cannot fail.
        let _ = writeln!(out, "#{number}  {place}/{}  {text}", group.len());
        for id in group {
            let mark = if *id == message.id { '*' } else { ' ' };
            let _ = writeln!(out, "  {mark} {id}");
        }
    }
    if out.is_empty() && !json {
        terminal::say(&format!("{}\n", say::no_branches()));
    }
    program.output.print(out).await?;
    Ok(Outcome::Done)
}

/// Shows the branch with this message.
pub(super) async fn show(fid: &Fid, given: &str, program: &Program) -> Result<Outcome> {
    let groups = program.manager.messages().branches(fid).await?;
    let all = groups.iter().flatten();
    let other = all.copied().find(|id| id.to_string().eq_ignore_ascii_case(given));
    let message = match other {
        Some(id) => id,
        None => Transcript::read(fid, program).await?.find(given)?.id,
    };
    program.manager.messages().show_branch(fid, message).await?;
    Ok(Outcome::Done)
}
