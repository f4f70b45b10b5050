//! `wait_agents`: waits for agents in the background.

use std::time::Duration;

use async_trait::async_trait;
use chat_core::message::ToolView;
use chat_core::tool::{
    Audience, CallData, Label, N_, Tense, Tool, ToolContext, ToolFailure, ToolInfo, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::agents;
use crate::spec::{arguments, spec};

/// How long to wait if the model does not say.
const SECONDS: u64 = 600;

/// Waits for agents in the background.
pub struct WaitAgents(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// All that work for you if missing
    #[serde(default)]
    names: Option<Vec<String>>,
    #[serde(default)]
    seconds: Option<u64>,
}

impl Default for WaitAgents {
    fn default() -> Self {
        let spec = spec::<Arguments>(
            "wait_agents",
            "Wait until agents in the background are done, and read their reports.",
        );
        let (title, summary) =
            (N_("Wait for Agents"), N_("Waits for agents that work in the background"));
        Self(agents::info(spec, title, summary, Audience::Leaders, label))
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let names = match call.view {
        Some(ToolView::Agents { agents }) => {
            agents.iter().map(|agent| agent.name.as_str()).collect::<Vec<_>>().join(", ")
        }
        _ => String::new(),
    };
    if tense == Tense::Done && !names.is_empty() {
        return Label::what(N_("Waited for {what}"), names);
    }
    Label::new(match tense {
        Tense::ToDo => N_("Wait for agents"),
        Tense::Doing => N_("Waiting for agents"),
        Tense::Done => N_("Waited for agents"),
        Tense::Failed => N_("Couldn’t wait for agents"),
    })
}

#[async_trait]
impl Tool for WaitAgents {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { names, seconds } = arguments(given)?;
        let limit = Duration::from_secs(seconds.unwrap_or(SECONDS));
        let team = context.team()?;
        let reports = team.wait(names.as_deref(), limit, &context.cancel).await?;
        if reports.is_empty() {
            return Ok(ToolOutput::text("No agent is working for you."));
        }
        agents::output(reports)
    }
}
