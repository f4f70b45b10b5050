//! Runs `natter-cli agents`: lists the agents of chats and what they do, once or as it changes, and closes them.

mod close;
mod view;

use std::collections::{BTreeMap, HashSet};

use chat_core::error::Kind;
use chat_core::event::{SessionPlaceholder, Subscription};
use chat_core::message::Fid;

use crate::args;
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::output::line_of;
use crate::say;
use crate::sessions::in_trees;
use crate::signals::Signals;
use crate::terminal;

pub use view::State;
use view::{AgentView, Work};

/// A line of the list: an agent, or a chat above its agents.
struct Entry {
    session: SessionPlaceholder,
    /// How many others it stands below.
    depth: usize,
    /// None for a chat that is no agent.
    work: Option<Work>,
}

/// Runs the requested action on agents.
pub async fn run(action: args::Agents, program: &Program) -> Result<Outcome> {
    match action {
        args::Agents::List(args) => list(args, program).await,
        args::Agents::Close { name, session, all } => {
            let session = session.as_deref().map(Fid::new);
            match (name, session) {
                (Some(name), session) => close::one(&name, session.as_ref(), program).await,
                (None, Some(session)) if all => close::all(&session, program).await,
                // The command line has one of both.
                (None, _) => Ok(Outcome::Usage),
            }
        }
    }
}

/// Lists agents. With `--watch` follows what they do until a signal comes.
async fn list(args: args::ListAgents, program: &Program) -> Result<Outcome> {
    let fid = args.session.as_deref().map(Fid::new);
    if args.watch {
        return watch(fid.as_ref(), args.json, program).await;
    }
    print(fid.as_ref(), args.json, program).await?;
    Ok(Outcome::Done)
}

/// Prints the agents of a chat, or of all.
pub async fn print(fid: Option<&Fid>, json: bool, program: &Program) -> Result<()> {
    let entries = entries(fid, program).await?;
    if entries.is_empty() && !json {
        terminal::say(&format!("{}\n", say::no_agents()));
    }
    let lines = entries.iter().filter_map(|entry| line(entry, json, program));
    program.output.print(lines.collect()).await
}

async fn watch(fid: Option<&Fid>, json: bool, program: &Program) -> Result<Outcome> {
    let mut signals = Signals::new()?;
    // Before the list is read, so that nothing is missed.
    let mut subscription = program.manager.subscribe();
    let mut watched = HashSet::new();
    let mut known: BTreeMap<Fid, (String, Entry)> = BTreeMap::new();
    let mut first = true;
    loop {
        let entries = tokio::select! {
            entries = entries(fid, program) => entries?,
            () = signals.next() => return Ok(Outcome::Stopped),
        };
        follow(&entries, &mut watched, &subscription, program).await?;
        if first && entries.is_empty() && !json {
            terminal::say(&format!("{}\n", say::no_agents()));
        }
        first = false;
        let mut text = String::new();
        let mut now = BTreeMap::new();
        for entry in entries {
            // It holds nothing that changes with the time alone.
            let state =
                format!("{} {}", entry.session.title, json_line(&entry).unwrap_or_default());
            let fid = entry.session.fid.clone();
            if known.remove(&fid).is_none_or(|(before, _)| before != state) {
                text.extend(line(&entry, json, program));
            }
            now.insert(fid, (state, entry));
        }
        for (_, gone) in std::mem::replace(&mut known, now).into_values() {
            let work = gone.work.map(Work::deleted);
            text.extend(line(&Entry { work, ..gone }, json, program));
        }
        tokio::select! {
            printed = program.output.print(text) => printed?,
            () = signals.next() => return Ok(Outcome::Stopped),
        }
        tokio::select! {
            events = subscription.next() => { events.ok_or(CliError::Stopped)?; }
            () = signals.next() => return Ok(Outcome::Stopped),
        }
    }
}

/// Watches the agents that other programs have at work: their rows change only at the end.
async fn follow(
    entries: &[Entry],
    watched: &mut HashSet<Fid>,
    subscription: &Subscription,
    program: &Program,
) -> Result<()> {
    let sessions = program.manager.sessions();
    for entry in entries.iter().filter(|entry| entry.work.is_some()) {
        let fid = &entry.session.fid;
        if entry.session.in_use && !watched.contains(fid) {
            match sessions.open(fid, 1, subscription).await {
                Ok(_) => watched.insert(fid.clone()),
                Err(error) if matches!(error.kind, Kind::SessionNotFound { .. }) => false,
                Err(error) => return Err(error.into()),
            };
        } else if !entry.session.in_use && watched.remove(fid) {
            sessions.close(fid, subscription);
        }
    }
    Ok(())
}

/// The agents, each below the one that it works for, and the chats above them.
async fn entries(fid: Option<&Fid>, program: &Program) -> Result<Vec<Entry>> {
    let agents = program.manager.agents().list(fid).await?;
    let agents: HashSet<Fid> = agents.into_iter().map(|agent| agent.meta.fid).collect();
    let all = program.manager.sessions().list().await?;
    let is_agent = |session: &SessionPlaceholder| agents.contains(&session.fid);
    let parents = all.iter().filter(|session| is_agent(session));
    let parents: HashSet<Fid> = parents.filter_map(|session| session.parent.clone()).collect();
    let shown = all.into_iter().filter(|it| is_agent(it) || parents.contains(&it.fid)).collect();
    let mut entries = Vec::new();
    for (session, depth) in in_trees(shown) {
        if !agents.contains(&session.fid) {
            entries.push(Entry { session, depth, work: None });
            continue;
        }
        let messages = match program.manager.sessions().transcript(&session.fid).await {
            Ok(messages) => messages,
            // It was deleted meanwhile.
            Err(error) if matches!(error.kind, Kind::SessionNotFound { .. }) => continue,
            Err(error) => return Err(error.into()),
        };
        let work = Some(Work::of(&session, &messages, &program.manager.tools()));
        entries.push(Entry { session, depth, work });
    }
    Ok(entries)
}

fn line(entry: &Entry, json: bool, program: &Program) -> Option<String> {
    if json {
        return json_line(entry);
    }
    let terminal = program.terminal;
    let indent = "  ".repeat(entry.depth);
    let text = match &entry.work {
        Some(work) => work.line(&entry.session),
        None => entry.session.title.clone(),
    };
    let text = terminal.clean_output(&text);
    Some(format!("{:21}  {indent}{text}\n", entry.session.fid.as_str()))
}

/// None for a chat that is no agent.
fn json_line(entry: &Entry) -> Option<String> {
    Some(line_of(&AgentView::new(&entry.session, entry.work.as_ref()?)))
}
