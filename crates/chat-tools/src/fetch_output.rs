//! `fetch_output`: returns parts of an output that was too long to be returned whole.

use std::io::BufReader;

use async_trait::async_trait;
use chat_core::message::ToolView;
use chat_core::tool::{
    Audience, CallData, Label, Labels, N_, OutputForm, Tense, Tool, ToolContext, ToolFailure,
    ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::lines::with_lines;
use crate::outputs;
use crate::part::{self, Range, Without};
use crate::spec::{arguments, counted, on_disk, spec};

/// Fetches outputs.
pub struct FetchOutput(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// ID of the output
    id: String,
    /// First line, from 1
    #[serde(default)]
    from: Option<u64>,
    /// Last line, inclusive
    #[serde(default)]
    to: Option<u64>,
}

impl Default for FetchOutput {
    fn default() -> Self {
        Self(info())
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>(
            "fetch_output",
            "Read lines of an earlier output that was truncated.",
        ),
        title: N_("Read Long Output").into(),
        summary: N_("Reads parts of output that was too long for the model").into(),
        group: ToolGroup::Commands,
        kind: ToolKind::Reads,
        icon: ToolIcon::Text,
        labels: Labels::Own(label),
        target: |_| None,
        permissions: &[],
        needs_project: false,
        audience: Audience::Everyone,
        output: OutputForm::Terminal,
        aliases: &[],
        hints: &[],
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let what = match call.view {
        Some(ToolView::Read { path, from, to }) => with_lines(path, *from, *to),
        _ => call.text("id"),
    };
    let sentence = match tense {
        Tense::ToDo => N_("Read more of output {what}"),
        Tense::Doing => N_("Reading output {what}"),
        Tense::Done => N_("Read output {what}"),
        Tense::Failed => N_("Couldn’t read output {what}"),
    };
    Label::what(sentence, what)
}

#[async_trait]
impl Tool for FetchOutput {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    fn reads_outputs(&self) -> bool {
        true
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { id, from, to } = arguments(given)?;
        let range = Range::new(from, to, context.most)?;
        on_disk(move |_| {
            let file = outputs::open(&context.outputs, &id)?;
            match part::read(BufReader::new(file), &[], range) {
                Ok(part) => {
                    let (from, to) = part.lines.unzip();
                    Ok(ToolOutput::text(part.text).view(ToolView::Read { path: id, from, to }))
                }
                Err(Without::Binary) => Err(ToolFailure::new(
                    "These lines are not text: the command wrote binary data.",
                )),
                Err(Without::Beyond(lines)) => {
                    let lines = counted(lines, "line");
                    Err(ToolFailure::new(format!("The output has only {lines}.")))
                }
                Err(Without::Io(error)) => {
                    Err(ToolFailure::new(format!("The output could not be read: {error}.")))
                }
            }
        })
        .await
    }
}
