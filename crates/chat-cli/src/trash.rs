//! Runs `natter-cli trash`: deleted chats and messages, until they are gone for good.

use std::fmt::Write as _;

use chat_core::message::Fid;
use chat_core::store::{TrashedMessages, TrashedSession};
use chat_presentation::words;
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
        None => list_all(json, program).await,
        Some(Trash::List { json }) => list_all(json, program).await,
        Some(Trash::Restore { id }) => restore(id, program).await,
        Some(Trash::Delete { id, yes }) => {
            let going = Going::of(id, program).await?;
            delete(going, yes, program).await
        }
        Some(Trash::Empty { yes }) => {
            let chats = program.manager.sessions().trash().await?;
            let messages = program.manager.messages().trash().await?;
            if chats.is_empty() && messages.is_empty() {
                remark(&say::trash_is_empty());
                return Ok(Outcome::Done);
            }
            let chats = chats.into_iter().map(|it| it.meta.fid).collect();
            delete(Going { chats, messages }, yes, program).await
        }
    }
}

/// What is to be deleted for good.
#[derive(Default)]
struct Going {
    chats: Vec<Fid>,
    messages: Vec<TrashedMessages>,
}

impl Going {
    /// What these ids mean, of chats or of messages.
    async fn of(ids: Vec<String>, program: &Program) -> Result<Self> {
        let mut trash = program.manager.messages().trash().await?;
        let mut going = Self::default();
        for id in ids {
            match trash.iter().position(|it| id_of(it) == id) {
                Some(at) => going.messages.push(trash.remove(at)),
                None => going.chats.push(Fid::new(id)),
            }
        }
        Ok(going)
    }
}

/// What messages that were deleted at once are called: the first of them.
fn id_of(messages: &TrashedMessages) -> String {
    messages.messages.messages.first().map(ToString::to_string).unwrap_or_default()
}

/// Deleted messages as JSON.
#[derive(Serialize)]
struct MessagesView<'a> {
    id: &'a str,
    fid: &'a str,
    title: &'a str,
    /// How many.
    messages: usize,
    /// The beginning of the first one.
    text: &'a str,
    deleted: Timestamp,
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
    print(trash, &[], json, program).await
}

/// Lists deleted chats and then deleted messages, last deleted first.
async fn list_all(json: bool, program: &Program) -> Result<Outcome> {
    let chats = program.manager.sessions().trash().await?;
    let messages = program.manager.messages().trash().await?;
    print(chats, &messages, json, program).await
}

async fn print(
    chats: Vec<TrashedSession>,
    messages: &[TrashedMessages],
    json: bool,
    program: &Program,
) -> Result<Outcome> {
    if chats.is_empty() && messages.is_empty() && !json {
        remark(&say::trash_is_empty());
    }
    let when = |deleted: Timestamp| {
        deleted.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string()
    };
    let mut out = String::new();
    for TrashedSession { meta, deleted, agents } in chats {
        let session = meta.into();
        if json {
            let chat = sessions::View::new(&session);
            out.push_str(&line_of(&View { chat, deleted, agents }));
            continue;
        }
        let time = when(deleted);
        let title = program.terminal.clean_output(&session.title);
        // Writing into a string cannot fail.
        let _ = writeln!(out, "{:21}  {time}  {title}", session.fid.as_str());
    }
    for it in messages {
        let id = id_of(it);
        let (fid, title) = (it.fid.as_str(), &*it.title);
        let (count, text, deleted) = (it.messages.shown, &*it.excerpt, it.deleted);
        if json {
            let view = MessagesView { id: &id, fid, title, messages: count, text, deleted };
            out.push_str(&line_of(&view));
            continue;
        }
        let words = program.terminal.clean_output(&words::messages_of(count, title)).to_string();
        // Writing into a string cannot fail.
        let _ = writeln!(out, "{id}  {}  {words}", when(deleted));
    }
    program.output.print(out).await?;
    Ok(Outcome::Done)
}

async fn restore(ids: Vec<String>, program: &Program) -> Result<Outcome> {
    let Going { chats, messages } = Going::of(ids, program).await?;
    for it in messages {
        program.manager.messages().restore(&it.fid, it.messages.clone()).await?;
        remark(&say::restored_messages(it.messages.shown, &it.title));
    }
    let sessions = program.manager.sessions();
    for fid in chats {
        let trash = sessions.trash().await?;
        let trashed = trash.iter().find(|it| it.meta.fid == fid);
        sessions.restore(&fid).await?;
        if let Some(trashed) = trashed {
            remark(&say::restored_chat(&trashed.meta.title));
        }
    }
    Ok(Outcome::Done)
}

/// Deletes chats and messages for good. Asks once; if nobody can be asked, `--yes` is required.
async fn delete(going: Going, yes: bool, program: &Program) -> Result<Outcome> {
    let Going { chats, messages } = going;
    if !yes && !program.terminal.input {
        return Err(CliError::Said(say::nobody_to_ask()));
    }
    if !yes {
        // What was typed before the question does not answer it.
        take_typed();
        let count = messages.iter().map(|it| it.messages.shown).sum();
        terminal::say(&say::ask_delete_for_good(chats.len(), count));
        if !answer().await? {
            remark(&say::not_deleted());
            return Ok(Outcome::Failed);
        }
    }
    program.manager.messages().delete_for_good(messages).await?;
    program.manager.sessions().delete_for_good(chats).await?;
    Ok(Outcome::Done)
}

fn remark(words: &str) {
    terminal::say(&format!("{}\n", terminal::clean(words)));
}
