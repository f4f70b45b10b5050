//! Defines the window's messages and the results of its background work.

use std::path::PathBuf;

use chat_core::error::{Error, Result};
use chat_core::manager::Manager;
use chat_core::message::{ApprovalId, DeletedMessages, Fid, ModelRef};
use chat_core::worktree::Created;

use super::deletions::Deleted;
use super::files::Located;
use super::keys::Action;
use super::notifications::{Finished, Reply};
use super::quit::Answer;
use super::waiting_approvals;
use super::worktrees::LeftOver;
use crate::app::Launch;
use crate::{chat_list, chat_widget, panel, preferences};

/// What the window is created with.
#[derive(Debug)]
pub(crate) struct Init {
    pub(crate) app: adw::Application,
    pub(crate) launch: Launch,
}

/// How the program was called.
#[derive(Clone, Debug)]
pub(crate) struct Arrival {
    /// What is requested.
    pub(crate) target: LaunchTarget,
    /// The folder to work in, if one was named.
    pub(crate) project: Option<PathBuf>,
    /// The files to show as full paths, each with its line if one was named.
    pub(crate) files: Vec<PathBuf>,
    /// The files to attach as full paths.
    pub(crate) attach: Vec<PathBuf>,
}

/// What is requested of the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LaunchTarget {
    /// Nothing in particular.
    Plain,
    /// A new chat.
    New,
    /// This chat.
    Session(Fid),
}

impl Arrival {
    /// An arrival without a wish.
    pub(crate) fn plain() -> Self {
        Self::of(LaunchTarget::Plain)
    }

    /// An arrival with a wish, but without folder and files.
    pub(crate) fn of(target: LaunchTarget) -> Self {
        Self { target, project: None, files: Vec::new(), attach: Vec::new() }
    }
}

/// Messages of the window.
#[derive(Debug)]
pub(crate) enum Input {
    /// The program was called.
    Arrive(Arrival),
    /// An action, by key or button.
    Do(Action),
    /// Close the window; asks while replies are being written.
    Close,
    /// The user's answer to that.
    Answer(Answer),
    /// End the program without asking.
    End,
    /// The window was folded or unfolded.
    Folded,
    /// The window became active.
    Looked,
    /// Show this chat.
    Show(Fid),
    /// Use this model in the shown chat.
    Choose(ModelRef),
    /// Run this slash command in the shown chat.
    Run(String),
    /// Show this page of the preferences.
    Prefer(preferences::Page),
    /// Something failed.
    Failed(Error),
    /// These messages are back.
    MessagesBack(DeletedMessages),
    /// Bring back what was deleted.
    Restore(Deleted),
    /// A new title was typed for a chat.
    Retitle(Fid, String),
    /// Start the engine again after it failed to start.
    StartAgain,
    /// Files or folders were dropped on the window.
    Dropped(Vec<PathBuf>),
    /// Whether files are being dragged over the window.
    Dragged(bool),
    /// Files were dropped that go with the message.
    Attach(Vec<PathBuf>),
    /// Model files were dropped.
    AddModels(Vec<PathBuf>),
    /// A folder was dropped: offer to work in it.
    OfferFolder(PathBuf),
    /// Work in this folder.
    Work(PathBuf),
    /// The requested files and their project, or why they cannot be shown.
    Located(LaunchTarget, std::result::Result<Located, String>),
    /// Of the requested files, these are to be attached to the requested chat, and no file is to be shown.
    AttachTo(LaunchTarget, Vec<PathBuf>),
    /// A tool's question was answered from outside the window.
    Reply(Reply),
    /// Show this message briefly.
    Note(String),
    /// A worktree was created for a new chat.
    WorktreeCreated(Box<Created>),
    List(chat_list::Output),
    Chat(chat_widget::Output),
    Panel(panel::Output),
    Waiting(waiting_approvals::Output),
    /// A chat was exported to this file, or the export failed for this reason.
    Exported(std::result::Result<PathBuf, String>),
}

/// Results of background work.
#[derive(Debug)]
pub(crate) enum Command {
    Started(Result<Manager>),
    /// The text of the notification for a finished reply that nobody has seen.
    Finished(Finished),
    /// An answer from outside the window reached its tool, or failed to.
    Replied(Result<bool>),
    /// An answer from the list of what waits reached its tool, or failed to.
    Answered {
        fid: Fid,
        ask: ApprovalId,
        result: Result<bool>,
    },
    /// The project that worktrees of this folder are made of, if it can have some.
    Repository(PathBuf, Option<PathBuf>),
    /// The worktrees that no chat uses.
    LeftOver(LeftOver),
    Ended,
}
