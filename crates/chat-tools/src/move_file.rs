//! `move_file`: renames or moves a file or a folder.

use async_trait::async_trait;
use chat_core::message::{Preview, ToolView};
use chat_core::tool::{
    Audience, CallData, Label, Labels, N_, OutputForm, Tense, Tool, ToolContext, ToolFailure,
    ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use chat_permission::path::{Error, Kind};
use chat_permission::{Action, Request};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::aliases;
use crate::file_versions::FileVersions;
use crate::spec::{arguments, on_disk, spec, still_wanted};
use crate::tool_path::{ToolPath, failed};

/// Moves files.
pub struct MoveFile(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    from: String,
    /// The full new path; existing files are not overwritten
    to: String,
}

impl Default for MoveFile {
    fn default() -> Self {
        Self(info())
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>("move_file", "Move or rename a file or folder."),
        title: N_("Move Files").into(),
        summary: N_("Moves or renames a file").into(),
        group: ToolGroup::Files,
        kind: ToolKind::Moves,
        icon: ToolIcon::Move,
        labels: Labels::Own(label),
        target: |_| None,
        permissions: &[Action::Write, Action::Read],
        needs_project: true,
        audience: Audience::Everyone,
        output: OutputForm::Text,
        aliases: aliases::MOVE,
        hints: &[],
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let (from, to) = match call.view {
        Some(ToolView::Moved { from, to }) => (from.clone(), to.clone()),
        _ => (call.text("from"), call.text("to")),
    };
    let sentence = match tense {
        Tense::ToDo => N_("Move {from} to {to}"),
        Tense::Doing => N_("Moving {from} to {to}"),
        Tense::Done => N_("Moved {from} to {to}"),
        Tense::Failed => N_("Couldn’t move {from} to {to}"),
    };
    Label::new(sentence).with("from", from).with("to", to)
}

#[async_trait]
impl Tool for MoveFile {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { from, to } = arguments(given)?;
        let from = ToolPath::entry(&context, &from)?;
        let to = ToolPath::entry(&context, &to)?;
        let requests = vec![
            Request::Write { path: from.path.clone() },
            // It could be read by its new name.
            Request::Read { path: from.path.clone() },
            Request::Write { path: to.path.clone() },
        ];
        let preview = Preview::Move { to: to.display_name().into() };
        from.may(&context, requests, preview).await?;
        match (from.path.kind(), to.path.kind()) {
            (Kind::Missing, _) => return Err(from.missing()),
            (_, Kind::Missing) => {}
            (_, Kind::Folder) => {
                let name = from.path.real().file_name().unwrap_or_default().display().to_string();
                let shown = to.display_name();
                return Err(ToolFailure::new(format!(
                    "{shown} is a folder: give the full new path, such as {shown}/{name}."
                )));
            }
            _ => {
                return Err(ToolFailure::new(format!(
                    "{} already exists and is not overwritten.",
                    to.display_name()
                )));
            }
        }
        let (versions, changes) = (context.memory.get::<FileVersions>(), context.changes.clone());
        on_disk(move |given_up| {
            changes.around_move(&from.path, &to.path, || {
                still_wanted(given_up)?;
                from.project.rename(&from.path, &to.path).map_err(|error| match error {
                    Error::Io { source, .. } if source.kind() == std::io::ErrorKind::CrossesDevices => {
                        ToolFailure::new("The two paths are on different disks: write the new file, then delete the old one.")
                    }
                    error => failed(&error),
                })
            })?;
            versions.moved(from.path.real(), to.path.real());
            let (from, to) = (from.display_name(), to.display_name());
            let text = format!("Moved {from} to {to}");
            Ok(ToolOutput::text(text).view(ToolView::Moved { from, to }))
        })
        .await
    }
}
