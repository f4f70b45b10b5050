//! `edit_file`: replaces text in a file.

use async_trait::async_trait;
use chat_core::message::ToolView;
use chat_core::tool::{
    Audience, CallData, Hint, HintText, Label, Labels, N_, OutputForm, Target, Tense, Tool,
    ToolContext, ToolFailure, ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use chat_permission::Action;
use chat_project::text::{self, Encoding};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::aliases;
use crate::contents;
use crate::diff::Diff;
use crate::edit::{Applied, Edit, Note, apply};
use crate::file_versions::FileVersions;
use crate::spec::{arguments, on_disk, spec};
use crate::tool_path::ToolPath;

/// Edits files.
pub struct EditFile(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    /// Applied in order; all or none
    edits: Vec<Edit>,
}

impl Default for EditFile {
    fn default() -> Self {
        Self(info())
    }
}

/// A change that is ready to be made.
struct Ready {
    old: Vec<u8>,
    new: Vec<u8>,
    notes: Vec<Note>,
    diff: Diff,
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>(
            "edit_file",
            "Replace text in a file. Each `old` must match exactly one place: include enough surrounding lines.",
        ),
        title: N_("Edit Files").into(),
        summary: N_("Replaces parts of a text file").into(),
        group: ToolGroup::Files,
        kind: ToolKind::Edits,
        icon: ToolIcon::Edit,
        labels: Labels::Own(label),
        target: Target::path,
        permissions: &[Action::Read, Action::Write],
        needs_project: true,
        audience: Audience::Everyone,
        output: OutputForm::Text,
        aliases: aliases::EDIT,
        hints: &[Hint {
            order: 30,
            tells: HintText::Line(
                "Change files with edit_file: copy `old` exactly from the current file, \
                     without line numbers, with enough lines to match only one place. Put all \
                     edits to a file in one call.",
            ),
        }],
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let what = match call.view {
        Some(ToolView::Edited { path, .. }) => path.clone(),
        _ => call.text("path"),
    };
    let sentence = match tense {
        Tense::ToDo => N_("Edit {what}"),
        Tense::Doing => N_("Editing {what}"),
        Tense::Done => N_("Edited {what}"),
        Tense::Failed => N_("Couldn’t edit {what}"),
    };
    Label::what(sentence, what)
}

#[async_trait]
impl Tool for EditFile {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { path, edits } = arguments(given)?;
        if edits.is_empty() {
            return Err(ToolFailure::new("`edits` is empty."));
        }
        let place = ToolPath::new(&context, &path)?;
        place.must_be_open(&context).await?;
        let read = place.clone();
        let prepared = on_disk(move |_| prepare(&read, &edits)).await;
        let Ready { old, new, notes, diff } = match prepared {
            Ok(ready) => ready,
            Err(failure) => {
                // An error about a mismatch reveals the file's content.
                place.may_read(&context).await?;
                return Err(failure);
            }
        };
        place.may_change(&context, contents::preview(&diff, false)).await?;
        let (versions, changes) = (context.memory.get::<FileVersions>(), context.changes.clone());
        on_disk(move |given_up| {
            changes.around(&place.path, || {
                contents::replace(&place, &old, &new, &versions, given_up)
            })?;
            let mut text = format!("Edited {} {}", place.display_name(), diff.counts());
            let told: Vec<String> = notes.iter().filter_map(Note::for_model).collect();
            if !told.is_empty() {
                text = format!("{text}\n{} Check that this is what you meant:", told.join(" "));
            }
            text = format!("{text}\n{}", diff.new_lines());
            Ok(ToolOutput::text(text.trim_end_matches('\n'))
                .view(contents::view(&place, diff, false)))
        })
        .await
    }
}

/// Reads a file and applies edits to it.
fn prepare(place: &ToolPath, edits: &[Edit]) -> Result<Ready, ToolFailure> {
    place.must_be_file()?;
    let old = contents::read(place)?;
    let Some((before, encoding)) = text::decode(&old) else {
        let (shown, kind) = (place.display_name(), text::binary_kind(&old));
        return Err(ToolFailure::new(format!("{shown} is {kind} and has no text to edit.")));
    };
    let Applied { content, notes } =
        apply(&before, edits).map_err(|refusal| ToolFailure::new(refusal.to_string()))?;
    if content == before {
        return Err(ToolFailure::new("Taken together, these edits change nothing."));
    }
    let new = encoding.encode(&content).map_err(|character| lacks(place, encoding, character))?;
    Ok(Ready { old, new, notes, diff: Diff::new(&before, &content) })
}

/// The error that a file's encoding lacks a character.
fn lacks(place: &ToolPath, encoding: Encoding, character: char) -> ToolFailure {
    let told = encoding.label().unwrap_or("UTF-8");
    ToolFailure::new(format!(
        "{} is {told}, an encoding without “{character}”. Write it without this character.",
        place.display_name()
    ))
}
