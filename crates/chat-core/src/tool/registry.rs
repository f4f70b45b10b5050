//! Keeps the tools by name.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Tool, ToolInfo};
use crate::message::ToolSpec;

/// The tools that there are, by name.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl Registry {
    /// Adds a tool, or replaces the one of the same name.
    pub fn register(&mut self, tool: Arc<dyn Tool>) {
        self.tools.insert(tool.info().spec.name.clone(), tool);
    }

    /// A tool by its name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// All of them, in order.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn Tool>> {
        self.tools.values()
    }

    /// Their names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// The descriptions of all of them for models, in order.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.info().spec.clone()).collect()
    }

    /// What is known of them.
    pub fn toolbox(&self) -> Toolbox {
        self.tools.values().map(|tool| tool.info().clone()).collect()
    }

    /// Those of them that are wanted.
    #[must_use]
    pub fn only(&self, mut wanted: impl FnMut(&dyn Tool) -> bool) -> Self {
        let tools = self.tools.iter().filter(|(_, tool)| wanted(&***tool));
        Self { tools: tools.map(|(name, tool)| (name.clone(), Arc::clone(tool))).collect() }
    }

    /// The same with the tools of another registry; of two with the same name this one's counts.
    #[must_use]
    pub fn with(mut self, others: Self) -> Self {
        for (name, tool) in others.tools {
            self.tools.entry(name).or_insert(tool);
        }
        self
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }
}

impl FromIterator<Arc<dyn Tool>> for Registry {
    fn from_iter<I: IntoIterator<Item = Arc<dyn Tool>>>(tools: I) -> Self {
        let mut registry = Self::default();
        for tool in tools {
            registry.register(tool);
        }
        registry
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

/// What is known of the tools that there are, by name. Front ends get it of the Manager. Cheap to
/// clone.
#[derive(Clone, Debug, Default)]
pub struct Toolbox(Arc<BTreeMap<String, ToolInfo>>);

impl Toolbox {
    /// What is known of a tool.
    pub fn get(&self, name: &str) -> Option<&ToolInfo> {
        self.0.get(name)
    }

    /// What is known of all of them, in order.
    pub fn all(&self) -> impl Iterator<Item = &ToolInfo> {
        self.0.values()
    }
}

impl FromIterator<ToolInfo> for Toolbox {
    fn from_iter<I: IntoIterator<Item = ToolInfo>>(infos: I) -> Self {
        let named = infos.into_iter().map(|info| (info.spec.name.clone(), info));
        Self(Arc::new(named.collect()))
    }
}
