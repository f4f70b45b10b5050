//! Lists the commands that a message can begin with, `/name arguments`, and finds the one that is typed.
//!
//! There are four kinds: built-in ones, which the front ends carry out; the user's and a trusted project's from
//! `commands/*.md`; skills; and the prompts of MCP servers, `/server:prompt`. All but the first are sent: the message
//! stays as typed, and the text of the command, skill or prompt goes with it.

mod built_in;
mod sending;
mod server_prompts;
mod typed;

use std::cmp::Reverse;
use std::sync::Arc;

use chat_core::definitions::{CommandDefinition, Definitions, Skill};

use crate::fuzzy;
pub use built_in::{BuiltIn, FrontEnd};
pub use sending::attach;
pub use server_prompts::ServerPrompt;
pub use typed::{Typed, as_typed, invalid_words, shadowed_words, unexpected_words, unknown_words};

/// A command that a message can begin with.
#[derive(Clone, Debug, PartialEq)]
pub struct SlashCommand {
    /// What it does.
    pub kind: CommandKind,
    /// Its name, without the slash.
    pub name: String,
    /// The arguments that it takes, for people; empty if none are named.
    pub arguments: String,
    /// What it does, in a line; may be empty.
    pub description: String,
}

/// The kinds of commands.
#[derive(Clone, Debug, PartialEq)]
pub enum CommandKind {
    /// The front end carries it out.
    BuiltIn(BuiltIn),
    /// The text of a file is sent.
    File(Arc<CommandDefinition>),
    /// The text of a skill is sent.
    Skill(Arc<Skill>),
    /// What a prompt of an MCP server says is sent.
    Prompt(Arc<ServerPrompt>),
    /// An MCP server that was not asked for its prompts yet: its name begins theirs.
    Server,
}

/// The commands of a chat.
#[derive(Clone, Debug, PartialEq)]
pub struct SlashCommands {
    /// Built-in ones, those from files, skills, then those of servers.
    list: Vec<SlashCommand>,
    /// The names of the servers, and of those that were not asked yet.
    servers: Vec<String>,
    unasked: Vec<String>,
    shadowed: Vec<String>,
    /// Where those from files come from, which know why others are not in use.
    definitions: Definitions,
}

impl SlashCommand {
    /// Whether its file says by which model it is answered.
    pub fn names_model(&self) -> bool {
        matches!(&self.kind, CommandKind::File(command) if command.model.is_some())
    }

    /// The same, but answered by the model that its message names.
    #[must_use]
    pub fn without_model(mut self) -> Self {
        if let CommandKind::File(command) = &mut self.kind {
            Arc::make_mut(command).model = None;
        }
        self
    }

    fn built_in(command: BuiltIn, front_end: FrontEnd) -> Self {
        Self {
            kind: CommandKind::BuiltIn(command),
            name: command.name().to_owned(),
            arguments: command.arguments(front_end),
            description: command.description(),
        }
    }

    fn file(command: &Arc<CommandDefinition>) -> Self {
        Self {
            kind: CommandKind::File(Arc::clone(command)),
            name: command.name.clone(),
            arguments: command.arguments.clone().unwrap_or_default(),
            description: command.description.clone().unwrap_or_default(),
        }
    }

    fn skill(skill: &Arc<Skill>) -> Self {
        Self {
            kind: CommandKind::Skill(Arc::clone(skill)),
            name: skill.name.clone(),
            arguments: String::new(),
            description: skill.description.clone(),
        }
    }

    /// Whether it is a skill.
    pub fn is_skill(&self) -> bool {
        matches!(self.kind, CommandKind::Skill(_))
    }

    /// Whether it is a prompt of a server, or stands for one of them.
    pub fn is_of_server(&self) -> bool {
        matches!(self.kind, CommandKind::Prompt(_) | CommandKind::Server)
    }

    /// The place of its section in lists.
    fn section(&self) -> u8 {
        match self.kind {
            CommandKind::BuiltIn(_) | CommandKind::File(_) => 0,
            CommandKind::Skill(_) => 1,
            CommandKind::Prompt(_) | CommandKind::Server => 2,
        }
    }

