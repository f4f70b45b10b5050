//! Pins, archives and duplicates chats, and puts the list in the order that follows from it.

use std::collections::HashMap;

use chat_core::event::SessionPlaceholder;
use chat_core::message::Fid;
use chat_presentation::words;
use jiff::Timestamp;

use crate::args::Arrange;
use crate::engine::Program;
use crate::error::{Outcome, Result};

/// Arranges chats.
pub async fn run(action: Arrange, program: &Program) -> Result<Outcome> {
    match action {
        Arrange::Pin { fid } => pin(fid, true, program).await,
        Arrange::Unpin { fid } => pin(fid, false, program).await,
        Arrange::Archive { fid } => archive(fid, true, program).await,
        Arrange::Unarchive { fid } => archive(fid, false, program).await,
        Arrange::Duplicate { fid, title } => duplicate(&fid, title, program).await,
    }
}

/// Which chats are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// Those that are not archived; a search finds all.
    Usual,
    Pinned,
    Archived,
}

/// The chats that are listed, pinned ones first in the order in which they were pinned, each with its
/// agents.
pub fn arranged(all: Vec<SessionPlaceholder>, which: Which) -> Vec<SessionPlaceholder> {
    let by_fid: HashMap<Fid, (Option<Fid>, bool, Option<Timestamp>)> = all
        .iter()
        .map(|it| (it.fid.clone(), (it.parent.clone(), it.archived.is_some(), it.pinned)))
        .collect();
    // An agent is where its chat is. A damaged list may have agents that work for each other.
    let top = |fid: &Fid| {
        let mut top = by_fid.get(fid)?;
        for _ in 0..by_fid.len() {
            match top.0.as_ref().and_then(|parent| by_fid.get(parent)) {
                Some(above) => top = above,
                None => break,
            }
        }
        Some((top.1, top.2.filter(|_| !top.1)))
    };
    let mut rows: Vec<_> = all
        .into_iter()
        .filter_map(|it| top(&it.fid).map(|(archived, pinned)| (archived, pinned, it)))
        .filter(|(archived, pinned, _)| match which {
            Which::Usual => !archived,
            Which::Pinned => pinned.is_some(),
            Which::Archived => *archived,
        })
        .collect();
    // Stable: within each the newest stay first.
    rows.sort_by_key(|(_, pinned, _)| (pinned.is_none(), *pinned));
    rows.into_iter().map(|(_, _, it)| it).collect()
}

/// Pins chats, or unpins them.
async fn pin(fids: Vec<String>, pinned: bool, program: &Program) -> Result<Outcome> {
    for fid in fids {
        program.manager.sessions().set_pinned(&Fid::new(fid), pinned).await?;
    }
    Ok(Outcome::Done)
}

/// Archives chats, or moves them back to the list.
async fn archive(fids: Vec<String>, archived: bool, program: &Program) -> Result<Outcome> {
    for fid in fids {
        program.manager.sessions().set_archived(&Fid::new(fid), archived).await?;
    }
    Ok(Outcome::Done)
}

/// Copies a chat, and prints the id of the copy.
async fn duplicate(fid: &str, title: Option<String>, program: &Program) -> Result<Outcome> {
    let (sessions, fid) = (program.manager.sessions(), Fid::new(fid));
    let subscription = program.manager.subscribe();
    let original = sessions.open(&fid, 1, &subscription).await?.session.meta.title;
    sessions.close(&fid, &subscription);
    let title = if let Some(title) = title {
        title
    } else {
        let all = sessions.list().await?;
        words::title_of_copy(&original, |title| all.iter().any(|other| other.title == title))
    };
    let copy = sessions.duplicate(&fid, title).await?;
    program.output.print(format!("{copy}\n")).await?;
    Ok(Outcome::Done)
}
