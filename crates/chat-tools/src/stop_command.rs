//! `stop_command`: ends a command in the background, with all of its processes.

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

/// Stops background commands.
pub struct StopCommand(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// The ID that `run_command` returned
    id: String,
}

impl Default for StopCommand {
    fn default() -> Self {
        Self(info())
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>("stop_command", "Stop a background command and all its processes."),
        title: N_("Stop Commands").into(),
        summary: N_("Stops a command running in the background").into(),
        group: ToolGroup::Commands,
        kind: ToolKind::Stops,
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
        return Label::what(N_("Stopped {what}"), command);
    }
    let sentence = match tense {
        Tense::ToDo => N_("Stop command {what}"),
        Tense::Doing => N_("Stopping command {what}"),
        Tense::Done => N_("Stopped command {what}"),
        Tense::Failed => N_("Couldn’t stop command {what}"),
    };
    Label::what(sentence, call.text("id"))
}

#[async_trait]
impl Tool for StopCommand {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { id } = arguments(given)?;
        let command = background(&context, &id)?;
        command.stop().await;
        report(&context, &command, &id)
    }
}
