//! Keeps the registered agents.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::{Agent, CodeAssistant, DEFAULT, JustAsk};

/// The agents, by name. Just Ask is always among them.
#[derive(Clone)]
pub struct AgentRegistry(BTreeMap<String, Arc<dyn Agent>>);

impl AgentRegistry {
    /// Natter's own agents.
    pub fn built_in() -> Self {
        Self::from_iter([Arc::new(CodeAssistant) as Arc<dyn Agent>])
    }

    /// Adds an agent, or replaces the one of its name.
    pub fn insert(&mut self, agent: Arc<dyn Agent>) {
        self.0.insert(agent.name().to_owned(), agent);
    }

    /// The agent of this name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Agent>> {
        self.0.get(name)
    }

    /// All agents: the default first, the others by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Agent>> {
        let others = self.0.iter().filter(|(name, _)| *name != DEFAULT).map(|(_, agent)| agent);
        self.get(DEFAULT).into_iter().chain(others)
    }
}

impl Default for AgentRegistry {
    fn default() -> Self {
        Self::from_iter([])
    }
}

impl FromIterator<Arc<dyn Agent>> for AgentRegistry {
    fn from_iter<Agents: IntoIterator<Item = Arc<dyn Agent>>>(agents: Agents) -> Self {
        let mut registry = Self(BTreeMap::new());
        registry.insert(Arc::new(JustAsk));
        for agent in agents {
            registry.insert(agent);
        }
        registry
    }
}

impl fmt::Debug for AgentRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn just_ask_is_always_there_and_first() {
        let names = |registry: &AgentRegistry| {
            registry.iter().map(|agent| agent.name().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(names(&AgentRegistry::default()), ["just-ask"]);
        assert_eq!(names(&AgentRegistry::built_in()), ["just-ask", "code-assistant"]);
    }
}
