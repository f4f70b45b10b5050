//! `ask_agent`: asks an agent and waits for its answer.

use async_trait::async_trait;
use chat_core::tool::{
    Audience, CallData, Label, N_, Tense, Tool, ToolContext, ToolFailure, ToolInfo, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::agents;
use crate::spec::{arguments, spec};

/// Asks an agent and waits for its answer.
pub struct AskAgent(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
    message: String,
}

impl Default for AskAgent {
    fn default() -> Self {
        let spec = spec::<Arguments>(
            "ask_agent",
            "Ask an agent something and wait for its answer. It remembers what it did.",
        );
        let (title, summary) =
            (N_("Ask Agents"), N_("Asks another agent and waits for its answer"));
        Self(agents::info(spec, title, summary, Audience::Members, label))
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let sentence = match tense {
        Tense::ToDo => N_("Ask agent {what}"),
        Tense::Doing => N_("Asking agent {what}"),
        Tense::Done => N_("Asked agent {what}"),
        Tense::Failed => N_("Agent {what} didn’t answer"),
    };
    Label::what(sentence, agents::name(&call))
}

#[async_trait]
impl Tool for AskAgent {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { name, message } = arguments(given)?;
        let report = context.team()?.ask(&name, &message, &context.cancel).await?;
        agents::output(vec![report])
    }
}
