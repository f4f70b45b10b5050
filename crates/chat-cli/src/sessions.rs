//! `natter-cli sessions`, `rename` and `delete`.

use std::fmt::Write as _;
use std::io::BufRead as _;
use std::ops::Range;

use chat_core::event::SessionPlaceholder;
use chat_core::message::{self, Fid};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::args;
use crate::engine::Program;
use crate::output::line_of;
use crate::say;
use crate::terminal::{self, Terminal};
use crate::trouble::{Outcome, Result, Trouble};

/// As many as there are, for a list without a limit.
const ALL: usize = 1_000_000;

/// A chat with where a text was found in it.
struct Row {
    session: SessionPlaceholder,
    excerpt: Option<String>,
    /// Where the excerpt has it, in bytes.
    marks: Vec<Range<usize>>,
}

/// A chat as programs get it.
#[derive(Serialize)]
pub struct View<'a> {
    fid: &'a str,
    title: &'a str,
    agent: &'a str,
    model: Option<String>,
    created: Timestamp,
    updated: Timestamp,
    unread: bool,
    in_use: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    excerpt: Option<&'a str>,
}

impl<'a> View<'a> {
    /// The chat as it is now.
    pub fn new(session: &'a SessionPlaceholder) -> Self {
        Self {
            fid: session.fid.as_str(),
            title: &session.title,
            agent: &session.agent,
            model: session.model.as_ref().map(ToString::to_string),
            created: session.created,
            updated: session.updated,
            unread: session.unread,
            in_use: session.in_use,
            trouble: session.trouble.map(|trouble| match trouble {
                message::Trouble::Failed => "failed",
                message::Trouble::Interrupted => "interrupted",
            }),
            excerpt: None,
        }
    }
}

/// Lists chats.
pub async fn list(args: args::Sessions, program: &Program) -> Result<Outcome> {
    let text = if args.json {
        json_lines(&rows(args.search.as_deref(), args.limit, program).await?)
    } else {
        lines(args.search.as_deref(), args.limit, program).await?
    };
    // A script reads it off the empty list.
    if text.is_empty() && !args.json && program.terminal.error {
        terminal::say(&format!("{}\n", say::no_chats(args.search.is_some())));
    }
    program.output.print(text).await?;
    Ok(Outcome::Done)
}

/// The list for people.
pub async fn lines(
    search: Option<&str>,
    limit: Option<usize>,
    program: &Program,
) -> Result<String> {
    let mut out = String::new();
    for Row { session, excerpt, marks } in rows(search, limit, program).await? {
        let time = session.updated.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M");
        let title = program.terminal.clean_output(&session.title);
        // Writing into a string cannot fail.
        let _ = write!(out, "{:21}  {time}  {title}", session.fid.as_str());
        if let Some(note) = note(&session) {
            let _ = write!(out, "  ({note})");
        }
        out.push('\n');
        if let Some(excerpt) = excerpt {
            let _ = writeln!(out, "{:21}  {}", "", marked(&excerpt, &marks, program.terminal));
        }
    }
    Ok(out)
}

/// An excerpt with what was looked for in bold.
fn marked(excerpt: &str, marks: &[Range<usize>], terminal: Terminal) -> String {
    let mut out = String::new();
    let mut end = 0;
    for mark in marks {
        out.push_str(&terminal.clean_output(&excerpt[end..mark.start]));
        out.push_str(&terminal.bold(&terminal.clean_output(&excerpt[mark.clone()])));
        end = mark.end;
    }
    out.push_str(&terminal.clean_output(&excerpt[end..]));
    out
}

/// What a person should know of a chat before it is opened.
fn note(session: &SessionPlaceholder) -> Option<String> {
    if session.in_use || session.status.is_busy() {
        Some(say::in_use())
    } else {
        session.trouble.map(say::last_reply)
    }
}

fn json_lines(rows: &[Row]) -> String {
    let mut out = String::new();
    for Row { session, excerpt, .. } in rows {
        let view = View { excerpt: excerpt.as_deref(), ..View::new(session) };
        out.push_str(&line_of(&view));
    }
    out
}

async fn rows(search: Option<&str>, limit: Option<usize>, program: &Program) -> Result<Vec<Row>> {
    let limit = limit.unwrap_or(ALL);
    let rows = match search {
        None => {
            let all = program.manager.sessions().await?;
            let row = |session| Row { session, excerpt: None, marks: Vec::new() };
            all.into_iter().take(limit).map(row).collect()
        }
        Some(text) => {
            let hits = program.manager.search(text, limit).await?;
            hits.into_iter()
                .map(|hit| Row {
                    session: hit.session.into(),
                    excerpt: hit.excerpt,
                    marks: hit.marks,
                })
                .collect()
        }
    };
    Ok(rows)
}

/// Gives a chat a title.
pub async fn rename(fid: &str, title: &str, program: &Program) -> Result<Outcome> {
    program.manager.rename(&Fid::new(fid), title).await?;
    Ok(Outcome::Done)
}

/// Deletes chats. It asks before each; with nobody to ask it wants to be told that it is meant.
pub async fn delete(fids: Vec<String>, yes: bool, program: &Program) -> Result<Outcome> {
    let mut outcome = Outcome::Done;
    for fid in fids {
        let fid = Fid::new(fid);
        let subscription = program.manager.subscribe();
        let title = program.manager.open(&fid, 1, &subscription).await?.session.title;
        let terminal = program.terminal;
        if !yes && !terminal.input {
            return Err(Trouble::Said(say::nobody_to_ask()));
        }
        if !yes {
            terminal::say(&terminal::clean(&say::ask_delete(&title)));
            if !answer().await? {
                terminal::say(&format!("{}\n", say::not_deleted()));
                outcome = Outcome::Failed;
                continue;
            }
        }
        program.manager.delete(&fid).await?;
        terminal::say(&format!("{}\n", terminal::clean(&say::deleted(&title))));
    }
    Ok(outcome)
}

async fn answer() -> Result<bool> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    match read.await {
        Ok(Ok(line)) => Ok(say::is_yes(&line)),
        Ok(Err(error)) => Err(Trouble::Said(say::input_failed(&error.to_string()))),
        Err(_) => Ok(false),
    }
}
