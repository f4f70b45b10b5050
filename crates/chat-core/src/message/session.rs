//! Defines what is known of a session besides its messages.

use std::path::PathBuf;

use chat_permission::Mode;
use jiff::Timestamp;

use super::{AgentState, Fid, ModelRef, Options, ReplyFailure, Thinking};

/// A session without its messages: what its row in the store says, what the list of chats shows, and
/// what its next request is made with.
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own about a row")]
#[derive(Clone, Debug, Default, PartialEq, Hash)]
pub struct SessionMeta {
    /// Its id.
    pub fid: Fid,
    /// Its title.
    pub title: String,
    /// The session that it works for, where another one started it.
    pub parent: Option<Fid>,
    /// What it is called among the agents of its tree, where it is one of them.
    pub name: Option<String>,
    /// The folder of its project that its work is about, relative to the project; none is all of it.
    pub folder: Option<PathBuf>,
    /// Whether it is an agent that was closed: it has its transcript, and works again once it is asked.
    pub closed: bool,
    /// Its agent's name.
    pub agent: String,
    /// Its model, where one was chosen.
    pub model: Option<ModelRef>,
    /// How much to think.
    pub thinking: Thinking,
    /// Its options.
    pub options: Options,
    /// What the user tells the model for this chat alone, where that is something.
    pub instructions: Option<String>,
    /// The folder that it works in, where it has one.
    pub project: Option<PathBuf>,
    /// What its tools may do without asking.
    pub mode: Mode,
    /// Whether a reply came that nobody has looked at.
    pub unread: bool,
    /// What became of the last reply, where it failed or was interrupted.
    pub trouble: Option<ReplyFailure>,
    /// How the last work ended, where it is an agent that has worked; none while that is not known.
    pub ended: Option<AgentState>,
    /// When the user pinned it; none where it is not pinned.
    pub pinned: Option<Timestamp>,
    /// When the user archived it; none where it is in the list.
    pub archived: Option<Timestamp>,
    /// When it began.
    pub created: Timestamp,
    /// When it last had a message.
    pub updated: Timestamp,
    /// Whether another program is writing it: it can be read, not continued.
    pub in_use: bool,
    /// Whether it waits for the user in that program.
    pub asks: bool,
}

/// What the user may change about a session. Unset fields stay.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionChange {
    /// The agent.
    pub agent: Option<String>,
    /// The model.
    pub model: Option<ModelRef>,
    /// How much to think.
    pub thinking: Option<Thinking>,
    /// Options.
    pub options: Option<Options>,
    /// What the model is told for this chat alone; `Some(None)` takes it away.
    pub instructions: Option<Option<String>>,
    /// The folder to work in; `Some(None)` takes it away.
    pub project: Option<Option<PathBuf>>,
    /// What tools may do without asking.
    pub mode: Option<Mode>,
}

impl SessionChange {
    /// Makes the change.
    pub fn apply(self, session: &mut SessionMeta) {
        let Self { agent, model, thinking, options, instructions, project, mode } = self;
        set(&mut session.agent, agent);
        session.model = model.or(session.model.take());
        set(&mut session.thinking, thinking);
        set(&mut session.options, options);
        set(&mut session.instructions, instructions);
        set(&mut session.project, project);
        set(&mut session.mode, mode);
    }

    /// Adds a later change.
    pub fn add(&mut self, later: Self) {
        let Self { agent, model, thinking, options, instructions, project, mode } = later;
        self.agent = agent.or(self.agent.take());
        self.model = model.or(self.model.take());
        self.thinking = thinking.or(self.thinking);
        self.options = options.or(self.options.take());
        self.instructions = instructions.or(self.instructions.take());
        self.project = project.or(self.project.take());
        self.mode = mode.or(self.mode);
    }
}

fn set<T>(field: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *field = value;
    }
}
