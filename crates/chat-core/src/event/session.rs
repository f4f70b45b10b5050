//! Defines the events of a session.

use std::ops::Range;
use std::sync::Arc;

use chat_permission::Action;

use super::Stage;
use crate::chat::TextKind;
use crate::message::{
    ApprovalRequest, BackgroundCommand, ContextUsage, Fid, Message, MessageId, Queued, Todo,
    ToolCallId, ToolResult,
};

/// Something that happened in a session, for those who watch it.
#[derive(Clone, Debug)]
pub enum SessionEvent {
    /// A message begins (replies) or is there whole (all others). What is in its parts already is
    /// not told again as text.
    MessageAdded {
        /// The message.
        message: Arc<Message>,
    },
    /// A reply grew.
    TextAdded {
        /// The message.
        message: MessageId,
        /// Which of its parts; one more than there were begins a part.
        part: usize,
        /// What the part is.
        kind: TextKind,
        /// The bytes of the part that this is. None of thoughts that a model keeps to itself.
        range: Range<usize>,
        /// The text.
        text: String,
    },
    /// A message ended, or its counts or parts other than text changed. Its texts are those that
    /// were told, but for thoughts that came as text: at the end they are a part of their own.
    MessageChanged {
        /// The message as it is now.
        message: Arc<Message>,
    },
    /// Another branch of the session is shown, or another process wrote it: open it again.
    Reset,
    /// A tool call began or ended.
    ToolCallChanged {
        /// The assistant's message that holds the call.
        message: MessageId,
        /// The call.
        call: ToolCallId,
        /// Whether it is still running.
        running: bool,
        /// What came of it, once it ended. The same comes as a message of its own, as soon as it
        /// is stored.
        result: Option<Arc<ToolResult>>,
    },
    /// What a tool call does is permitted: by a rule, by the mode or by the user. Calls that need no
    /// permission have no such event, others may have several.
    ToolCallPermitted {
        /// The assistant's message that holds the call.
        message: MessageId,
        /// The call.
        call: ToolCallId,
        /// What it may do; of several things the one that is not reading.
        action: Action,
    },
    /// A running command wrote more.
    ToolOutput {
        /// The assistant's message that holds the call.
        message: MessageId,
        /// The call.
        call: ToolCallId,
        /// The end of what it wrote so far.
        tail: Arc<str>,
        /// How many bytes it wrote so far.
        bytes: u64,
    },
    /// A running call has started these agents, or waits for them.
    AgentsAtWork {
        /// The assistant's message that holds the call.
        message: MessageId,
        /// The call.
        call: ToolCallId,
        /// The agents.
        agents: Vec<Fid>,
    },
    /// A command in the background began, wrote or ended.
    CommandsChanged {
        /// Those that run, the oldest first.
        commands: Vec<BackgroundCommand>,
    },
    /// What waits for the user's answer changed.
    ApprovalsChanged {
        /// What waits, in order.
        asks: Vec<Arc<ApprovalRequest>>,
    },
    /// The session's plan changed.
    TodosChanged {
        /// The plan.
        todos: Vec<Todo>,
    },
    /// Files of the project were changed for the session, or what is to be reviewed of it was.
    FilesChanged,
    /// How full the model's window is changed: a message ended or went out.
    ContextUsageChanged {
        /// How full it is now.
        usage: ContextUsage,
    },
    /// What waits to be sent changed.
    QueueChanged {
        /// What waits, in order.
        queue: Vec<Queued>,
    },
    /// What a request does while no text comes changed.
    StageChanged {
        /// What it does.
        stage: Stage,
    },
}

/// What an event is about: a later one about the same makes up for an earlier one.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) enum SessionKey {
    Added(MessageId),
    Changed(MessageId),
    Text(MessageId, usize),
    Reset,
    /// Servers give the same ids to calls of different replies.
    Tool(MessageId, ToolCallId),
    /// And whether to read alone, which makes up for no other permission.
    Permitted(MessageId, ToolCallId, bool),
    Output(MessageId, ToolCallId),
    Agents(MessageId, ToolCallId),
    Commands,
    Approvals,
    Todos,
    Files,
    ContextUsage,
    Queue,
    Stage,
}

impl SessionEvent {
    pub(super) fn key(&self) -> SessionKey {
        match self {
            Self::MessageAdded { message } => SessionKey::Added(message.id),
            Self::MessageChanged { message } => SessionKey::Changed(message.id),
            Self::TextAdded { message, part, .. } => SessionKey::Text(*message, *part),
            Self::Reset => SessionKey::Reset,
            Self::ToolCallChanged { message, call, .. } => SessionKey::Tool(*message, call.clone()),
            Self::ToolCallPermitted { message, call, action } => {
                SessionKey::Permitted(*message, call.clone(), *action == Action::Read)
            }
            Self::ToolOutput { message, call, .. } => SessionKey::Output(*message, call.clone()),
            Self::AgentsAtWork { message, call, .. } => SessionKey::Agents(*message, call.clone()),
            Self::CommandsChanged { .. } => SessionKey::Commands,
            Self::ApprovalsChanged { .. } => SessionKey::Approvals,
            Self::TodosChanged { .. } => SessionKey::Todos,
            Self::FilesChanged => SessionKey::Files,
            Self::ContextUsageChanged { .. } => SessionKey::ContextUsage,
            Self::QueueChanged { .. } => SessionKey::Queue,
            Self::StageChanged { .. } => SessionKey::Stage,
        }
    }
}
