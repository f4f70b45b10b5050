//! `message_agent`: sends an agent a message without waiting.

use async_trait::async_trait;
use chat_core::tool::{
    Audience, CallData, Label, N_, Tense, Tool, ToolContext, ToolFailure, ToolInfo, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::agents;
use crate::spec::{arguments, spec};

/// Sends an agent a message without waiting.
pub struct MessageAgent(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
    message: String,
    /// Stop what it does now
    #[serde(default)]
    interrupt: bool,
}

impl Default for MessageAgent {
    fn default() -> Self {
        let spec = spec::<Arguments>("message_agent", "Send an agent a message without waiting.");
        let (title, summary) = (N_("Message Agents"), N_("Sends another agent a message"));
        Self(agents::info(spec, title, summary, Audience::Members, label))
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let sentence = match tense {
        Tense::ToDo => N_("Message agent {what}"),
        Tense::Doing => N_("Messaging agent {what}"),
        Tense::Done => N_("Messaged agent {what}"),
        Tense::Failed => N_("Couldn’t message agent {what}"),
    };
    Label::what(sentence, agents::name(&call))
}

#[async_trait]
impl Tool for MessageAgent {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { name, message, interrupt } = arguments(given)?;
        let report = context.team()?.tell(&name, &message, interrupt).await?;
        agents::output(vec![report])
    }
}
