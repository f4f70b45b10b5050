//! Defines what is known of a tool without calling it.

use chat_permission::Action;
use serde_json::Value;

use super::{Alias, Audience, Labels, Text};
use crate::message::ToolSpec;

/// All that agents and front ends know of a tool. It says what the tool is, never what it may do:
/// permission comes only from rules, the mode and the user.
#[derive(Clone, Debug)]
pub struct ToolInfo {
    /// The tool's description for models: its name, what it does, the schema of its arguments.
    pub spec: ToolSpec,
    /// What people call it.
    pub title: Text,
    /// What it does, in one line for people.
    pub summary: Text,
    /// What it has to do with.
    pub group: ToolGroup,
    /// What its calls do.
    pub kind: ToolKind,
    /// The icon next to a call.
    pub icon: ToolIcon,
    /// What a call is called.
    pub labels: Labels,
    /// The file that a call is about, by its arguments, whatever the model gave.
    pub target: fn(&Value) -> Option<Target>,
    /// What it asks permission for.
    pub permissions: &'static [Action],
    /// Whether it is offered only where the session has a project.
    pub needs_project: bool,
    /// Which sessions are offered it, by their place in a tree of agents.
    pub audience: Audience,
    /// What its output was written for.
    pub output: OutputForm,
    /// Other names and forms in which models give its arguments.
    pub aliases: &'static [Alias],
    /// Lines of an agent's instructions, which stand there where the tool is offered.
    pub hints: &'static [Hint],
}

impl ToolInfo {
    /// A foreign tool, which has only its description for models. Nobody knows what its calls
    /// do, whatever it says of itself.
    pub fn foreign(spec: ToolSpec) -> Self {
        Self {
            title: Text::Verbatim(spec.name.clone()),
            summary: Text::Verbatim(spec.description.clone()),
            group: ToolGroup::Other,
            kind: ToolKind::Other,
            icon: ToolIcon::Other,
            labels: Labels::ByTitle,
            target: |_| None,
            permissions: &[],
            needs_project: false,
            audience: Audience::Everyone,
            output: OutputForm::Text,
            aliases: &[],
            hints: &[],
            spec,
        }
    }

    /// The name by which models call it.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// The title that a stored call keeps: only that of a foreign tool, if it differs from its name. It
    /// cannot be looked up when the tool is gone.
    pub fn stored_title(&self) -> Option<&str> {
        match &self.title {
            Text::Verbatim(title) if *title != self.spec.name => Some(title),
            Text::Verbatim(_) | Text::Message(_) => None,
        }
    }
}

/// What a tool has to do with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolGroup {
    /// Files.
    Files,
    /// Commands and what they write.
    Commands,
    /// The web.
    Web,
    /// The plan, and what is asked about it.
    Planning,
    /// Other agents.
    Agents,
    /// Anything else.
    Other,
}

/// What a tool's calls do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// Read, list or search.
    Reads,
    /// Change what files hold.
    Edits,
    /// Give files other names.
    Moves,
    /// Delete files.
    Deletes,
    /// Run commands.
    Runs,
    /// End commands.
    Stops,
    /// Fetch something over the network.
    Fetches,
    /// Keep the plan.
    Plans,
    /// Ask the person.
    Asks,
    /// Have agents work. What these do is judged for itself.
    Delegates,
    /// Perhaps anything.
    Other,
}

impl ToolKind {
    /// Whether a call changes nothing by itself, so that neighbouring calls may run at once.
    pub fn only_reads(self) -> bool {
        matches!(self, Self::Reads | Self::Fetches | Self::Delegates)
    }

    /// Whether it is offered in plan mode. Leave for what a command or a fetched file would change
    /// is refused there; the plan and a question change no file.
    pub fn in_plan_mode(self) -> bool {
        match self {
            Self::Reads
            | Self::Runs
            | Self::Fetches
            | Self::Plans
            | Self::Asks
            | Self::Delegates => true,
            Self::Edits | Self::Moves | Self::Deletes | Self::Stops | Self::Other => false,
        }
    }
}

/// The icon next to a call; each front end has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolIcon {
    /// A text.
    Text,
    /// A folder.
    Folder,
    /// A search.
    Search,
    /// A pen on a text.
    Edit,
    /// Something that goes elsewhere.
    Move,
    /// The trash.
    Trash,
    /// A terminal.
    Terminal,
    /// The web.
    Web,
    /// A list.
    Plan,
    /// A question.
    Question,
    /// Another agent.
    Agent,
    /// A tool.
    Other,
}

/// What a tool's output was written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputForm {
    /// Plain text.
    Text,
    /// A terminal: it may have colours.
    Terminal,
    /// Plain text that may end with a diff, as git writes it.
    Diff,
}

/// The file that a call is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its path, as the model wrote it.
    pub path: String,
    /// The line to look at, from 1.
    pub line: Option<u64>,
}

impl Target {
    /// The file that the argument `path` names.
    pub fn path(arguments: &Value) -> Option<Self> {
        let path = arguments.get("path")?.as_str()?.to_owned();
        Some(Self { path, line: None })
    }
}

/// A line of an agent's instructions that belongs to a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hint {
    /// Those with a lower number stand before it.
    pub order: u8,
    /// What it says.
    pub tells: HintText,
}

/// What a [`Hint`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintText {
    /// What the tool finds: it is named in the line on how things are found.
    Finds(&'static str),
    /// How the tool is used: a separate line.
    Line(&'static str),
}
