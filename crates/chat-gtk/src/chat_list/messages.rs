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
    /// Escape was pressed in the list.
    Escape,
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
    /// Does this with a chat, and with all that are marked if it is one of them. What is deleted or
    /// archived is reported, so that it can be undone.
    Act(Act, Fid),
    /// Does the same with this chat alone, whatever is marked.
    ActAlone(Act, Fid),
    /// Moves archived chats back to the list, or the other way round.
    SetArchived {
        chats: Vec<Fid>,
        archived: bool,
    },
    /// Copies a chat.
    Duplicate(Fid),
    /// The search was opened: offers what it can be narrowed to.
    OfferFilters,
    /// Searches for this.
    SearchFor(String),
    /// Adds words to the search that narrow it.
    Narrow(String),
    /// A chat is marked, or no more.
    ToggleMark(Fid),
    /// All chats up to this row are marked.
    MarkTo(u32),
    /// The keyboard moved by so many rows, and marks.
    MarkBy(i32),
    MarkAll,
    /// Marks the current chat, or the first, so that others can be marked with a click.
    StartMarking,
    UnmarkAll,
    /// Does this with the marked chats.
    WithMarked(Act),
    /// Undoes a deletion.
    Restore(Fid),
    /// The colors of agents in this project are needed.
    FindColors(Option<PathBuf>),
    /// The first frame with chats was painted.
    FillRest,
    /// Takes more of what has happened.
    TakeIn,
    /// The window became active again: the day may have changed.
    Regroup,
    /// A row was clicked.
    Clicked(u32),
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
    /// The file for the marked chats is asked for.
    ExportMarked,
}

/// What can be done with several chats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    Pin,
    Archive,
    Delete,
}

#[derive(Debug)]
pub(crate) enum Output {
    /// Show this chat, where a search found it; `forward` also switches to it where only one pane
    /// is shown.
    Open { fid: Fid, found: Option<FoundIn>, forward: bool },
    /// It was deleted, which can be undone.
    Deleted(DeletedChat),
    /// These were archived, or moved back to the list, which can be undone. With the title of the only one.
    Archived { chats: Vec<Fid>, title: String, archived: bool },
    /// The chat of this title was not deleted, since another program writes in it.
    InUse(String),
    /// Write it to a file.
    Export { fid: Fid, title: String },
    /// Write these to one file.
    ExportTogether(Vec<Fid>),
    /// A chat was not brought back: it was deleted for good.
    GoneForGood,
    /// Something failed.
    Failed(chat_core::error::Error),
    /// The list is loaded. These chats are in it or in the trash.
    Loaded { has_chats: bool, stored: Vec<Fid> },
    /// Events in some chats that matter outside the list.
    Stirred(Vec<Event>),
}

#[derive(Debug)]
pub(crate) enum Command {
    Arrived(Arrival),
    /// The chats, and those in the trash.
    Loaded(Result<(Vec<SessionPlaceholder>, Vec<Fid>)>),
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
    Archived {
        chats: Vec<Fid>,
        title: String,
        archived: bool,
        result: Result<()>,
    },
    /// The copy of a chat.
    Duplicated(Result<Fid>),
    /// The colors of agents in a project.
    Colors(Option<PathBuf>, KindColors),
    Done(Result<()>),
}
