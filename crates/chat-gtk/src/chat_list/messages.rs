//! Defines what the chat list is told, what it tells, and what its work in the background brings.

use std::path::PathBuf;

use chat_core::error::Result;
use chat_core::event::{Event, SessionPlaceholder};
use chat_core::manager::Manager;
use chat_core::message::Fid;
use chat_core::store::SearchResults;

use super::colors::KindColors;
use super::{DeletedChat, FoundIn};
use crate::bridge::Arrival;

#[derive(Debug)]
pub(crate) enum Input {
    /// The engine has started.
    Connect(Manager),
    /// Another chat is shown; none means a new one.
    Shown(Option<Fid>),
    /// Opens the search and focuses it.
    Search,
    /// Closes the search: all chats are listed again, scrolled to the current one.
    EndSearch,
    /// Shows the chat this many rows further down.
    Step(i32),
    /// Shows the agents of a chat, or hides them.
    SetOpen {
        fid: Fid,
        is_open: bool,
    },
    /// Right or Left was pressed in the row of this chat: to its agents, or back.
    Enter(Fid),
    Leave(Fid),
    /// Stops a chat, and the agents that it waits for.
    Stop(Fid),
    /// Stops a chat and all its agents.
    StopAll(Fid),
    /// Asks for a new title.
    Rename(Fid),
    /// Deletes a chat, and reports it so that it can be undone.
    Delete(Fid),
    /// Undoes a deletion.
    Restore(Fid),
    /// The colors of agents in this project are needed.
    FindColors(Option<PathBuf>),
    /// The first frame with chats was painted.
    FillRest,
    /// The window became active again: the day may have changed.
    Regroup,
    /// A row was chosen by keyboard or pointer.
    Chosen {
        position: u32,
        forward: bool,
    },
    /// The search's text changed.
    Query(String),
    /// The user paused: search the texts too.
    QueryTexts,
    /// A new title was typed.
    Retitle {
        fid: Fid,
        title: String,
    },
    /// The file for a chat is asked for.
    Export(Fid),
}

#[derive(Debug)]
pub(crate) enum Output {
    /// Show this chat, where a search found it; `forward` also switches to it where only one pane
    /// is shown.
    Open { fid: Fid, found: Option<FoundIn>, forward: bool },
    /// It was deleted, which can be undone.
    Deleted(DeletedChat),
    /// The chat of this title was not deleted, since another program writes in it.
    InUse(String),
    /// Write it to a file.
    Export { fid: Fid, title: String },
    /// Something failed.
    Failed(chat_core::error::Error),
    /// The list is loaded, with these chats.
    Loaded(Vec<Fid>),
    /// Events in some chats that matter outside the list.
    Stirred(Vec<Event>),
}

#[derive(Debug)]
pub(crate) enum Command {
    Arrived(Arrival),
    Loaded(Result<Vec<SessionPlaceholder>>),
    Found {
        query: String,
        results: Result<SearchResults>,
    },
    /// With how many agents, if it was deleted.
    Deleted {
        fid: Fid,
        title: String,
        result: Result<u32>,
    },
    Restored {
        fid: Fid,
        result: Result<()>,
    },
    /// The colors of agents in a project.
    Colors(Option<PathBuf>, KindColors),
    Done(Result<()>),
}
