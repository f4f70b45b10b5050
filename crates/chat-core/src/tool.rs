//! Something that a model may call.

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::message::ToolSpec;

/// A tool: what it is called, what it takes, and what it does.
#[async_trait]
pub trait Tool: Send + Sync {
    /// The tool as it is told to a model.
    fn spec(&self) -> &ToolSpec;

    /// Whether it changes nothing, so that neighbouring calls of such tools may run at once.
    fn reads_only(&self) -> bool;

    /// Runs it. The error's text goes to the model, which may try another way.
    async fn run(&self, arguments: Value, context: ToolContext) -> Result<String, String>;
}

/// How a running tool reaches what is around it; never a client.
#[derive(Clone, Debug)]
pub struct ToolContext {
    /// Fires when the person stops the request.
    pub cancel: CancellationToken,
}

/// The tools that there are, by name.
#[derive(Clone, Default)]
pub struct Registry {
    tools: BTreeMap<String, Arc<dyn Tool>>,
}

impl Registry {
    /// Adds a tool, or replaces the one of the same name.
    pub fn register(&mut self, tool: Arc<dyn Tool>) {
        self.tools.insert(tool.spec().name.clone(), tool);
    }

    /// A tool by its name.
    pub fn get(&self, name: &str) -> Option<&Arc<dyn Tool>> {
        self.tools.get(name)
    }

    /// Their names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// All of them as they are told to a model, in order.
    pub fn specs(&self) -> Vec<ToolSpec> {
        self.tools.values().map(|tool| tool.spec().clone()).collect()
    }
}

impl std::fmt::Debug for Registry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}
