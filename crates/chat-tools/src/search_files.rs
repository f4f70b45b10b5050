//! `search_files`: searches the project for a regular expression, with ripgrep's own crates.

mod gather;
mod show;

use std::sync::atomic::AtomicBool;

use async_trait::async_trait;
use chat_core::message::ToolView;
use chat_core::tool::{
    Audience, CallData, Hint, HintText, Label, Labels, N_, OutputForm, Target, Tense, Tool,
    ToolContext, ToolFailure, ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use chat_permission::Action;
use chat_permission::path::Kind;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::aliases;
use crate::spec::{arguments, on_disk, spec};
use crate::tool_path::{ToolPath, failed};
use crate::walk::{self, WalkRoot};

use gather::{Gathered, Search};

/// The maximum number of context lines around a match.
const CONTEXT: usize = 10;
/// The maximum size of a compiled pattern, in bytes.
const COMPILED: usize = 10 << 20;

/// Searches files.
pub struct SearchFiles(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Regular expression (Rust syntax), matched line by line
    pattern: String,
    /// File or folder; default: the project
    #[serde(default)]
    path: Option<String>,
    /// Only files whose path or name matches
    #[serde(default)]
    glob: Option<String>,
    /// Number of lines to show around each match, up to 10
    #[serde(default)]
    context: Option<usize>,
    #[serde(default)]
    ignore_case: bool,
}

impl Default for SearchFiles {
    fn default() -> Self {
        Self(info())
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>(
            "search_files",
            "Search the contents of files. Respects .gitignore.",
        ),
        title: N_("Search in Files").into(),
        summary: N_("Finds lines that match a regular expression").into(),
        group: ToolGroup::Files,
        kind: ToolKind::Reads,
        icon: ToolIcon::Search,
        labels: Labels::Own(label),
        target: Target::path,
        permissions: &[Action::Read],
        needs_project: true,
        audience: Audience::Everyone,
        output: OutputForm::Text,
        aliases: aliases::SEARCH,
        hints: &[Hint { order: 0, tells: HintText::Finds("text") }],
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let what = match call.view {
        Some(ToolView::Searched { pattern, .. }) => pattern.clone(),
        _ => call.text("pattern"),
    };
    let sentence = match tense {
        Tense::ToDo => N_("Search for {what}"),
        Tense::Doing => N_("Searching for {what}"),
        Tense::Done => N_("Searched for {what}"),
        Tense::Failed => N_("Couldn’t search for {what}"),
    };
    Label::what(sentence, what)
}

#[async_trait]
impl Tool for SearchFiles {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { pattern, path, glob, context: around, ignore_case } = arguments(given)?;
        let given = pattern.clone();
        let matcher = on_disk(move |_| matcher(&given, ignore_case)).await?;
        let glob = glob.as_deref().map(walk::glob).transpose()?;
        let place = ToolPath::new(&context, path.as_deref().unwrap_or("."))?;
        place.may_read(&context).await?;
        if place.path.kind() == Kind::Missing {
            return Err(place.missing());
        }
        let search = Search { matcher, glob, around: around.unwrap_or(0).min(CONTEXT) };
        let searched = place.clone();
        let mut found = on_disk(move |given_up| search_in(searched, &search, given_up)).await?;
        allowed(&context, &place, &mut found);
        let (matches, files) = (found.matches(), found.files.len() as u64);
        let text = show::text(&found, context.most);
        Ok(ToolOutput::text(text).view(ToolView::Searched { pattern, matches, files }))
    }
}

/// Compiles a pattern. Even a short one may take long and need much memory, so this runs in the
/// background.
fn matcher(pattern: &str, ignore_case: bool) -> Result<RegexMatcher, ToolFailure> {
    let mut builder = RegexMatcherBuilder::new();
    builder.case_insensitive(ignore_case).line_terminator(Some(b'\n')).size_limit(COMPILED);
    builder.build(pattern).map_err(|error| {
        ToolFailure::new(format!(
            "The pattern is not valid: {error}. Use \\ to escape special characters."
        ))
    })
}

fn search_in(
    place: ToolPath,
    search: &Search,
    given_up: &AtomicBool,
) -> Result<Gathered, ToolFailure> {
    if place.path.kind() == Kind::Folder {
        return Ok(search.folder(&WalkRoot::new(place)?, given_up));
    }
    place.must_be_file()?;
    let file = place.project.open_file(&place.path).map_err(|error| failed(&error))?;
    Ok(search.file(&file, place.display_name(), given_up))
}

/// Removes files that a rule forbids to read, though their folder may be searched, and secrets. Not
/// even the fact that they match is revealed: by searching often enough, a model could find out
/// what they contain.
fn allowed(context: &ToolContext, place: &ToolPath, found: &mut Gathered) {
    if place.path.kind() != Kind::Folder {
        return;
    }
    found.files.retain(|shown, _| {
        // A file that has several links by now, or leads elsewhere, is not the one that was
        // searched.
        let is_same = |file: &ToolPath| {
            file.path.is_inside() == place.path.is_inside() && !file.path.has_several_links()
        };
        ToolPath::new(context, shown).is_ok_and(|file| is_same(&file) && file.is_open(context))
    });
}