    /// Whether whoever chooses it probably wants to type more before it is sent.
    pub fn waits_for_arguments(&self) -> bool {
        match &self.kind {
            CommandKind::BuiltIn(_) => false,
            CommandKind::File(command) => command.arguments.is_some() || takes_arguments(command),
            CommandKind::Skill(_) | CommandKind::Server => true,
            CommandKind::Prompt(prompt) => !prompt.prompt.arguments.is_empty(),
        }
    }

    fn score(&self, query: &str) -> Option<(bool, i32)> {
        let aliases = match self.kind {
            CommandKind::BuiltIn(command) => command.aliases(),
            _ => &[],
        };
        let names = || aliases.iter().copied().chain([self.name.as_str()]);
        let best = names().filter_map(|name| fuzzy::score(query, name)).max()?;
        Some((names().any(|name| name == query), best))
    }
}

/// Whether a command puts its arguments into its text: then it is another one without any.
fn takes_arguments(command: &CommandDefinition) -> bool {
    command.expand("") != command.body
}

impl SlashCommands {
    /// The commands of a front end. Built-in ones win over files and skills of the same name, and files over skills.
    pub fn new(definitions: &Definitions, front_end: FrontEnd) -> Self {
        let mut list: Vec<_> = BuiltIn::ALL
            .iter()
            .map(|command| SlashCommand::built_in(*command, front_end))
            .collect();
        let mut shadowed = Vec::new();
        let files = definitions.commands.iter().map(SlashCommand::file);
        for command in files.chain(definitions.skills.iter().map(SlashCommand::skill)) {
            let is_taken = BuiltIn::named(&command.name).is_some()
                || list.iter().any(|other| other.name == command.name);
            if is_taken {
                shadowed.push(command.name);
            } else {
                list.push(command);
            }
        }
        let (servers, unasked) = (Vec::new(), Vec::new());
        Self { list, servers, unasked, shadowed, definitions: definitions.clone() }
    }

    /// All of them.
    pub fn all(&self) -> &[SlashCommand] {
        &self.list
    }

    /// The names of files and skills that another command of the same name is used for.
    pub fn shadowed(&self) -> &[String] {
        &self.shadowed
    }

    /// Those whose names have the letters of `query` in this order, commands before skills and these before what
    /// servers have, the best of each first, and the position of the best of all.
    pub fn matching(&self, query: &str) -> (Vec<&SlashCommand>, usize) {
        // The name of a server that is typed out says nothing more.
        let is_typed =
            |it: &&SlashCommand| matches!(it.kind, CommandKind::Server) && it.name == query;
        let offered = self.list.iter().filter(|command| !is_typed(command));
        let mut found: Vec<_> =
            offered.filter_map(|command| Some((command, command.score(query)?))).collect();
        if !query.is_empty() {
            found.sort_by_key(|(command, score)| (command.section(), Reverse(*score)));
        }
        let scores = found.iter().map(|(_, score)| score).enumerate();
        // Of equal ones, the first.
        let best = scores.max_by_key(|(at, score)| (**score, Reverse(*at)));
        let best = best.filter(|_| !query.is_empty()).map_or(0, |(at, _)| at);
        (found.into_iter().map(|(command, _)| command).collect(), best)
    }

    /// The command of this name, also by an alias of a built-in one.
    fn named(&self, name: &str) -> Option<&SlashCommand> {
        let built_in = BuiltIn::named(name).map(CommandKind::BuiltIn);
        self.list
            .iter()
            .find(|command| Some(&command.kind) == built_in.as_ref())
            .or_else(|| self.list.iter().find(|command| command.name == name))
    }
}

impl Default for SlashCommands {
    /// The built-in ones of the window.
    fn default() -> Self {
        Self::new(&Definitions::default(), FrontEnd::Window)
    }
}

#[cfg(test)]
mod tests;
