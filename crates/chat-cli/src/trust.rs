//! Runs `natter-cli trust`: the projects whose agents, commands and skills the user trusts.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use chat_core::definitions::{Problem, ProjectItem};
use chat_presentation::words;
use serde::Serialize;

use crate::args::Trust;
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::output::line_of;
use crate::request;
use crate::say;
use crate::terminal;

/// Runs the requested action on the trusted projects.
pub async fn run(action: Option<Trust>, json: bool, program: &Program) -> Result<Outcome> {
    match action {
        None => list(json, program).await,
        Some(Trust::List { json }) => list(json, program).await,
        Some(Trust::Show { project }) => show(&project, program).await,
        Some(Trust::Remove { project }) => remove(project, program).await,
    }
}

/// A trusted project as JSON.
#[derive(Serialize)]
struct View {
    project: String,
}

async fn list(json: bool, program: &Program) -> Result<Outcome> {
    let projects = program.manager.definitions().trusted().await;
    let line = |root: &PathBuf| {
        let project = root.display().to_string();
        match (json, program.terminal.output) {
            (true, _) => line_of(&View { project }),
            (false, true) => format!("{}\n", words::visible_line(&project)),
            (false, false) => format!("{project}\n"),
        }
    };
    let lines: String = projects.iter().map(line).collect();
    if projects.is_empty() && !json {
        remark(&say::none_trusted());
    }
    program.output.print(lines).await?;
    Ok(Outcome::Done)
}

/// Shows what a project's agents, commands and skills may do, what they say, and what changed since they were trusted.
async fn show(given: &Path, program: &Program) -> Result<Outcome> {
    let root = request::folder(given)?;
    let definitions = program.manager.definitions().of_project(Some(&root)).await;
    let items = definitions.project.as_deref().map(|project| &project.items[..]);
    let items = items.unwrap_or_default();
    if items.is_empty() {
        remark(&say::nothing_to_trust(&root));
    }
    let text: String = items.iter().map(|item| whole(item, &definitions.problems)).collect();
    program.output.print(program.terminal.clean_output(&text).into_owned()).await?;
    Ok(Outcome::Done)
}

/// A definition with all that the user should know before trusting it: its text, or what changed in it, the names of a
/// skill's other files that did, and what is wrong in its file.
pub fn whole(item: &ProjectItem, problems: &[Problem]) -> String {
    let mut text = format!("{}\n", words::project_item(item));
    let path = words::visible_line(&item.path.display().to_string());
    let files = words::project_item_files(item);
    let problems = words::project_item_problems(item, problems);
    let about = [words::project_item_state(item), path].into_iter().chain(files).chain(problems);
    for line in about {
        let _ = writeln!(text, "  {line}");
    }
    let content = words::project_item_diff(item).unwrap_or_else(|| words::project_item_text(item));
    for line in content.lines() {
        let _ = writeln!(text, "    {line}");
    }
    text
}

async fn remove(given: PathBuf, program: &Program) -> Result<Outcome> {
    let definitions = program.manager.definitions();
    // A deleted folder has no real path any more, but may still be trusted.
    let root = request::folder(&given).unwrap_or(given);
    if !definitions.trusted().await.contains(&root) {
        return Err(CliError::Said(say::not_trusted(&root)));
    }
    definitions.forget(&root).await?;
    remark(&say::trust_removed(&root));
    Ok(Outcome::Done)
}

fn remark(text: &str) {
    terminal::say(&format!("{}\n", terminal::clean(text)));
}
