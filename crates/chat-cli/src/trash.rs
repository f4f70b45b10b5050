//! Runs `natter-cli trash`: deleted chats, until they are gone for good.

use std::fmt::Write as _;

use chat_core::message::Fid;
use chat_core::store::TrashedSession;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::args::Trash;
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::keyboard::take_typed;
use crate::output::line_of;
use crate::say;
use crate::sessions::{self, answer};
use crate::terminal;

/// Runs the requested action on the trash.
pub async fn run(action: Option<Trash>, json: bool, program: &Program) -> Result<Outcome> {
    match action {
        None => list(None, json, program).await,
        Some(Trash::List { json }) => list(None, json, program).await,
        Some(Trash::Restore { fid }) => restore(fid, program).await,
        Some(Trash::Delete { fid, yes }) => {
            let wanted = fid.into_iter().map(Fid::new).collect();
            delete(wanted, yes, program).await
        }
        Some(Trash::Empty { yes }) => {
            let trash = program.manager.sessions().trash().await?;
            if trash.is_empty() {
                remark(&say::trash_is_empty());
                return Ok(Outcome::Done);
            }
            delete(trash.into_iter().map(|it| it.meta.fid).collect(), yes, program).await
        }
    }
}

/// A deleted chat as JSON.
#[derive(Serialize)]
struct View<'a> {
    #[serde(flatten)]
    chat: sessions::View<'a>,
    deleted: Timestamp,
    /// How many agents were deleted with it.
    agents: u32,
}

/// Lists deleted chats, last deleted first.
pub async fn list(limit: Option<usize>, json: bool, program: &Program) -> Result<Outcome> {
    let mut trash = program.manager.sessions().trash().await?;
    trash.truncate(limit.unwrap_or(usize::MAX));
    if trash.is_empty() && !json {
        remark(&say::trash_is_empty());
    }
    let mut out = String::new();
    for TrashedSession { meta, deleted, agents } in trash {
        let session = meta.into();
        if json {
            let chat = sessions::View::new(&session);
            out.push_str(&line_of(&View { chat, deleted, agents }));
            continue;
        }
        let time = deleted.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M");
        let title = program.terminal.clean_output(&session.title);
        // Writing into a string cannot fail.
        let _ = writeln!(out, "{:21}  {time}  {title}", session.fid.as_str());
    }
    program.output.print(out).await?;
    Ok(Outcome::Done)
}

async fn restore(fids: Vec<String>, program: &Program) -> Result<Outcome> {
    let sessions = program.manager.sessions();
    for fid in fids.into_iter().map(Fid::new) {
        let trash = sessions.trash().await?;
        let trashed = trash.iter().find(|it| it.meta.fid == fid);
        sessions.restore(&fid).await?;
        if let Some(trashed) = trashed {
            remark(&say::restored_chat(&trashed.meta.title));
        }
    }
    Ok(Outcome::Done)
}

/// Deletes chats for good. Asks once; if nobody can be asked, `--yes` is required.
async fn delete(fids: Vec<Fid>, yes: bool, program: &Program) -> Result<Outcome> {
    if !yes && !program.terminal.input {
        return Err(CliError::Said(say::nobody_to_ask()));
    }
    if !yes {
        // What was typed before the question does not answer it.
        take_typed();
        terminal::say(&say::ask_delete_for_good(fids.len()));
        if !answer().await? {
            remark(&say::not_deleted());
            return Ok(Outcome::Failed);
        }
    }
    program.manager.sessions().delete_for_good(fids).await?;
    Ok(Outcome::Done)
}

fn remark(words: &str) {
    terminal::say(&format!("{}\n", terminal::clean(words)));
}
