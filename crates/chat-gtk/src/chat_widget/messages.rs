//! Defines what a chat widget is told, what it tells, and what its parts report to it.

use std::path::PathBuf;

use chat_core::error::Error;
use chat_core::manager::Manager;
use chat_core::message::{ApprovalId, Fid, MessageId, ModelRef};
use chat_core::review::Seq;
use chat_presentation::diagnostics::Diagnostics;

use super::deleted_messages::DeletedInChat;
use super::editor_context::OpenFiles;
use super::mention_sources::{self, KnownFiles};
use super::review_bar::{Answered, Restore, Review};
use super::session_requests::RemovedMessage;
use super::{
    agent_bar, attaching, background_commands, chat_composer, command_list, context_meter,
    definitions_bar, find_bar, hint_bar, model_bar, plan_bar, project_bar, review_bar, servers_bar,
    session_changes, session_requests, start_page,
};
use crate::bridge::Arrival;
use crate::changes::ReviewAction;
use crate::editor::{Outline, TextPosition};
use crate::instructions::Instructions;
use crate::tool_servers::ToolServers;
use crate::{composer, conversation};

/// How a chat widget begins.
#[derive(Debug, Default)]
pub struct Init {
    /// The engine; where it is still starting, [`Input::Connect`] brings it.
    pub manager: Option<Manager>,
    /// Where drafts are kept; none keeps them for this run only.
    pub drafts: Option<PathBuf>,
    /// The folder in which is kept which folders were worked in, and where each chat was read; none
    /// keeps that for this run only.
    pub projects: Option<PathBuf>,
    /// The files that the person has open in an editor, where the program has one.
    pub open_files: OpenFiles,
    /// The servers of tools; without them, no project is asked about.
    pub servers: Option<ToolServers>,
    /// Where measurements go.
    pub diagnostics: Diagnostics,
}

/// What a chat widget is told.
#[derive(Debug)]
pub enum Input {
    /// The engine has started.
    Connect(Manager),
    /// Show this chat, or a new one. Activate `chat.leave` on the widget at the moment when a
    /// person asks for it by keyboard: then what they type goes to that chat at once.
    Show(Option<Fid>),
    /// Show this chat where it is still there; otherwise a new one, without a word.
    ShowAgain(Fid),
    /// Whether any chat is stored: without one, a new chat shows whom there is to talk to.
    HasChats(bool),
    /// Copy the last reply.
    CopyLastReply,
    /// Go to the user's next message in the chat, or the one before.
    StepMessage {
        /// Whether to the next.
        forward: bool,
    },
    /// Put the cursor into the message. Activate `chat.focus-message` on the widget at the moment when a person
    /// asks for it by keyboard: then what they type goes there at once.
    FocusMessage,
    /// Ask for files to attach to the message.
    AttachFiles,
    /// Attach these files to the message of the chat that is shown or was asked for last.
    Attach(Vec<PathBuf>),
    /// Whether files are being dragged that would be attached if they were dropped here.
    Dragged(bool),
    /// Look for words in the chat that is shown.
    Find(Find),
    /// Show this chat where this message has these words.
    ShowFound {
        /// The chat.
        fid: Fid,
        /// The message.
        message: MessageId,
        /// What was looked for.
        words: String,
    },
    /// Show a new chat. It works in the folder of the shown one, with the same agent.
    ShowBeside,
    /// Show a new chat that is kept in memory alone. It works in the folder of the shown one, with the same agent.
    ShowTemporary,
    /// Focus the card of this approval request once the chat is there; without one, or if it no
    /// longer waits, that of the newest. [`Output::NothingAsked`] follows if nothing waits.
    FocusAsk(Option<ApprovalId>),
    /// Add this text to the draft of a chat: it was typed for an answer that was not needed.
    GiveBack(Fid, String),
    /// Open the list of models.
    ChooseModel,
    /// Have this model answer in the shown chat.
    UseModel(ModelRef),
    /// Run this command of the shown chat, without its slash. One that goes to the model is put before the message.
    RunCommand(String),
    /// Open the list of folders.
    ChooseProject,
    /// Show the agents, commands and skills of the shown chat's project, to trust them or to look at them.
    ReviewDefinitions,
    /// Work in this folder, in the chat that is shown or was asked for last.
    Work(PathBuf),
    /// These files are open in an editor now.
    Open(Outline),
    /// The project that is shown has these files: their names in replies lead there.
    KnownFiles(KnownFiles),
    /// The person answers to changes.
    Answer(ToChanges),
    /// A restore is to be taken back.
    UndoRestore(Fid, Seq),
    /// An answer to changes is to be taken back; with none, the newest of the chat that is shown.
    UndoAnswer(Option<(Fid, Seq)>),
    /// A message that waited and was removed is to wait again.
    PutBack(RemovedMessage),
    /// Messages that were deleted are to come back.
    Restore(DeletedInChat),
    /// Esc was pressed and nothing else wanted it.
    Escape,
    /// Stop the reply.
    Stop,
    /// The program ends: write all drafts for the last time, and then tell.
    SaveDrafts(tokio::sync::oneshot::Sender<()>),
    /// What its own parts tell.
    #[doc(hidden)]
    Part(Part),
}

