//! Runs `natter-cli sessions`, and the commands that arrange chats, such as `rename` and `delete`.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::BufRead as _;
use std::ops::Range;

use chat_core::event::SessionPlaceholder;
use chat_core::message::{self, Fid};
use chat_core::store::{Hit, SearchGap};
use chat_presentation::search_words::TypedSearch;
use chat_presentation::words;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::agents::State;
use crate::args;
use crate::arranging::{Which, arranged};
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::keyboard::take_typed;
use crate::output::line_of;
use crate::say;
use crate::terminal::{self, Terminal};
use crate::trash;

/// Enough for a list without a limit.
const ALL: usize = 1_000_000;

/// A chat, and where a search found the text in it.
struct Row {
    session: SessionPlaceholder,
    excerpt: Option<String>,
    /// The matches in the excerpt, in bytes.
    marks: Vec<Range<usize>>,
    /// How many chats it stands below.
    depth: usize,
}

/// Chats: all of them, or search results.
struct Listing {
    rows: Vec<Row>,
    /// What the search could not cover.
    gaps: Vec<SearchGap>,
}

/// A chat as JSON.
#[derive(Serialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct View<'a> {
    fid: &'a str,
    title: &'a str,
    /// The chat that it works for, if it is an agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    /// What it is called among the agents of that chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    agent: &'a str,
    model: Option<String>,
    created: Timestamp,
    updated: Timestamp,
    unread: bool,
    in_use: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pinned: bool,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    archived: bool,
    /// The folder that it works in.
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<&'a std::path::Path>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    excerpt: Option<&'a str>,
    /// Whether the search skipped some of its messages.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    incomplete: bool,
}

impl<'a> View<'a> {
    /// The current state of the chat.
    pub fn new(session: &'a SessionPlaceholder) -> Self {
        Self {
            fid: session.fid.as_str(),
            title: &session.title,
            parent: session.parent.as_ref().map(Fid::as_str),
            name: session.name.as_deref(),
            agent: &session.agent,
            model: session.model.as_ref().map(ToString::to_string),
            created: session.created,
            updated: session.updated,
            unread: session.unread,
            in_use: session.in_use,
            pinned: session.pinned.is_some(),
            archived: session.archived.is_some(),
            project: session.project.as_deref(),
            trouble: session.trouble.map(|trouble| match trouble {
                message::ReplyFailure::Failed => "failed",
                message::ReplyFailure::Interrupted => "interrupted",
            }),
            excerpt: None,
            incomplete: false,
        }
    }
}

/// Lists chats.
pub async fn list(args: args::Sessions, program: &Program) -> Result<Outcome> {
    if args.trash {
        return trash::list(args.limit, args.json, program).await;
    }
    // A tree counts as one.
    let limit = args.limit.filter(|_| !args.tree);
    let which = match (args.pinned, args.archived) {
        (true, _) => Which::Pinned,
        (_, true) => Which::Archived,
        _ => Which::Usual,
    };
    let mut listing = listing(args.search.as_deref(), which, limit, program).await?;
    if args.tree {
        listing.rows = first_trees(below_each_other(listing.rows), args.limit.unwrap_or(ALL));
    }
    let text = if args.json { json_lines(&listing) } else { lines_of(&listing, program.terminal) };
    // In JSON, each chat itself says whether messages were skipped.
    let in_json = args.json && !text.is_empty();
    let gaps = listing.gaps.iter().filter(|gap| !(in_json && gap.leaves_messages_out()));
    let notes: Vec<_> = gaps.map(|gap| words::search_gap(*gap)).collect();
    // A program sees this from the empty list.
    if !args.json
        && let Some(words) = nothing_found(&listing, args.search.is_some())
    {
        terminal::say(&format!("{words}\n"));
    }
    program.output.print(text).await?;
    for note in notes {
        terminal::say(&format!("{note}\n"));
    }
    Ok(Outcome::Done)
}

/// The list as text, and the remarks about it.
pub async fn lines(
    search: Option<&str>,
    limit: Option<usize>,
    program: &Program,
) -> Result<(String, Vec<String>)> {
    let listing = listing(search, Which::Usual, limit, program).await?;
    let empty = nothing_found(&listing, search.is_some());
    let gaps = listing.gaps.iter().copied().map(words::search_gap);
    Ok((lines_of(&listing, program.terminal), empty.into_iter().chain(gaps).collect()))
}

/// The sentence for an empty list; none if there are chats, or if a gap explains why there are
/// none.
fn nothing_found(listing: &Listing, searched: bool) -> Option<String> {
    let told = !listing.rows.is_empty() || listing.gaps.contains(&SearchGap::OneLetter);
    (!told).then(|| say::no_chats(searched))
}

fn lines_of(listing: &Listing, terminal: Terminal) -> String {
    let mut out = String::new();
    for Row { session, excerpt, marks, depth } in &listing.rows {
        let time = session.updated.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M");
        let title = terminal.clean_output(&session.title);
        // Writing into a string cannot fail.
        let indent = "  ".repeat(*depth);
        let _ = write!(out, "{:21}  {time}  {indent}{title}", session.fid.as_str());
        if let Some(note) = note(session) {
            let _ = write!(out, "  ({note})");
        }
        out.push('\n');
        if let Some(excerpt) = excerpt {
            let _ = writeln!(out, "{:21}  {}", "", marked(excerpt, marks, terminal));
        }
    }
    out
}

/// An excerpt with the matches in bold.
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

