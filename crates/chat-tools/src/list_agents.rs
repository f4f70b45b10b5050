//! `list_agents`: lists the other agents of the tree.

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

/// Lists the other agents of the tree.
pub struct ListAgents(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {}

impl Default for ListAgents {
    fn default() -> Self {
        let spec = spec::<Arguments>("list_agents", "List the other agents and what they do.");
        let (title, summary) = (N_("List Agents"), N_("Lists the other agents and what they do"));
        Self(agents::info(spec, title, summary, Audience::Members, label))
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let _ = call;
    Label::new(match tense {
        Tense::ToDo => N_("List the agents"),
        Tense::Doing => N_("Listing the agents"),
        Tense::Done => N_("Listed the agents"),
        Tense::Failed => N_("Couldn’t list the agents"),
    })
}

#[async_trait]
impl Tool for ListAgents {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments {} = arguments(given)?;
        let all = context.team()?.list().await?;
        if all.is_empty() {
            return Ok(ToolOutput::text("There are no other agents."));
        }
        let text: Vec<_> =
            all.iter().map(|(report, is_closed)| report.for_list(*is_closed)).collect();
        let agents = all.into_iter().map(|(report, _)| report).collect();
        Ok(ToolOutput::text(text.join("\n")).view(ToolView::Agents { agents }))
    }
}
