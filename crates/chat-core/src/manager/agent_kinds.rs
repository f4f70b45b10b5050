//! Lists the kinds of agents, and registers more.

use std::sync::{Arc, PoisonError};

use super::Manager;
use crate::agent::Agent;
use crate::event::Event;

/// A kind of agent, as a person chooses it for a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentKind {
    /// Its name, as stored with sessions.
    pub name: String,
    /// Its title, for people, in English: front ends translate it.
    pub title: String,
    /// What it does, in a line, in English.
    pub description: String,
    /// The panel that it brings, by name.
    pub panel: Option<&'static str>,
}

/// The kinds of agents that there are. From [`Manager::agent_kinds`].
#[derive(Clone, Debug)]
pub struct AgentKinds(pub(super) Manager);

impl AgentKinds {
    /// All kinds, the default first.
    pub fn list(&self) -> Vec<AgentKind> {
        let agents = self.0.inner.shared.agents.read().unwrap_or_else(PoisonError::into_inner);
        let infos = agents.iter().map(|agent| AgentKind {
            name: agent.name().to_owned(),
            title: agent.title().to_owned(),
            description: agent.description().to_owned(),
            panel: agent.panel(),
        });
        infos.collect()
    }

    /// Adds a kind, or replaces the one of its name, and emits `AgentKindsChanged`. Requests at work
    /// keep the agent that they began with.
    pub fn register(&self, agent: Arc<dyn Agent>) {
        let shared = &self.0.inner.shared;
        shared.agents.write().unwrap_or_else(PoisonError::into_inner).insert(agent);
        shared.hub.tell(&Event::AgentKindsChanged);
    }
}
