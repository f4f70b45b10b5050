//! `read_output`: what a command in the background wrote since it was read before.

use async_trait::async_trait;
use chat_core::message::ToolSpec;
use chat_core::tool::{Tool, ToolContext, ToolFailure, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::run_command::{background, report};
use crate::spec::{arguments, spec};

/// Reads what background commands write.
pub struct ReadOutput(ToolSpec);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// As `run_command` named it
    id: String,
}

impl Default for ReadOutput {
    fn default() -> Self {
        Self(spec::<Arguments>(
            "read_output",
            "Read what a background command wrote since you last read it, and whether it still runs.",
        ))
    }
}

#[async_trait]
impl Tool for ReadOutput {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn reads_only(&self) -> bool {
        true
    }

    fn needs_project(&self) -> bool {
        true
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { id } = arguments(given)?;
        let command = background(&context, &id)?;
        report(&context, &command, &id)
    }
}
