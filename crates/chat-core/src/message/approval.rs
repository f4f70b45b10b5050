//! Defines what waits for the user's answer, and the answers.

use std::path::PathBuf;
use std::time::Duration;

use chat_permission::{Action, Effect, Rule, Scope, Why};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::{Form, FormAnswer, ToolCallId};

/// The id of something that waits for an answer; unique over all sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ApprovalId(Uuid);

impl ApprovalId {
    /// A new id.
    #[must_use]
    pub fn generate() -> Self {
        Self(Uuid::now_v7())
    }
}

/// A request that a tool waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct ApprovalRequest {
    /// Its id, to answer it by.
    pub id: ApprovalId,
    /// The call that waits; of the question whether to go on, the last one that ran.
    pub call: ToolCallId,
    /// The tool's name.
    pub tool: String,
    /// What is asked.
    pub kind: ApprovalKind,
}

/// What the user is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum ApprovalKind {
    /// Whether a tool may do something.
    Permission(PermissionRequest),
    /// A question of the model's.
    Question(Question),
    /// What a server asks the user to fill in.
    Form(Form),
    /// Whether to continue: the limit of rounds is reached. [`Answer::Allow`] gives as many again.
    GoOn {
        /// How many rounds of tool calls there were since it was asked before.
        rounds: u32,
    },
}

/// Whether a tool may do something.
#[derive(Clone, Debug, PartialEq)]
pub struct PermissionRequest {
    /// What kind of thing.
    pub action: Action,
    /// What it is done to: the resolved path, the command, the host.
    pub target: String,
    /// Everything that would be done.
    pub preview: Preview,
    /// Why it is asked, the most serious reason first. There is at least one.
    pub reasons: Vec<AskReason>,
    /// Exactly what an answer for longer would store. Empty where such an answer is not possible.
    pub always: Vec<Rule>,
}

/// Why it is asked whether a tool may do something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskReason {
    /// The reason.
    pub why: Why,
    /// Where the rule holds that `why` names; none where it names none.
    pub scope: Option<Scope>,
}

impl From<Why> for AskReason {
    fn from(why: Why) -> Self {
        Self { why, scope: None }
    }
}

/// Everything that a tool would do, to be shown before it is allowed.
#[derive(Clone, Debug, PartialEq)]
pub enum Preview {
    /// Nothing beyond the target.
    Target,
    /// A command.
    Command {
        /// All of it, with all its lines.
        text: String,
        /// Where it would run.
        folder: PathBuf,
        /// Whether it would reach the network.
        network: bool,
        /// Whether it would run in a sandbox.
        sandboxed: bool,
        /// Whether it would run in the background, where it may outlast the reply.
        background: bool,
        /// When it would be stopped. None of a command in the background without a limit.
        limit: Option<Duration>,
        /// Why rules or the mode keep it in its sandbox; then [`Answer::AllowOutsideSandbox`] is not to be
        /// offered. None where it may run outside, and where there is no sandbox.
        stays_inside: Option<Why>,
    },
    /// A change of a file, or a new one.
    Change {
        /// Whether the file does not exist yet.
        is_new: bool,
        /// What would change, as a unified diff without its file header.
        diff: String,
        /// How many lines would come.
        added: u64,
        /// How many lines would go.
        removed: u64,
    },
    /// A file or a folder would go to the trash.
    Delete,
    /// A file would be moved: from the target, to here.
    Move {
        /// To where.
        to: PathBuf,
    },
    /// An address would be fetched.
    Address {
        /// All of it.
        url: String,
    },
    /// A tool of an MCP server would be used.
    ServerTool {
        /// What people call it.
        title: String,
        /// What it would be given, as JSON of several lines.
        arguments: String,
        /// What the server changed of its description since the tool was allowed.
        changes: Vec<ServerToolChange>,
    },
    /// What came from an address would be stored as the target.
    Store {
        /// All of the address.
        url: String,
        /// How many bytes it has.
        bytes: u64,
    },
}

/// Something that a server says of a tool, and said otherwise when the user allowed the tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerToolChange {
    /// What people call it.
    Title {
        /// When it was allowed.
        before: String,
        /// Now.
        now: String,
    },
    /// What it does.
    Description {
        /// The change, as a unified diff without its file header.
        diff: String,
    },
    /// What it takes.
    Inputs {
        /// The change of their schema, as a unified diff without its file header.
        diff: String,
    },
    /// Whether it only reads.
    ReadOnly {
        /// Whether the server says so now.
        now: bool,
    },
}

impl Preview {
    /// Whether [`Answer::AllowOutsideSandbox`] is to be offered.
    pub fn can_leave_sandbox(&self) -> bool {
        matches!(self, Self::Command { sandboxed: true, stays_inside: None, .. })
    }
}

/// A question of the model's to the person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The question; what a model says is data.
    pub text: String,
    /// Answers to choose from; another can always be given.
    pub choices: Vec<String>,
}

/// What the user answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It may be done, now alone or for longer.
    Allow(Option<Scope>),
    /// The command may run this once, outside the sandbox that it was to run in. Never remembered, and refused where
    /// the command [stays inside](Preview::Command::stays_inside).
    AllowOutsideSandbox,
    /// It may be done or not, and these rules are stored instead of those that were asked about.
    Remember {
        /// What the rules do; this call goes by it too.
        effect: Effect,
        /// How long they hold.
        scope: Scope,
        /// The rules, as the person wrote them.
        rules: Vec<Rule>,
        /// A word to the model, where it is denied.
        message: Option<String>,
    },
    /// It may not.
    Deny {
        /// How long this holds; none is for this call.
        scope: Option<Scope>,
        /// A word to the model.
        message: Option<String>,
    },
    /// An answer to a question.
    Text(String),
    /// What is to be done with a form.
    Form(FormAnswer),
    /// Nobody is there to answer.
    Nobody,
}
