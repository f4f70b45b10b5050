//! `outline`: lists what a source file defines, with the lines to read.

use std::fmt::Write;

use async_trait::async_trait;
use chat_core::message::ToolView;
use chat_core::tool::{
    Audience, CallData, Hint, HintText, Label, Labels, N_, OutputForm, Target, Tense, Tool,
    ToolContext, ToolFailure, ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use chat_outline::{Language, Symbol, outline};
use chat_permission::Action;
use chat_project::text;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::aliases;
use crate::contents;
use crate::spec::{arguments, on_disk, spec};
use crate::tool_path::ToolPath;

/// The maximum number of definitions that are listed.
const MOST: usize = 400;

/// Lists what a file defines.
pub struct Outline(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
}

impl Default for Outline {
    fn default() -> Self {
        Self(info())
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>(
            "outline",
            "List the functions, types or headings of a file with their line numbers.",
        ),
        title: N_("View File Outlines").into(),
        summary: N_("Lists what a file defines, with line numbers").into(),
        group: ToolGroup::Files,
        kind: ToolKind::Reads,
        icon: ToolIcon::Text,
        labels: Labels::Own(label),
        target: Target::path,
        permissions: &[Action::Read],
        needs_project: true,
        audience: Audience::Everyone,
        output: OutputForm::Text,
        aliases: aliases::FILE,
        hints: &[Hint { order: 20, tells: HintText::Finds("what a file defines") }],
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let what = match call.view {
        Some(ToolView::Read { path, .. }) => path.clone(),
        _ => call.text("path"),
    };
    let sentence = match tense {
        Tense::ToDo => N_("View the outline of {what}"),
        Tense::Doing => N_("Viewing the outline of {what}"),
        Tense::Done => N_("Viewed the outline of {what}"),
        Tense::Failed => N_("Couldn’t view the outline of {what}"),
    };
    Label::what(sentence, what)
}

#[async_trait]
impl Tool for Outline {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { path } = arguments(given)?;
        let place = ToolPath::new(&context, &path)?;
        place.may_read(&context).await?;
        place.must_be_file()?;
        on_disk(move |_| {
            let shown = place.display_name();
            let bytes = contents::read(&place)?;
            let Some((text, _)) = text::decode(&bytes) else {
                return Err(ToolFailure::new(format!("{shown} is not a text file.")));
            };
            let first = text.lines().next().unwrap_or_default();
            let Some(language) = Language::of(place.path.real(), first) else {
                return Err(ToolFailure::new(format!(
                    "There is no outline of {shown}: its language is not supported. Search or read the file instead."
                )));
            };
            let symbols = outline(language, &text).map_err(|error| {
                ToolFailure::new(format!("There is no outline of {shown}: {error}."))
            })?;
            let view = ToolView::Read { path: shown.clone(), from: None, to: None };
            Ok(ToolOutput::text(symbol_list(&shown, &symbols)).view(view))
        })
        .await
    }
}

/// One line each, indented by nesting.
fn symbol_list(path: &str, symbols: &[Symbol]) -> String {
    if symbols.is_empty() {
        return format!("{path} defines nothing.");
    }
    let mut text = String::new();
    for symbol in symbols.iter().take(MOST) {
        let (from, to) = symbol.lines;
        let _ = writeln!(text, "{}{from}-{to}\t{}", "  ".repeat(symbol.depth), symbol.signature);
    }
    if symbols.len() > MOST {
        let _ = writeln!(text, "({} more)", symbols.len() - MOST);
    }
    text
}
