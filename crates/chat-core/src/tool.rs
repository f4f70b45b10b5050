//! Something that a model may call.

mod aliases;
mod arguments;
mod bounds;
mod changes;
mod context;
mod info;
mod journals;
mod label;
mod memory;
mod registry;
mod server_context;
mod services;
mod source;
mod team;
mod worktrees;

use async_trait::async_trait;
use serde_json::Value;

use crate::message::ToolView;
use crate::settings::ToolSettings;

pub use aliases::{Alias, Form};
pub use arguments::{Checked, check, repair};
pub use bounds::{Bounds, Enforcement, Gap, UnavailableReason};
pub use changes::{ChangeRecorder, Changes};
pub use context::{CallApproval, Denied, PermissionCheck, PermissionGrant, ToolContext, ToolHost};
pub use info::{Hint, HintText, OutputForm, Target, ToolGroup, ToolIcon, ToolInfo, ToolKind};
pub use journals::Journals;
pub use label::{CallData, Label, Labels, MsgId, N_, Tense, Text};
pub use memory::{Background, Busy, Memory};
pub use registry::{Registry, Toolbox};
pub use server_context::{
    PromptArgument, PromptEntry, PromptMessage, ResourceEntry, ServerContext, ServerOffer,
    ServerPart, TypedArgument,
};
pub use services::{BoundsReport, LeftOvers, PageReader, ToolServices};
pub use source::{SourceScope, ToolSource};
pub use team::{AgentTask, Audience, MAIN, Team, TeamError};
pub use worktrees::{AgentWorktrees, MergedWorktree, NewWorktree, WorktreeWork};

/// A tool: what is known of it, and what it does.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What is known of it, which never changes.
    fn info(&self) -> &ToolInfo;

    /// Whether a call changes nothing, so that neighbouring ones may run at once. The arguments may
    /// not have been held against the schema yet.
    fn only_reads(&self, arguments: &Value) -> bool {
        let _ = arguments;
        self.info().kind.only_reads()
    }

    /// Whether it is there with these settings. One that is not set up is not offered.
    fn is_set_up(&self, settings: &ToolSettings) -> bool {
        let _ = settings;
        true
    }

    /// The server that offers it, if one does: people are told what its tools take of the context.
    fn server(&self) -> Option<&str> {
        None
    }

    /// Whether it loads skills: it is offered where there are some, and instructions list them then.
    fn loads_skills(&self) -> bool {
        false
    }

    /// Whether it finds tools that are not offered before that: a call of one that is not there is told of it.
    fn finds_tools(&self) -> bool {
        false
    }

    /// Whether it reads on where the output of another tool was too long: it is offered wherever a tool may keep one.
    fn reads_outputs(&self) -> bool {
        false
    }

    /// Runs it with arguments that fit its schema. Dropping the future ends all that it began; the
    /// context's token asks it to end by itself, with what it has.
    ///
    /// # Errors
    /// What went wrong, as the model gets it: it may try another way.
    async fn run(&self, arguments: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure>;
}

/// What a tool gives back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// The answer, as the model gets it.
    pub text: String,
    /// What was done, as data for people.
    pub view: Option<ToolView>,
    /// Whether the answer stays whole when the conversation is compacted.
    pub lasting: bool,
    /// Pictures that go with the answer: MIME type and bytes.
    pub pictures: Vec<(String, std::sync::Arc<[u8]>)>,
}

impl ToolOutput {
    /// An answer of text alone.
    pub fn text(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// The same with what is shown to people.
    #[must_use]
    pub fn view(self, view: ToolView) -> Self {
        Self { view: Some(view), ..self }
    }
}

/// What a tool could not do.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFailure {
    /// What went wrong, for the model: in English, and with what it needs to fix its call.
    pub text: String,
    /// What was done all the same, as data for people.
    pub view: Option<ToolView>,
}

impl ToolFailure {
    /// A failure that says why.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), view: None }
    }

    /// The same with what is shown to people.
    #[must_use]
    pub fn view(self, view: ToolView) -> Self {
        Self { view: Some(view), ..self }
    }
}

impl From<Denied> for ToolFailure {
    fn from(denied: Denied) -> Self {
        Self::new(denied.for_model())
    }
}
