//! `close_agent`: stops and closes an agent.

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

/// Stops and closes an agent.
pub struct CloseAgent(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
}

impl Default for CloseAgent {
    fn default() -> Self {
        let spec = spec::<Arguments>(
            "close_agent",
            "Stop and close an agent of yours that you no longer need.",
        );
        let (title, summary) = (N_("Close Agents"), N_("Stops and closes an agent"));
        Self(agents::info(spec, title, summary, Audience::Leaders, label))
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let sentence = match tense {
        Tense::ToDo => N_("Close agent {what}"),
        Tense::Doing => N_("Closing agent {what}"),
        Tense::Done => N_("Closed agent {what}"),
        Tense::Failed => N_("Couldn’t close agent {what}"),
    };
    Label::what(sentence, agents::name(&call))
}

#[async_trait]
impl Tool for CloseAgent {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { name } = arguments(given)?;
        let report = context.team()?.close(&name).await?;
        let text = format!("Agent “{}” is closed.", report.name);
        Ok(ToolOutput::text(text).view(ToolView::Agents { agents: vec![report] }))
    }
}