/// A remark about a chat's state.
fn note(session: &SessionPlaceholder) -> Option<String> {
    if session.in_use || session.status.is_busy() {
        Some(say::in_use())
    } else if session.parent.is_some() {
        Some(State::of(session, session.updated > session.created).words())
    } else {
        let kept = session.archived.map(|_| say::archived());
        let kept = kept.or_else(|| session.pinned.map(|_| say::pinned()));
        session.trouble.map(say::last_reply).or(kept)
    }
}

fn json_lines(listing: &Listing) -> String {
    let mut out = String::new();
    let incomplete = listing.gaps.iter().any(|gap| gap.leaves_messages_out());
    for Row { session, excerpt, .. } in &listing.rows {
        let view = View { excerpt: excerpt.as_deref(), incomplete, ..View::new(session) };
        out.push_str(&line_of(&view));
    }
    out
}

/// The rows with each agent below the chat that it works for, the oldest first. One whose chat is not
/// listed stands alone.
fn below_each_other(rows: Vec<Row>) -> Vec<Row> {
    let fids: HashSet<Fid> = rows.iter().map(|row| row.session.fid.clone()).collect();
    let is_below = |row: &Row| row.session.parent.as_ref().is_some_and(|it| fids.contains(it));
    let (mut agents, chats): (Vec<_>, Vec<_>) = rows.into_iter().partition(is_below);
    let mut ordered = Vec::new();
    // What is taken last stands first.
    let mut open: Vec<_> = chats.into_iter().rev().collect();
    while let Some(row) = open.pop() {
        let of_it = |it: &Row| it.session.parent.as_ref() == Some(&row.session.fid);
        let (below, others): (Vec<_>, Vec<_>) = agents.into_iter().partition(of_it);
        agents = others;
        open.extend(below.into_iter().map(|it| Row { depth: row.depth + 1, ..it }));
        ordered.push(row);
    }
    // A damaged list may have agents that work for each other.
    ordered.extend(agents);
    ordered
}

/// The first trees, each with all its rows.
fn first_trees(rows: Vec<Row>, limit: usize) -> Vec<Row> {
    let mut trees = 0;
    let is_wanted = |row: &Row| {
        trees += usize::from(row.depth == 0);
        trees <= limit
    };
    rows.into_iter().take_while(is_wanted).collect()
}

/// Chats with each agent below the one that it works for, and how many it stands below.
pub fn in_trees(sessions: Vec<SessionPlaceholder>) -> Vec<(SessionPlaceholder, usize)> {
    let row = |session| Row { session, excerpt: None, marks: Vec::new(), depth: 0 };
    let rows = below_each_other(sessions.into_iter().map(row).collect());
    rows.into_iter().map(|row| (row.session, row.depth)).collect()
}

async fn listing(
    search: Option<&str>,
    which: Which,
    limit: Option<usize>,
    program: &Program,
) -> Result<Listing> {
    let limit = limit.unwrap_or(ALL);
    let sessions = program.manager.sessions();
    let Some(typed) = search else {
        let rows = arranged(sessions.list().await?, which);
        let row = |session| Row { session, excerpt: None, marks: Vec::new(), depth: 0 };
        let rows = rows.into_iter().take(limit).map(row).collect();
        return Ok(Listing { rows, gaps: Vec::new() });
    };
    let mut search = TypedSearch::of(typed);
    if let Some(problem) = search.problem {
        return Err(CliError::Usage(problem));
    }
    search.filter.pinned |= which == Which::Pinned;
    search.filter.archived |= which == Which::Archived;
    let found = sessions.search_filtered(&search.text, search.filter, limit).await?;
    let row = |hit: Hit| Row {
        session: hit.session.meta.into(),
        excerpt: hit.excerpt,
        marks: hit.highlights,
        depth: 0,
    };
    Ok(Listing { rows: found.hits.into_iter().map(row).collect(), gaps: found.gaps })
}

/// Renames a chat.
pub async fn rename(fid: &str, title: &str, program: &Program) -> Result<Outcome> {
    program.manager.sessions().rename(&Fid::new(fid), title).await?;
    Ok(Outcome::Done)
}

/// Deletes chats. Asks before each one; if nobody can be asked, `--yes` is required.
pub async fn delete(fids: Vec<String>, yes: bool, program: &Program) -> Result<Outcome> {
    let mut outcome = Outcome::Done;
    for fid in fids {
        let fid = Fid::new(fid);
        let subscription = program.manager.subscribe();
        let title =
            program.manager.sessions().open(&fid, 1, &subscription).await?.session.meta.title;
        let terminal = program.terminal;
        if !yes && !terminal.input {
            return Err(CliError::Said(say::nobody_to_ask()));
        }
        if !yes {
            let agents = program.manager.sessions().agents_below(&fid).await?;
            // What was typed before the question does not answer it.
            take_typed();
            terminal::say(&terminal::clean(&say::ask_delete(&title, agents)));
            if !answer().await? {
                terminal::say(&format!("{}\n", say::not_deleted()));
                outcome = Outcome::Failed;
                continue;
            }
        }
        program.manager.sessions().delete(&fid).await?;
        terminal::say(&format!("{}\n", terminal::clean(&say::deleted(&title, fid.as_str()))));
    }
    Ok(outcome)
}

/// Reads a yes or no from standard input.
pub async fn answer() -> Result<bool> {
    let read = tokio::task::spawn_blocking(|| {
        let mut line = String::new();
        std::io::stdin().lock().read_line(&mut line).map(|_| line)
    });
    match read.await {
        Ok(Ok(line)) => Ok(say::is_yes(&line)),
        Ok(Err(error)) => Err(CliError::Said(say::input_failed(&error.to_string()))),
        Err(_) => Ok(false),
    }
}
