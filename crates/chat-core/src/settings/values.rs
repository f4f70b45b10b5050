//! Defines the settings as data, with their defaults.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{
    AgentSettings, ColorScheme, ColumnWidth, Connection, PermissionSettings, ToolSettings, Zoom,
};
use crate::message::{Delivery, ModelRef, Options, Thinking};

/// Everything that `config.toml` holds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// How conversations work.
    pub chat: ChatSettings,
    /// How the window behaves.
    pub ui: UiSettings,
    /// How Natter's own engine works.
    pub engine: EngineSettings,
    /// How tools work.
    pub tools: ToolSettings,
    /// How agents work for each other.
    pub agents: AgentSettings,
    /// What tools may do.
    pub permissions: PermissionSettings,
    /// The configured servers, in the person's order.
    pub connections: Vec<Connection>,
    /// What was set for single projects, by their folders.
    pub projects: BTreeMap<String, ProjectSettings>,
    /// What was set for single models, by `connection/model`.
    pub models: BTreeMap<String, ModelUsage>,
}

/// How conversations work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ChatSettings {
    /// The model of a new chat; none means the last one used, or the first there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelRef>,
    /// The agent of a new chat.
    pub agent: String,
    /// Whether a better title is asked of the model after the first reply.
    pub better_titles: bool,
    /// What the model is told in all chats.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub instructions: String,
    /// How full a model's window may be before earlier messages go out in short, of 100; 0 is
    /// never.
    pub compact_at: u8,
    /// Whether servers on their usual ports of this machine are looked for at start.
    pub find_local_servers: bool,
    /// When a message that is sent while a reply runs reaches the model.
    #[serde(skip_serializing_if = "WhileBusy::is_default")]
    pub while_busy: WhileBusy,
}

/// When a message that is sent while a reply runs reaches the model, where it does not say so itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WhileBusy {
    /// After the current step.
    #[default]
    Steer,
    /// After the reply.
    Queue,
}

impl WhileBusy {
    /// The other one.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Steer => Self::Queue,
            Self::Queue => Self::Steer,
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

impl From<WhileBusy> for Delivery {
    fn from(while_busy: WhileBusy) -> Self {
        match while_busy {
            WhileBusy::Steer => Self::Steer,
            WhileBusy::Queue => Self::Queue,
        }
    }
}

impl Default for ChatSettings {
    fn default() -> Self {
        Self {
            model: None,
            agent: "just-ask".to_owned(),
            better_titles: true,
            instructions: String::new(),
            compact_at: 80,
            find_local_servers: true,
            while_busy: WhileBusy::default(),
        }
    }
}

/// How Natter's own engine works. Taken when it starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EngineSettings {
    /// Threads to compute with; none is all processors but one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// Conversations at once with one model. They divide its window.
    pub slots: u32,
    /// Minutes after which a model that nobody uses is unloaded.
    pub idle_minutes: u32,
    /// The memory that all loaded models may take, in megabytes; none is what the machine has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_mb: Option<u64>,
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self { threads: None, slots: 1, idle_minutes: 10, memory_mb: None }
    }
}

/// How the window behaves.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub struct UiSettings {
    /// Enter sends and Shift+Enter breaks the line; otherwise the other way round.
    pub enter_sends: bool,
    /// The models that stand first where one is chosen, in the order in which they were marked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub favourites: Vec<ModelRef>,
    /// Whether the person knows that the model that Natter brings along is a tiny one.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tiny_is_known: bool,
    /// The desktop says what happens in a chat that is not looked at.
    pub notifications: bool,
    /// Whether the list groups chats by the folders that they work in.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub group_by_project: bool,
    /// Which colors the window has.
    #[serde(skip_serializing_if = "ColorScheme::is_default")]
    pub color_scheme: ColorScheme,
    /// The size of the texts in conversations, messages and files, in percent of the usual one.
    #[serde(skip_serializing_if = "Zoom::is_default")]
    pub zoom: Zoom,
    /// How wide a conversation may become.
    #[serde(skip_serializing_if = "ColumnWidth::is_default")]
    pub column: ColumnWidth,
}

impl UiSettings {
    /// Marks a model as a favourite, or takes the mark away.
    pub fn set_favourite(&mut self, model: &ModelRef, favourite: bool) {
        self.favourites.retain(|other| other != model);
        if favourite {
            self.favourites.push(model.clone());
        }
    }
}

impl Default for UiSettings {
    fn default() -> Self {
        Self {
            enter_sends: true,
            favourites: Vec::new(),
            tiny_is_known: false,
            notifications: true,
            group_by_project: false,
            color_scheme: ColorScheme::default(),
            zoom: Zoom::default(),
            column: ColumnWidth::default(),
        }
    }
}

/// A model on a connection together with its options.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ModelUsage {
    /// How much it is to think.
    pub thinking: Thinking,
    /// Its options.
    #[serde(flatten)]
    pub options: Options,
}

/// What was set for a project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ProjectSettings {
    /// What the model is told in its chats.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub instructions: String,
}

impl Settings {
    /// What the model is told in the chats of a project besides what it is told in all; may be empty.
    pub fn project_instructions(&self, project: &Path) -> &str {
        let known = project.to_str().and_then(|project| self.projects.get(project));
        known.map_or("", |project| &project.instructions)
    }

    /// Sets that.
    pub fn set_project_instructions(&mut self, project: &Path, instructions: &str) {
        let Some(project) = project.to_str() else { return };
        let known = self.projects.entry(project.to_owned()).or_default();
        instructions.trim().clone_into(&mut known.instructions);
        self.projects.retain(|_, project| *project != ProjectSettings::default());
    }
}
