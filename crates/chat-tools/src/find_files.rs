//! `find_files`: files by a glob.

use std::ops::ControlFlow;
use std::path::PathBuf;

use async_trait::async_trait;
use chat_core::message::{ToolSpec, ToolView};
use chat_core::tool::{Alias, Tool, ToolContext, ToolFailure, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::aliases;
use crate::list_files::{more, within_bytes};
use crate::place::Place;
use crate::spec::{arguments, on_disk, spec};
use crate::walk::{self, Beneath, FileType};

/// Paths that one call gives.
const ENTRIES: usize = 1000;

/// Finds files.
pub struct FindFiles(ToolSpec);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// For example *.rs or src/**/*.{ts,tsx}
    glob: String,
    /// Folder to look in; default: the project
    #[serde(default)]
    path: Option<String>,
}

impl Default for FindFiles {
    fn default() -> Self {
        Self(spec::<Arguments>(
            "find_files",
            "Find files by a glob that matches paths, or names if it has no slash. Respects .gitignore.",
        ))
    }
}

#[async_trait]
impl Tool for FindFiles {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn aliases(&self) -> &'static [Alias] {
        aliases::FIND
    }

    fn reads_only(&self) -> bool {
        true
    }

    fn needs_project(&self) -> bool {
        true
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { glob, path } = arguments(given)?;
        let matcher = walk::glob(&glob)?;
        let place = Place::new(&context, path.as_deref().unwrap_or("."))?;
        place.may_read(&context).await?;
        place.must_be_folder()?;
        on_disk(move |given_up| {
            let beneath = Beneath::new(place)?;
            let mut found: Vec<PathBuf> = Vec::new();
            beneath.walk(None, given_up, |entry| {
                let is_wanted = entry.kind != FileType::Directory
                    && matcher.is_match(entry.path)
                    && !beneath.is_hidden(entry.path, &*context.host);
                if is_wanted {
                    found.push(entry.path.to_owned());
                }
                if found.len() < walk::COUNTED {
                    ControlFlow::Continue(())
                } else {
                    ControlFlow::Break(())
                }
            });
            found.sort();
            let count = found.len();
            let lines = found.iter().take(ENTRIES).map(|path| beneath.shown(path) + "\n");
            let (text, shown) = within_bytes(lines, context.most);
            let text = text + &more(count, shown);
            let text = if count == 0 { "No file has such a path.".to_owned() } else { text };
            Ok(ToolOutput::text(text).view(ToolView::Listed { what: glob, entries: count as u64 }))
        })
        .await
    }
}
