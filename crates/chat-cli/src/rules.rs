//! Runs `natter-cli rules`: the stored permission rules.

use std::path::PathBuf;

use chat_core::permission::{Effect, Rule};
use chat_core::settings::Remembered;
use chat_presentation::words;
use serde::Serialize;

use crate::args::Rules;
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::output::line_of;
use crate::request;
use crate::say;
use crate::terminal;

/// Runs the requested action on the rules.
pub async fn run(action: Option<Rules>, json: bool, program: &Program) -> Result<Outcome> {
    match action {
        None => list(json, program).await,
        Some(Rules::List { json }) => list(json, program).await,
        Some(Rules::Remove { rule, project }) => remove(&rule, project, program).await,
        Some(Rules::Export) => {
            let text = program.manager.settings().current().permissions.rules_as_toml();
            program.output.print(exported(text, program.terminal.output)).await?;
            Ok(Outcome::Done)
        }
    }
}

/// A rule as JSON.
#[derive(Serialize)]
struct View<'a> {
    rule: &'a Rule,
    effect: Effect,
    /// None means everywhere.
    project: Option<&'a PathBuf>,
}

async fn list(json: bool, program: &Program) -> Result<Outcome> {
    let settings = program.manager.settings().current();
    let rules = &settings.permissions.rules;
    let lines: String = if json {
        let view = |known: &Remembered| {
            let Remembered { rule, effect, project } = known;
            let view = View { rule, effect: *effect, project: project.as_ref() };
            line_of(&view)
        };
        rules.iter().map(view).collect()
    } else {
        let is_seen = program.terminal.output;
        rules.iter().map(|known| line(known, is_seen)).collect()
    };
    if lines.is_empty() && !json {
        remark(&say::no_rules());
    }
    program.output.print(lines).await?;
    Ok(Outcome::Done)
}

/// A rule as text; on a terminal, control characters are made visible.
fn line(known: &Remembered, is_seen: bool) -> String {
    let place = match &known.project {
        Some(folder) => folder.display().to_string(),
        None => say::everywhere(),
    };
    let (mut rule, mut place) = (known.rule.to_string(), place);
    if is_seen {
        (rule, place) = (words::visible_line(&rule), words::visible_line(&place));
    }
    format!("{}\t{rule}\t{place}\n", words::effect(known.effect))
}

/// The rules as a file; on a terminal, control characters are made visible.
fn exported(toml: String, is_seen: bool) -> String {
    if is_seen { words::visible(&toml).into_owned() } else { toml }
}

async fn remove(rule: &Rule, project: Option<PathBuf>, program: &Program) -> Result<Outcome> {
    // A deleted folder has no real path any more, but may still have rules.
    let project = project.map(|given| request::folder(&given).unwrap_or(given));
    let meant = |of: Option<&PathBuf>| project.is_none() || of == project.as_ref();
    if !forget(rule, program, meant).await? {
        return Err(CliError::Said(say::no_rule(rule)));
    }
    remark(&say::rule_removed(rule));
    Ok(Outcome::Done)
}

/// Removes a rule from the settings, for the given projects. Returns whether it existed.
pub async fn forget(
    rule: &Rule,
    program: &Program,
    meant: impl Fn(Option<&PathBuf>) -> bool,
) -> Result<bool> {
    let is_it = |known: &Remembered| known.rule == *rule && meant(known.project.as_ref());
    let known = program.manager.settings().current();
    let gone: Vec<_> =
        known.permissions.rules.iter().filter(|known| is_it(known)).cloned().collect();
    if gone.is_empty() {
        return Ok(false);
    }
    program
        .manager
        .settings()
        .change(move |settings| {
            settings.permissions.rules.retain(|known| !gone.contains(known));
        })
        .await?;
    Ok(true)
}

fn remark(text: &str) {
    terminal::say(&format!("{}\n", terminal::clean(text)));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exported_rules_hide_nothing_on_a_screen_and_are_unchanged_in_a_file() {
        let toml = "rule = \"write:./\u{202e}a\u{1b}\"\n";
        assert_eq!(exported(toml.to_owned(), true), "rule = \"write:./⟨U+202E⟩a␛\"\n");
        assert_eq!(exported(toml.to_owned(), false), toml);
    }
}
