//! `write_file`: creates a file, or replaces the whole of one that was read before.

use async_trait::async_trait;
use chat_core::message::{Preview, ToolView};
use chat_core::tool::{
    Audience, CallData, Hint, HintText, Label, Labels, N_, OutputForm, Target, Tense, Tool,
    ToolContext, ToolFailure, ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use chat_permission::Action;
use chat_permission::path::Kind;
use chat_project::text;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::aliases;
use crate::contents;
use crate::diff::Diff;
use crate::file_versions::{FileVersion, FileVersions};
use crate::spec::{arguments, on_disk, spec, still_wanted};
use crate::tool_path::{ToolPath, failed};

/// Writes files.
pub struct WriteFile(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    content: String,
}

impl Default for WriteFile {
    fn default() -> Self {
        Self(info())
    }
}

/// A replacement for a file's content.
struct Ready {
    old: Vec<u8>,
    new: Vec<u8>,
    diff: Diff,
    notes: &'static str,
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>(
            "write_file",
            "Create a file, or replace all of a file you have read. Prefer edit_file for changes.",
        ),
        title: N_("Write Files").into(),
        summary: N_("Creates a file, or replaces one that was read first").into(),
        group: ToolGroup::Files,
        kind: ToolKind::Edits,
        icon: ToolIcon::Edit,
        labels: Labels::Own(label),
        target: Target::path,
        permissions: &[Action::Read, Action::Write],
        needs_project: true,
        audience: Audience::Everyone,
        output: OutputForm::Text,
        aliases: aliases::WRITE,
        hints: &[Hint {
            order: 40,
            tells: HintText::Line(
                "Use write_file for new files, or when nearly everything changes.",
            ),
        }],
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let what = match call.view {
        Some(ToolView::Edited { path, created: true, .. }) => {
            return Label::what(N_("Created {what}"), path);
        }
        Some(ToolView::Edited { path, .. }) => path.clone(),
        _ => call.text("path"),
    };
    let sentence = match tense {
        Tense::ToDo => N_("Write {what}"),
        Tense::Doing => N_("Writing {what}"),
        Tense::Done => N_("Wrote {what}"),
        Tense::Failed => N_("Couldn’t write {what}"),
    };
    Label::what(sentence, what)
}

#[async_trait]
impl Tool for WriteFile {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { path, content } = arguments(given)?;
        let place = ToolPath::new(&context, &path)?;
        if !place.path.is_inside() {
            place.must_be_open(&context).await?;
        }
        if place.path.kind() == Kind::Missing {
            create(&context, place, content).await
        } else {
            replace(&context, place, content).await
        }
    }
}

/// Asks for permission to write. Outside the project this includes reading, since whether something
/// exists there must not be revealed without asking.
async fn may_write(
    context: &ToolContext,
    place: &ToolPath,
    preview: Preview,
) -> Result<(), ToolFailure> {
    if place.path.is_inside() {
        place.may_write(context, preview).await
    } else {
        place.may_change(context, preview).await
    }
}

async fn create(
    context: &ToolContext,
    place: ToolPath,
    content: String,
) -> Result<ToolOutput, ToolFailure> {
    let diff = Diff::new("", &content);
    may_write(context, &place, contents::preview(&diff, true)).await?;
    let (versions, changes) = (context.memory.get::<FileVersions>(), context.changes.clone());
    on_disk(move |given_up| {
        changes.around(&place.path, || {
            still_wanted(given_up)?;
            let made = place.project.create(&place.path, content.as_bytes());
            made.map_err(|error| failed(&error))
        })?;
        versions.put(place.path.real(), FileVersion::of(content.as_bytes()));
        let text = format!("Created {} {}", place.display_name(), diff.counts());
        Ok(ToolOutput::text(text).view(contents::view(&place, diff, true)))
    })
    .await
}

async fn replace(
    context: &ToolContext,
    place: ToolPath,
    content: String,
) -> Result<ToolOutput, ToolFailure> {
    let versions = context.memory.get::<FileVersions>();
    let (read, known) = (place.clone(), versions.get(place.path.real()));
    let prepared = on_disk(move |_| prepare(&read, known.as_ref(), &content)).await;
    let Ready { old, new, diff, notes } = match prepared {
        Ok(ready) => ready,
        Err(failure) => {
            if !place.path.is_inside() {
                place.may_read(context).await?;
            }
            return Err(failure);
        }
    };
    may_write(context, &place, contents::preview(&diff, false)).await?;
    let changes = context.changes.clone();
    on_disk(move |given_up| {
        changes
            .around(&place.path, || contents::replace(&place, &old, &new, &versions, given_up))?;
        let text = format!("Replaced {} {}{notes}", place.display_name(), diff.counts());
        Ok(ToolOutput::text(text).view(contents::view(&place, diff, false)))
    })
    .await
}

/// Reads a file that is to be replaced, and checks that the session knows it.
fn prepare(
    place: &ToolPath,
    known: Option<&FileVersion>,
    content: &str,
) -> Result<Ready, ToolFailure> {
    place.must_be_file()?;
    let shown = place.display_name();
    let old = contents::read(place)?;
    match known {
        None => {
            return Err(ToolFailure::new(format!(
                "{shown} exists, but you have not read it. Read it first, or use edit_file."
            )));
        }
        Some(mark) if *mark != FileVersion::of(&old) => {
            return Err(ToolFailure::new(format!(
                "{shown} has changed since you read it. Read it again first."
            )));
        }
        Some(_) => {}
    }
    let (before, encoding) = text::decode(&old).unwrap_or_default();
    let (content, mut notes) = (like(&before, content), "");
    let new = encoding.encode(&content).unwrap_or_else(|_| {
        notes = "\nIt is now UTF-8: it was Latin-1, an encoding without some of these characters.";
        content.as_bytes().to_vec()
    });
    if new == old {
        return Err(ToolFailure::new(format!("{shown} already has exactly this content.")));
    }
    Ok(Ready { diff: Diff::new(&before, &content), old, new, notes })
}

/// A text with the line endings of the one that it replaces, if all of those are Windows line
/// endings.
fn like(before: &str, content: &str) -> String {
    let is_windows =
        before.contains('\n') && before.matches('\n').count() == before.matches("\r\n").count();
    if is_windows && !content.contains("\r\n") {
        content.replace('\n', "\r\n")
    } else {
        content.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_endings_stay_those_of_the_file() {
        assert_eq!(like("a\r\nb\r\n", "c\nd\n"), "c\r\nd\r\n");
        assert_eq!(like("a\r\nb\n", "c\nd\n"), "c\nd\n");
        assert_eq!(like("a\r\n", "c\r\nd\n"), "c\r\nd\n");
        assert_eq!(like("a", "c\n"), "c\n");
    }
}
