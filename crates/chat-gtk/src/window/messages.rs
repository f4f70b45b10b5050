//! What the window is told, and what its background work brings.

use std::path::PathBuf;

use chat_core::error::Result;
use chat_core::manager::Manager;
use chat_core::message::Fid;

use super::files::Located;
use super::keys::Action;
use super::notifications::{Finished, Reply};
use super::quit::Answer;
use crate::app::Launch;
use crate::{chat_list, chat_widget, panel};

/// How the window comes to be.
#[derive(Debug)]
pub(crate) struct Init {
    pub(crate) app: adw::Application,
    pub(crate) launch: Launch,
}

/// How somebody came to the program.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// What for.
    pub(crate) target: LaunchTarget,
    /// The folder that they want to work in, where they named one.
    pub(crate) project: Option<PathBuf>,
    /// The files that they want to see, each with the line behind it where they named one: whole paths.
    pub(crate) files: Vec<PathBuf>,
}

/// What somebody came to the program for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LaunchTarget {
    /// Nothing that they said.
    Plain,
    /// A new chat.
    New,
    /// This chat.
    Session(Fid),
}

impl Arrival {
    /// Without a wish.
    pub(crate) fn plain() -> Self {
        Self::of(LaunchTarget::Plain)
    }

    /// With a wish, and neither folder nor files.
    pub(crate) fn of(target: LaunchTarget) -> Self {
        Self { target, project: None, files: Vec::new() }
    }
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
    /// Files or folders were dropped on the window.
    Dropped(Vec<PathBuf>),
    /// Files of models that were dropped.
    AddModels(Vec<PathBuf>),
    /// A folder was dropped: to work in, where the person wants that.
    OfferFolder(PathBuf),
    /// Work in this folder.
    Work(PathBuf),
    /// Where the files lie that somebody came for, or in words why they cannot be had.
    Located(LaunchTarget, std::result::Result<Located, String>),
    /// What a tool waits for was answered from outside the window.
    Reply(Reply),
    /// Something to say in passing.
    Note(String),
    List(chat_list::Output),
    Chat(chat_widget::Output),
    Panel(panel::Output),
    /// A chat was written to this file, or could not be, for this reason.
    Exported(std::result::Result<PathBuf, String>),
}

/// What background work brings.
#[derive(Debug)]
pub(crate) enum Command {
    Started(Result<Manager>),
    /// A reply that nobody looked at is there: what the desktop says of it.
    Finished(Finished),
    /// An answer from outside the window reached its tool, or did not.
    Replied(Result<bool>),
    Ended,
}
