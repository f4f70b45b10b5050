//! `find_files`: finds files by a glob.

use std::ops::ControlFlow;
use std::path::PathBuf;

use async_trait::async_trait;
use chat_core::message::ToolView;
use chat_core::tool::{
    Audience, CallData, Hint, HintText, Label, Labels, N_, OutputForm, Target, Tense, Tool,
    ToolContext, ToolFailure, ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use chat_permission::Action;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::aliases;
use crate::list_files::{more, within_bytes};
use crate::spec::{arguments, on_disk, spec};
use crate::tool_path::ToolPath;
use crate::walk::{self, FileType, WalkRoot};

/// How many paths one call returns.
const ENTRIES: usize = 1000;

/// Finds files.
pub struct FindFiles(ToolInfo);

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
        Self(info())
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>(
            "find_files",
            "Find files with a glob. It matches paths, or only names if it has no slash. Respects .gitignore.",
        ),
        title: N_("Find Files").into(),
        summary: N_("Finds files by a name pattern").into(),
        group: ToolGroup::Files,
        kind: ToolKind::Reads,
        icon: ToolIcon::Folder,
        labels: Labels::Own(label),
        target: Target::path,
        permissions: &[Action::Read],
        needs_project: true,
        audience: Audience::Everyone,
        output: OutputForm::Text,
        aliases: aliases::FIND,
        hints: &[Hint { order: 10, tells: HintText::Finds("names") }],
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let what = match call.view {
        Some(ToolView::Listed { what, .. }) => what.clone(),
        _ => call.text("glob"),
    };
    let sentence = match tense {
        Tense::ToDo => N_("Look for files matching {what}"),
        Tense::Doing => N_("Looking for files matching {what}"),
        Tense::Done => N_("Looked for files matching {what}"),
        Tense::Failed => N_("Couldn’t look for files matching {what}"),
    };
    Label::what(sentence, what)
}

#[async_trait]
impl Tool for FindFiles {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { glob, path } = arguments(given)?;
        let matcher = walk::glob(&glob)?;
        let place = ToolPath::new(&context, path.as_deref().unwrap_or("."))?;
        place.may_read(&context).await?;
        place.must_be_folder()?;
        on_disk(move |given_up| {
            let beneath = WalkRoot::new(place)?;
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
            let lines = found.iter().take(ENTRIES).map(|path| beneath.display_name(path) + "\n");
            let (text, shown) = within_bytes(lines, context.most);
            let text = text + &more(count, shown);
            let text = if count == 0 { "No files match.".to_owned() } else { text };
            Ok(ToolOutput::text(text).view(ToolView::Listed { what: glob, entries: count as u64 }))
        })
        .await
    }
}
