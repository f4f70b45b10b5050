//! Defines the built-in commands.

use gettextrs::gettext;

/// A command that the front ends carry out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuiltIn {
    /// Starts a new chat.
    Clear,
    /// Compacts earlier messages.
    Compact,
    /// Switches to plan mode.
    Plan,
    /// Shows the changes to review.
    Review,
    /// Exports the chat.
    Export,
    /// Shows or chooses the model.
    Model,
    /// Shows or chooses the agent.
    Agent,
    /// Shows or chooses what tools may do without asking.
    Mode,
    /// Undoes the file changes since the last message.
    Undo,
    /// Shows all commands.
    Help,
}

/// Where commands are typed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrontEnd {
    /// The window.
    Window,
    /// `natter-cli chat`.
    Terminal,
}

impl BuiltIn {
    /// All of them, in the order in which they are shown.
    pub const ALL: &[Self] = &[
        Self::Clear,
        Self::Compact,
        Self::Plan,
        Self::Review,
        Self::Export,
        Self::Model,
        Self::Agent,
        Self::Mode,
        Self::Undo,
        Self::Help,
    ];

    /// The one of this name or alias.
    pub fn named(name: &str) -> Option<Self> {
        let is_it = |command: &Self| command.name() == name || command.aliases().contains(&name);
        Self::ALL.iter().copied().find(is_it)
    }

    /// Its name, without the slash.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Compact => "compact",
            Self::Plan => "plan",
            Self::Review => "review",
            Self::Export => "export",
            Self::Model => "model",
            Self::Agent => "agent",
            Self::Mode => "mode",
            Self::Undo => "undo",
            Self::Help => "help",
        }
    }

    /// Its other names.
    pub fn aliases(self) -> &'static [&'static str] {
        match self {
            Self::Clear => &["new"],
            Self::Model => &["models"],
            _ => &[],
        }
    }

    /// The arguments that it takes, for people; empty if it takes none.
    pub fn arguments(self, front_end: FrontEnd) -> String {
        match (self, front_end) {
            (Self::Compact, _) => "[undo]".to_owned(),
            (Self::Plan, _) => gettext("[MESSAGE]"),
            (Self::Model | Self::Agent, _) => gettext("[NAME]"),
            (Self::Mode, _) => gettext("[MODE]"),
            (Self::Export, FrontEnd::Terminal) => gettext("[FILE]"),
            _ => String::new(),
        }
    }

    /// What it does, in a line.
    pub fn description(self) -> String {
        match self {
            Self::Clear => gettext("Start a new chat"),
            Self::Compact => gettext("Compact earlier messages into a summary, or undo that"),
            Self::Plan => gettext("Switch to plan mode, which changes nothing"),
            Self::Review => gettext("Show the changes to review"),
            Self::Export => gettext("Export this chat as Markdown"),
            Self::Model => gettext("List models, or switch to another one"),
            Self::Agent => gettext("List agents, or switch to another one"),
            Self::Mode => gettext("Show what tools may do without asking, or change it"),
            Self::Undo => gettext("Undo changes to files since your last message"),
            Self::Help => gettext("Show all commands"),
        }
    }
}