/// What is to be done about finding words in a chat.
#[derive(Clone, Copy, Debug)]
pub enum Find {
    /// Open the bar.
    Open,
    /// Go to the next place; opens the bar if it is closed.
    Next,
    /// Go to the place before.
    Previous,
}

/// An answer to changes.
#[derive(Debug)]
pub struct ToChanges(pub(crate) ReviewAction);

/// What a part of the widget reports to it.
#[derive(Debug)]
pub struct Part(pub(super) FrameMsg);

/// What the parts of the widget report to it: what the person does with them, and what their work in the
/// background brings.
#[derive(Debug)]
pub(super) enum FrameMsg {
    Agents(agent_bar::Msg),
    Background(background_commands::Msg),
    Plan(plan_bar::Msg),
    Meter(context_meter::Msg),
    Review(review_bar::Msg),
    Find(find_bar::Msg),
    Requests(session_requests::Msg),
    Model(model_bar::Msg),
    /// The list of models was closed.
    ModelsClosed,
    Project(project_bar::Msg),
    Changes(session_changes::Msg),
    Hint(hint_bar::Msg),
    Start(start_page::Msg),
    Mentions(mention_sources::Msg),
    Attaching(attaching::Msg),
    Commands(command_list::Msg),
    Definitions(definitions_bar::Msg),
    Servers(servers_bar::Msg),
    /// The user edited what the model is told in this chat, in this project, and everywhere.
    Instructions {
        fid: Option<Fid>,
        project: Option<PathBuf>,
        instructions: Instructions,
    },
    /// Something that was asked for in a chat could not be done.
    Failed {
        fid: Option<Fid>,
        error: Error,
    },
    /// The person does something with the composer.
    Composer(composer::Output),
    Drafts(chat_composer::Msg),
    /// What is wanted in the conversation, and of which session.
    Conversation(Option<Fid>, conversation::Output),
    /// This chat is not there any more.
    Gone(Fid),
    /// The user chose these files to attach.
    Chosen(Vec<PathBuf>),
    /// The height of the window.
    Height(i32),
    /// Esc was pressed, and nothing in the chat wanted it.
    Escape,
    Arrived(Arrival),
}

/// What a chat widget tells.
#[derive(Debug)]
pub enum Output {
    /// This chat is shown now; none is a new one.
    Shown(Option<Fid>),
    /// The new chat that is shown is stored as this one now. Told before that is shown.
    Stored(Fid),
    /// The shown chat's title.
    Titled(String),
    /// The folder that the shown chat works in is this now.
    Project(Option<PathBuf>),
    /// A folder was to be attached, which cannot be: it may be offered to work in it.
    Folder(PathBuf),
    /// An agent was chosen that brings this panel.
    Panel(&'static str),
    /// A file of the project is to be opened.
    OpenFile {
        /// Its path from the project on.
        path: PathBuf,
        /// Where in it.
        place: Option<TextPosition>,
    },
    /// There is something else to review than before.
    Changes(Review),
    /// What came of an answer to changes.
    Answered(Answered),
    /// This answer to changes was taken back.
    AnswerUndone(Seq),
    /// The changes are to be seen.
    Review,
    /// The shown chat is to be exported.
    Export,
    /// Files were restored: this offers to take it back.
    Restored(Restore),
    /// A message that waited was removed: this offers to put it back.
    MessageRemoved(RemovedMessage),
    /// Messages were deleted: this offers to bring them back.
    MessagesDeleted(DeletedInChat),
    /// Deleted messages are back.
    MessagesRestored(DeletedInChat),
    /// Deleted messages could not be brought back now: this offers to try it again.
    MessagesNotRestored {
        /// The messages.
        deleted: DeletedInChat,
        /// What hinders it, and what to do about that.
        why: String,
    },
    /// Nothing waits for an answer in the chat that is shown, though the person asks for it.
    NothingAsked,
    /// Something to say in passing.
    Note(String),
    /// Something to say about what was just sent, while its chat is shown and nothing else is sent.
    ChatNote(String),
    /// Another chat is shown than the one of the last note, or something else was sent in it.
    ChatNoteOver,
    /// The settings of connections are asked for; with the name of one, where it is about one.
    Connections(Option<String>),
    /// A connection is to be added.
    AddConnection,
    /// The models on this computer are asked for.
    Models,
    /// Whether Esc was pressed once, and stops the reply when it is pressed again.
    EscapeAgain(bool),
    /// Esc was pressed, and there was nothing here to stop.
    Escaped,
}
