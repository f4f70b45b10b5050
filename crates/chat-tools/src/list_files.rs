//! `list_files`: lists the contents of a folder as a tree.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use async_trait::async_trait;
use chat_core::message::ToolView;
use chat_core::tool::{
    Audience, CallData, Label, Labels, N_, OutputForm, Target, Tense, Tool, ToolContext,
    ToolFailure, ToolGroup, ToolHost, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use chat_permission::Action;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::aliases;
use crate::spec::{arguments, on_disk, spec};
use crate::tool_path::ToolPath;
use crate::walk::{self, FileType, WalkRoot};

/// How many entries one call returns.
const ENTRIES: usize = 1000;
/// How many bytes one call returns: a thousand paths of a typical project take less.
const BYTES: usize = 128 * 1024;
/// The default depth of a tree.
const DEPTH: usize = 3;

/// Lists folders.
pub struct ListFiles(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Default: the project
    #[serde(default)]
    path: Option<String>,
    /// Default: 3
    #[serde(default)]
    depth: Option<usize>,
}

impl Default for ListFiles {
    fn default() -> Self {
        Self(info())
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>("list_files", "List a folder as a tree. Respects .gitignore."),
        title: N_("List Files").into(),
        summary: N_("Lists the contents of a folder and its subfolders").into(),
        group: ToolGroup::Files,
        kind: ToolKind::Reads,
        icon: ToolIcon::Folder,
        labels: Labels::Own(label),
        target: Target::path,
        permissions: &[Action::Read],
        needs_project: true,
        audience: Audience::Everyone,
        output: OutputForm::Text,
        aliases: aliases::FOLDER,
        hints: &[],
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let what = match call.view {
        Some(ToolView::Listed { what, .. }) => what.clone(),
        _ => call.arguments.get("path").and_then(Value::as_str).unwrap_or(".").to_owned(),
    };
    if matches!(what.as_str(), "" | ".") {
        return Label::new(match tense {
            Tense::ToDo => N_("List the project folder"),
            Tense::Doing => N_("Listing the project folder"),
            Tense::Done => N_("Listed the project folder"),
            Tense::Failed => N_("Couldn’t list the project folder"),
        });
    }
    let sentence = match tense {
        Tense::ToDo => N_("List {what}"),
        Tense::Doing => N_("Listing {what}"),
        Tense::Done => N_("Listed {what}"),
        Tense::Failed => N_("Couldn’t list {what}"),
    };
    Label::what(sentence, what)
}

#[async_trait]
impl Tool for ListFiles {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { path, depth } = arguments(given)?;
        let place = ToolPath::new(&context, path.as_deref().unwrap_or("."))?;
        place.may_read(&context).await?;
        place.must_be_folder()?;
        let depth = depth.unwrap_or(DEPTH).max(1);
        on_disk(move |given_up| {
            let shown = place.display_name();
            let beneath = WalkRoot::new(place)?;
            let found = collect(&beneath, depth, &*context.host, given_up);
            let (count, text) = (found.len(), tree(found, context.most));
            let text = if count == 0 {
                format!("{shown} is empty, or everything in it is ignored by .gitignore.")
            } else {
                text
            };
            Ok(ToolOutput::text(text).view(ToolView::Listed { what: shown, entries: count as u64 }))
        })
        .await
    }
}

/// An entry of a folder.
struct Entry {
    path: PathBuf,
    /// The mark after its name.
    mark: String,
    depth: usize,
}

fn collect(
    beneath: &WalkRoot,
    depth: usize,
    host: &dyn ToolHost,
    given_up: &AtomicBool,
) -> Vec<Entry> {
    let mut entries = Vec::new();
    beneath.walk(Some(depth), given_up, |entry| {
        if !beneath.is_hidden(entry.path, host) {
            let mark = match entry.kind {
                FileType::Directory => "/".to_owned(),
                FileType::Symlink => format!(" -> {}", entry.target().display()),
                _ => String::new(),
            };
            entries.push(Entry { path: entry.path.to_owned(), mark, depth: entry.depth });
        }
        if entries.len() < walk::COUNTED {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    entries
}

/// The entries as a tree. If there are too many, the topmost ones are shown.
fn tree(mut entries: Vec<Entry>, most: usize) -> String {
    let count = entries.len();
    if count > ENTRIES {
        let mut depths: Vec<usize> = entries.iter().map(|entry| entry.depth).collect();
        depths.sort_unstable();
        let deepest = depths[ENTRIES];
        // Of the level that does not fit as a whole, the first entries are shown.
        let mut room = ENTRIES - depths.partition_point(|depth| *depth < deepest);
        entries.retain(|entry| match entry.depth.cmp(&deepest) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Equal if room > 0 => {
                room -= 1;
                true
            }
            _ => false,
        });
    }
    let line = |entry: &Entry| {
        let name = entry.path.file_name().map_or_else(
            || entry.path.display().to_string(),
            |name| Path::new(name).display().to_string(),
        );
        format!("{}{name}{}\n", "  ".repeat(entry.depth - 1), entry.mark)
    };
    let (text, shown) = within_bytes(entries.iter().map(line), most);
    text + &more(count, shown)
}

/// As many lines as fit into an answer, and how many these are: names may be long, and link targets
/// longer.
pub fn within_bytes(lines: impl Iterator<Item = String>, most: usize) -> (String, usize) {
    let (mut text, mut shown) = (String::new(), 0);
    for line in lines {
        if text.len() + line.len() > most.min(BYTES) {
            break;
        }
        text += &line;
        shown += 1;
    }
    (text, shown)
}

/// A remark about how many entries are not shown.
pub fn more(count: usize, shown: usize) -> String {
    match count.saturating_sub(shown) {
        0 => String::new(),
        _ if count >= walk::COUNTED => {
            format!("[More than {} more. Give a folder to see them.]\n", count - shown)
        }
        1 => "[1 more. Give a folder to see it.]\n".to_owned(),
        more => format!("[{more} more. Give a folder to see them.]\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries(paths: impl Iterator<Item = String>) -> Vec<Entry> {
        let entry = |path: String| Entry {
            depth: path.split('/').count(),
            path: path.into(),
            mark: String::new(),
        };
        paths.map(entry).collect()
    }

    #[test]
    fn long_names_are_left_out_and_counted() {
        let long = |number| format!("{number:03}{}", "n".repeat(BYTES / 4));
        let text = tree(entries((0..9).map(long)), BYTES);
        assert!(text.len() <= BYTES + 100, "{}", text.len());
        assert!(text.ends_with("[6 more. Give a folder to see them.]\n"), "{}", text.len());
    }

    #[test]
    fn what_lies_highest_is_shown_first() {
        let deep = (0..1500).map(|number| format!("a/{number:04}"));
        let flat = (0..600).map(|number| format!("z{number:03}"));
        let text = tree(entries(std::iter::once("a".to_owned()).chain(deep).chain(flat)), BYTES);
        assert!(text.starts_with("a\n  0000\n") && text.contains("\n  0398\nz000\n"), "{text}");
        assert!(text.ends_with("z599\n[1101 more. Give a folder to see them.]\n"), "{text}");
        assert_eq!(text.lines().count(), 1001);
    }

    #[test]
    fn a_tree_that_fits_has_all() {
        let text =
            tree(entries(["a".to_owned(), "a/b".to_owned(), "c".to_owned()].into_iter()), BYTES);
        assert_eq!(text, "a\n  b\nc\n");
    }

    #[test]
    fn more_is_counted_up_to_a_limit() {
        assert_eq!(more(1000, 1000), "");
        assert_eq!(more(1001, 1000), "[1 more. Give a folder to see it.]\n");
        assert_eq!(more(1002, 1000), "[2 more. Give a folder to see them.]\n");
        assert_eq!(
            more(walk::COUNTED, 1000),
            "[More than 99000 more. Give a folder to see them.]\n"
        );
    }
}
