//! `read_output`: returns what a command in the background wrote since the last read.

use async_trait::async_trait;
use chat_core::message::ToolView;
use chat_core::tool::{
    Audience, CallData, Label, Labels, N_, OutputForm, Tense, Tool, ToolContext, ToolFailure,
    ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::run_command::{background, report};
use crate::spec::{arguments, spec};

/// Reads what background commands write.
pub struct ReadOutput(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The ID that `run_command` returned
    id: String,
}

impl Default for ReadOutput {
    fn default() -> Self {
        Self(info())
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>(
            "read_output",
            "Read what a background command has written since you last read it, and whether it is still running.",
        ),
        title: N_("Read Command Output").into(),
        summary: N_("Reads the output of a command running in the background").into(),
        group: ToolGroup::Commands,
        kind: ToolKind::Reads,
        icon: ToolIcon::Terminal,
        labels: Labels::Own(label),
        target: |_| None,
        permissions: &[],
        needs_project: true,
        audience: Audience::Everyone,
        output: OutputForm::Terminal,
        aliases: &[],
        hints: &[],
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    if let Some(ToolView::Ran { command, .. }) = call.view {
        return Label::what(N_("Read the output of {what}"), command);
    }
    let sentence = match tense {
        Tense::ToDo => N_("Read more of output {what}"),
        Tense::Doing => N_("Reading output {what}"),
        Tense::Done => N_("Read output {what}"),
        Tense::Failed => N_("Couldn’t read output {what}"),
    };
    Label::what(sentence, call.text("id"))
}

#[async_trait]
impl Tool for ReadOutput {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { id } = arguments(given)?;
        let command = background(&context, &id)?;
        report(&context, &command, &id)
    }
}
