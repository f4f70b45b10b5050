//! `stop_command`: ends a command in the background, with all of its processes.

use async_trait::async_trait;
use chat_core::message::ToolSpec;
use chat_core::tool::{Tool, ToolContext, ToolFailure, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::run_command::{background, report};
use crate::spec::{arguments, spec};

/// Stops background commands.
pub struct StopCommand(ToolSpec);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// As `run_command` named it
    id: String,
}

impl Default for StopCommand {
    fn default() -> Self {
        Self(spec::<Arguments>("stop_command", "Stop a background command and all its processes."))
    }
}

#[async_trait]
impl Tool for StopCommand {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn needs_project(&self) -> bool {
        true
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { id } = arguments(given)?;
        let command = background(&context, &id)?;
        command.stop().await;
        report(&context, &command, &id)
    }
}
