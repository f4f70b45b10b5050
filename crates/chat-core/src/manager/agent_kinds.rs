//! Lists the kinds of agents, and registers more.

use std::path::Path;
use std::sync::{Arc, PoisonError};

use chat_definitions::{AgentDefinition, Color, Origin};
use chat_permission::Mode;

use super::Manager;
use crate::agent::{Agent, FileAgent};
use crate::event::Event;

/// A kind of agent, as a person chooses it for a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentKind {
    /// Its name, as stored with sessions.
    pub name: String,
    /// Its title, for people, in English: front ends translate it. That of an agent in a file is its name.
    pub title: String,
    /// What it does, in a line, in English or as its author wrote it; empty where that says nothing.
    pub description: String,
    /// The panel that it brings, by name.
    pub panel: Option<&'static str>,
    /// Whose file it is in; none for one that is part of the program.
    pub origin: Option<Origin>,
    /// The color that its author chose.
    pub color: Option<Color>,
    /// What its tools may do unasked at most, whatever the chat's mode is.
    pub ceiling: Option<Mode>,
    /// The model that it uses where the user chose none, as its author wrote it.
    pub model: Option<String>,
}

impl AgentKind {
    fn of(agent: &dyn Agent) -> Self {
        Self {
            name: agent.name().to_owned(),
            title: agent.title().to_owned(),
            description: agent.description().to_owned(),
            panel: agent.panel(),
            origin: None,
            color: None,
            ceiling: agent.ceiling(),
            model: agent.model().map(str::to_owned),
        }
    }

    fn in_file(definition: &Arc<AgentDefinition>) -> Self {
        let origin = Some(definition.place.origin);
        Self { origin, color: definition.color, ..Self::of(&FileAgent::new(definition)) }
    }
}

/// The kinds of agents that there are. From [`Manager::agent_kinds`].
#[derive(Clone, Debug)]
pub struct AgentKinds(pub(super) Manager);

impl AgentKinds {
    /// The kinds that there are in every chat, the default first: those of the program, then those in the user's
    /// files.
    pub fn list(&self) -> Vec<AgentKind> {
        self.of_project(None)
    }

    /// The same with those in the files of a project that the user trusts, as far as these have been read
    /// ([`DefinitionFiles::of_project`](super::DefinitionFiles::of_project)).
    pub fn of_project(&self, project: Option<&Path>) -> Vec<AgentKind> {
        let shared = &self.0.inner.shared;
        let agents = shared.agents.read().unwrap_or_else(PoisonError::into_inner);
        let mut kinds: Vec<_> = agents.iter().map(|agent| AgentKind::of(&**agent)).collect();
        let definitions = self.0.inner.definitions.current(project);
        let in_files = definitions.agents.iter().filter(|agent| agents.get(&agent.name).is_none());
        kinds.extend(in_files.map(AgentKind::in_file));
        kinds
    }

    /// Adds a kind, or replaces the one of its name, and emits `AgentKindsChanged`. Requests at work
    /// keep the agent that they began with.
    pub fn register(&self, agent: Arc<dyn Agent>) {
        let shared = &self.0.inner.shared;
        shared.agents.write().unwrap_or_else(PoisonError::into_inner).insert(agent);
        shared.hub.tell(&Event::AgentKindsChanged);
    }
}
