//! What the window is told, and what its background work brings.

use std::path::PathBuf;

use chat_core::error::Result;
use chat_core::manager::Manager;
use chat_core::message::Fid;

use super::keys::Action;
use super::quit::Answer;
use crate::app::Launch;
use crate::{chat_list, chat_widget};

/// How the window comes to be.
#[derive(Debug)]
pub(crate) struct Init {
    pub(crate) app: adw::Application,
    pub(crate) launch: Launch,
}

/// How somebody came to the program.
#[derive(Clone, Debug)]
pub(crate) enum Arrival {
    /// Without a wish.
    Plain,
    /// For a new chat.
    New,
    /// For this chat.
    Session(Fid),
}

/// What the window is told.
#[derive(Debug)]
pub(crate) enum Input {
    /// Somebody came to the program.
    Arrive(Arrival),
    /// A key was pressed, or a button.
    Do(Action),
    /// The window is to be closed; asks where replies are being written.
    Close,
    /// The person's answer to that.
    Answer(Answer),
    /// The program is to end without asking.
    End,
    /// The window was folded or unfolded.
    Folded,
    /// The window was looked at.
    Looked,
    /// Show this chat.
    Show(Fid),
    /// These chats were deleted and are to come back.
    Restore(Vec<Fid>),
    /// A new title was typed for a chat.
    Retitle(Fid, String),
    /// Start the engine again, which could not start.
    StartAgain,
    /// Files were dropped on the window.
    Dropped(Vec<PathBuf>),
    /// Something to say in passing.
    Note(String),
    List(chat_list::Output),
    Chat(chat_widget::Output),
    /// A chat was written to this file, or could not be, for this reason.
    Exported(std::result::Result<PathBuf, String>),
}

/// What background work brings.
#[derive(Debug)]
pub(crate) enum Command {
    Started(Result<Manager>),
    Ended,
}
