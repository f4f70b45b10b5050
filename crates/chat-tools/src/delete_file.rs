//! `delete_file`: puts a file or a folder into the desktop's trash. Nothing is ever really deleted.

use async_trait::async_trait;
use chat_core::message::{Preview, ToolSpec, ToolView};
use chat_core::tool::{Alias, Tool, ToolContext, ToolFailure, ToolOutput};
use chat_permission::path::Kind;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::aliases;
use crate::place::Place;
use crate::spec::{arguments, on_disk, spec, still_wanted};
use crate::trash::Trash;

/// Deletes files.
pub struct DeleteFile {
    spec: ToolSpec,
    trash: Trash,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
}

impl DeleteFile {
    /// One that uses this trash.
    pub fn new(trash: Trash) -> Self {
        Self {
            spec: spec::<Arguments>("delete_file", "Move a file or folder to the trash."),
            trash,
        }
    }
}

#[async_trait]
impl Tool for DeleteFile {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn aliases(&self) -> &'static [Alias] {
        aliases::FILE
    }

    fn reads_only(&self) -> bool {
        false
    }

    fn needs_project(&self) -> bool {
        true
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { path } = arguments(given)?;
        let place = Place::entry(&context, &path)?;
        place.may_write(&context, Preview::Delete).await?;
        if place.path.kind() == Kind::Missing {
            return Err(place.missing());
        }
        let (trash, changes) = (self.trash.clone(), context.changes.clone());
        on_disk(move |given_up| {
            let path = place.shown();
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
