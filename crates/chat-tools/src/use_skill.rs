//! `use_skill`: loads the instructions of a skill.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use chat_core::definitions::{Origin, ReadError, Skill};
use chat_core::tool::{
    Audience, CallData, Label, Labels, N_, OutputForm, Tense, Tool, ToolContext, ToolFailure,
    ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use chat_permission::Action;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::spec::{arguments, spec};
use crate::tool_path::ToolPath;

/// How many files of a skill are named.
const MOST_NAMES: usize = 50;

/// Loads the instructions of a skill.
pub struct UseSkill(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
    file: Option<String>,
}

impl Default for UseSkill {
    fn default() -> Self {
        Self(ToolInfo {
            spec: spec::<Arguments>(
                "use_skill",
                "Load the instructions of a skill, or one of its files.",
            ),
            title: N_("Use Skills").into(),
            summary: N_("Loads instructions for special tasks").into(),
            group: ToolGroup::Other,
            kind: ToolKind::Reads,
            icon: ToolIcon::Text,
            labels: Labels::Own(label),
            target: |_| None,
            permissions: &[Action::Read],
            needs_project: false,
            audience: Audience::Everyone,
            output: OutputForm::Text,
            aliases: &[],
            hints: &[],
        })
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let sentence = match tense {
        Tense::ToDo => N_("Use skill {what}"),
        Tense::Doing => N_("Loading skill {what}"),
        Tense::Done => N_("Loaded skill {what}"),
        Tense::Failed => N_("Couldn’t load skill {what}"),
    };
    Label::what(sentence, call.text("name"))
}

#[async_trait]
impl Tool for UseSkill {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    fn loads_skills(&self) -> bool {
        true
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { name, file } = arguments(given)?;
        let Some(skill) = context.skills.iter().find(|skill| skill.name == name).cloned() else {
            let names: Vec<_> = context.skills.iter().map(|skill| skill.name.as_str()).collect();
            let known = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
            return Err(ToolFailure::new(format!("There is no skill “{name}”. Skills: {known}.")));
        };
        if let Some(file) = &file {
            may_read(&skill, below(&skill, Path::new(file)), &context).await?;
        }
        let most = context.most;
        let reading = tokio::task::spawn_blocking(move || match file {
            Some(file) => read_file(&skill, &file, most),
            None => load(&skill, most),
        });
        reading.await.map_err(|_| ToolFailure::new("The skill could not be read."))?
    }
}

/// The instructions, which stay in the conversation.
fn load(skill: &Arc<Skill>, most: usize) -> Result<ToolOutput, ToolFailure> {
    let body = skill.read_body().map_err(failed)?;
    let mut text = format!("Skill “{}”, in {}:\n\n", skill.name, skill.folder().display());
    text.push_str(&cut(body.trim(), most.saturating_sub(text.len())));
    if !skill.files.is_empty() {
        let names = skill.files.iter().take(MOST_NAMES).map(|file| file.display().to_string());
        let names: Vec<_> = names.collect();
        let _ = write!(text, "\n\nIts files, to be loaded by name: {}", names.join(", "));
        if skill.files.len() > MOST_NAMES {
            let _ = write!(text, ", and {} more", skill.files.len() - MOST_NAMES);
        }
    }
    Ok(ToolOutput { lasting: true, ..ToolOutput::text(text) })
}

/// A file's path as the skill has it. It may be given as the model saw it: below the folder.
fn below<'a>(skill: &Skill, file: &'a Path) -> &'a Path {
    file.strip_prefix(skill.folder()).unwrap_or(file)
}

/// Asks for permission to read a file of a project's skill as for any file of the project: it may be
/// denied, or hold secrets.
async fn may_read(skill: &Skill, file: &Path, context: &ToolContext) -> Result<(), ToolFailure> {
    let is_judged =
        skill.place.origin == Origin::Project && skill.files.iter().any(|it| it == file);
    let Some(project) = context.project.as_ref().filter(|_| is_judged) else { return Ok(()) };
    let path = project.resolve_path(&skill.folder().join(file));
    let path = path.map_err(|_| failed(ReadError::Unreadable))?;
    ToolPath { project: Arc::clone(project), path }.may_read(context).await
}

fn read_file(skill: &Arc<Skill>, file: &str, most: usize) -> Result<ToolOutput, ToolFailure> {
    let text = skill.read_file(below(skill, Path::new(file))).map_err(failed)?;
    let text = text.ok_or_else(|| {
        let names: Vec<_> = skill.files.iter().map(|file| file.display().to_string()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        ToolFailure::new(format!("The skill has no file “{file}”. Its files: {names}."))
    })?;
    Ok(ToolOutput::text(cut(&text, most)))
}

fn failed(error: ReadError) -> ToolFailure {
    ToolFailure::new(match error {
        ReadError::Unreadable => "This cannot be read, or is not a text.",
        ReadError::Changed => {
            "The skill has changed since the user trusted it. The user must trust it again first."
        }
    })
}

/// A text in so many bytes.
fn cut(text: &str, most: usize) -> String {
    const NOTE: &str = "\n[The rest does not fit the context window.]";
    if text.len() <= most {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(most.saturating_sub(NOTE.len()));
    format!("{}{NOTE}", &text[..end])
}
