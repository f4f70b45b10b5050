//! `delete_file`: moves a file or a folder to the desktop's trash. Nothing is ever really deleted.

use async_trait::async_trait;
use chat_core::message::{Preview, ToolView};
use chat_core::tool::{
    Audience, CallData, Label, Labels, N_, OutputForm, Target, Tense, Tool, ToolContext,
    ToolFailure, ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use chat_permission::Action;
use chat_permission::path::Kind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::aliases;
use crate::spec::{arguments, on_disk, spec, still_wanted};
use crate::tool_path::ToolPath;
use crate::trash::Trash;

/// Deletes files.
pub struct DeleteFile {
    info: ToolInfo,
    trash: Trash,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
}

impl DeleteFile {
    /// Creates the tool with this trash.
    pub fn new(trash: Trash) -> Self {
        Self { info: info(), trash }
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>("delete_file", "Move a file or folder to the trash."),
        title: N_("Delete Files").into(),
        summary: N_("Moves files to the trash, so you can restore them").into(),
        group: ToolGroup::Files,
        kind: ToolKind::Deletes,
        icon: ToolIcon::Trash,
        labels: Labels::Own(label),
        target: Target::path,
        permissions: &[Action::Write],
        needs_project: true,
        audience: Audience::Everyone,
        output: OutputForm::Text,
        aliases: aliases::FILE,
        hints: &[],
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let what = match call.view {
        Some(ToolView::Deleted { path }) => path.clone(),
        _ => call.text("path"),
    };
    let sentence = match tense {
        Tense::ToDo => N_("Move {what} to the trash"),
        Tense::Doing => N_("Moving {what} to the trash"),
        Tense::Done => N_("Moved {what} to the trash"),
        Tense::Failed => N_("Couldn’t move {what} to the trash"),
    };
    Label::what(sentence, what)
}

#[async_trait]
impl Tool for DeleteFile {
    fn info(&self) -> &ToolInfo {
        &self.info
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { path } = arguments(given)?;
        let place = ToolPath::entry(&context, &path)?;
        place.may_write(&context, Preview::Delete).await?;
        if place.path.kind() == Kind::Missing {
            return Err(place.missing());
        }
        let (trash, changes) = (self.trash.clone(), context.changes.clone());
        on_disk(move |given_up| {
            let path = place.display_name();
            changes.around(&place.path, || {
                still_wanted(given_up)?;
                let put = trash.put(&place);
                put.map_err(|error| ToolFailure::new(format!("{path} was not deleted: {error}.")))
            })?;
            Ok(ToolOutput::text(format!("Deleted {path} (it is in the trash)"))
                .view(ToolView::Deleted { path }))
        })
        .await
    }
}
