//! `edit_file`: replaces text in a file.

use async_trait::async_trait;
use chat_core::message::ToolSpec;
use chat_core::tool::{Alias, Tool, ToolContext, ToolFailure, ToolOutput};
use chat_project::text::{self, Encoding};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::aliases;
use crate::contents;
use crate::diff::Diff;
use crate::edit::{Applied, Edit, Note, apply};
use crate::marks::Marks;
use crate::place::Place;
use crate::spec::{arguments, on_disk, spec};

/// Edits files.
pub struct EditFile(ToolSpec);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    /// Applied in order; all or none
    edits: Vec<Edit>,
}

impl Default for EditFile {
    fn default() -> Self {
        Self(spec::<Arguments>(
            "edit_file",
            "Replace text in a file. Each `old` must match exactly one place: include enough lines around it.",
        ))
    }
}

/// A change that is ready to be made.
struct Ready {
    old: Vec<u8>,
    new: Vec<u8>,
    notes: Vec<Note>,
    diff: Diff,
}

#[async_trait]
impl Tool for EditFile {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn aliases(&self) -> &'static [Alias] {
        aliases::EDIT
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn needs_project(&self) -> bool {
        true
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { path, edits } = arguments(given)?;
        if edits.is_empty() {
            return Err(ToolFailure::new("`edits` is empty."));
        }
        let place = Place::new(&context, &path)?;
        place.must_be_open(&context).await?;
        let read = place.clone();
        let prepared = on_disk(move |_| prepare(&read, &edits)).await;
        let Ready { old, new, notes, diff } = match prepared {
            Ok(ready) => ready,
            Err(failure) => {
                // What does not match tells what is there.
                place.may_read(&context).await?;
                return Err(failure);
            }
        };
        place.may_change(&context, contents::preview(&diff)).await?;
        let (marks, changes) = (context.memory.get::<Marks>(), context.changes.clone());
        on_disk(move |given_up| {
            changes
                .around(&place.path, || contents::replace(&place, &old, &new, &marks, given_up))?;
            let mut text = format!("Edited {} {}", place.shown(), diff.counts());
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
fn prepare(place: &Place, edits: &[Edit]) -> Result<Ready, ToolFailure> {
    place.must_be_file()?;
    let old = contents::read(place)?;
    let Some((before, encoding)) = text::decode(&old) else {
        let (shown, kind) = (place.shown(), text::binary_kind(&old));
        return Err(ToolFailure::new(format!("{shown} is {kind}: it has no text to edit.")));
    };
    let Applied { content, notes } =
        apply(&before, edits).map_err(|refusal| ToolFailure::new(refusal.to_string()))?;
    if content == before {
        return Err(ToolFailure::new("These edits together change nothing."));
    }
    let new = encoding.encode(&content).map_err(|character| lacks(place, encoding, character))?;
    Ok(Ready { old, new, notes, diff: Diff::new(&before, &content) })
}

/// That a file's encoding does not have a character.
fn lacks(place: &Place, encoding: Encoding, character: char) -> ToolFailure {
    let told = encoding.told().unwrap_or("UTF-8");
    ToolFailure::new(format!(
        "{} is {told}, which does not have “{character}”. Write it in another way.",
        place.shown()
    ))
}
