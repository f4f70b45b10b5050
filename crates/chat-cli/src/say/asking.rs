//! Words the questions of tools. The letter in brackets is what is typed for an answer: each
//! language has its own, and no two answers may share one.

use std::path::Path;

use chat_core::message::{Ask, Asked, PermissionRequest};
use chat_core::permission::{Mode, Rule};
use chat_edge::words::{self, fill, one_line};
use gettextrs::gettext;

use super::quoted;

pub fn allow_once() -> String {
    gettext("[y]es")
}

pub fn allow_in_session() -> String {
    gettext("for this [s]ession")
}

pub fn allow_in_project() -> String {
    gettext("in this [p]roject")
}

pub fn allow_always() -> String {
    gettext("[a]lways")
}

pub fn allow_outside_sandbox() -> String {
    gettext("[o]utside the sandbox once")
}

pub fn deny_once() -> String {
    gettext("[n]o")
}

pub fn deny_always(in_project: bool) -> String {
    if in_project { gettext("[d]eny always in this project") } else { gettext("[d]eny always") }
}

/// Behind the answers that there are.
pub fn or_a_word(answers: &str) -> String {
    fill(&gettext("{answers}, or a word to the model: "), &[("answers", answers)])
}

/// What an answer for longer would store.
pub fn for_longer() -> String {
    gettext("An answer for longer is about just this:")
}

/// How more is allowed than what was asked for.
pub fn own_rule(example: &str) -> String {
    let letter = allow_in_session();
    let letter = letter.split_once('[').and_then(|(_, rest)| rest.chars().next()).unwrap_or('s');
    let example = format!("{} {example}", letter.to_lowercase());
    fill(
        &gettext("To allow more, type a rule after the letter, such as: {example}"),
        &[("example", &example)],
    )
}

pub fn never_for_longer() -> String {
    gettext("This is asked each time.")
}

/// Where a command would run, and what holds it.
pub fn bounds(folder: &Path, sandboxed: bool, network: bool) -> String {
    let place =
        fill(&gettext("In {folder}"), &[("folder", &one_line(&folder.display().to_string()))]);
    let bounds = if sandboxed { gettext("in the sandbox") } else { gettext("without a sandbox") };
    let reach = if network { gettext("with the network") } else { gettext("without the network") };
    format!("{place}, {bounds}, {reach}")
}

pub fn model_asks() -> String {
    gettext("The model asks:")
}

pub fn number_or_words() -> String {
    gettext("A number, or an answer of your own: ")
}

pub fn own_words() -> String {
    gettext("Your answer: ")
}

/// What could not be asked, and what would have allowed it.
pub fn nobody(ask: &Ask) -> String {
    match &ask.what {
        Asked::Question(question) => fill(
            &gettext("Nobody is there to answer the model: {question}"),
            &[("question", &one_line(&question.text))],
        ),
        Asked::GoOn { rounds } => fill(
            &gettext("Nobody is there to say whether to go on after {rounds} rounds of tools."),
            &[("rounds", &rounds.to_string())],
        ),
        Asked::Permission(asked) => {
            let what = format!("{} {}", asked.action, one_line(&asked.target));
            match &asked.always[..] {
                [] => fill(
                    &gettext("Denied, since nobody is there to ask: {what}. {why}"),
                    &[("what", &what), ("why", &words::why_asked(asked))],
                ),
                rules => fill(
                    &gettext(
                        "Denied, since nobody is there to ask: {what}. Allow it in this chat with: {options}",
                    ),
                    &[("what", &what), ("options", &options(rules))],
                ),
            }
        }
    }
}

/// Why a mode that asks nobody refused something, and what would have let it pass.
pub fn needs(rules: &[Rule]) -> String {
    fill(
        &gettext("In this mode nobody is asked. Allow it in this chat with: {options}"),
        &[("options", &options(rules))],
    )
}

/// The rules as options of the command line.
fn options(rules: &[Rule]) -> String {
    let options = rules.iter().map(|rule| format!("--allow {}", quoted(&rule.to_string())));
    words::visible(&options.collect::<Vec<_>>().join(" ")).replace(char::is_whitespace, " ")
}

/// What is asked, with why.
pub fn why(asked: &PermissionRequest) -> String {
    words::why_asked(asked)
}

pub fn no_folder(path: &Path, system: &str) -> String {
    fill(
        &gettext("The folder “{path}” cannot be worked in: {system}"),
        &[("path", &path.display().to_string()), ("system", system)],
    )
}

pub fn not_a_folder(path: &Path) -> String {
    fill(
        &gettext("“{path}” is no folder. Name one to work in."),
        &[("path", &path.display().to_string())],
    )
}

pub fn works_in(folder: &Path) -> String {
    fill(
        &gettext("From now on the model works in {folder}."),
        &[("folder", &folder.display().to_string())],
    )
}

pub fn worked_in(folder: Option<&Path>) -> String {
    match folder {
        Some(folder) => fill(
            &gettext("The model works in {folder}."),
            &[("folder", &folder.display().to_string())],
        ),
        None => gettext("There is no folder yet. Give one with: /project DIR"),
    }
}

/// A mode with what it means.
pub fn mode(mode: Mode) -> String {
    format!("{} – {}", mode.name(), words::mode_meaning(mode))
}

pub fn no_mode(name: &str) -> String {
    fill(
        &gettext("There is no mode “{name}”. Use ask, edits, auto, plan or unattended."),
        &[("name", name)],
    )
}

pub fn no_commands() -> String {
    gettext("No command runs in the background.")
}

pub fn no_such_command(id: &str) -> String {
    fill(
        &gettext("No command “{id}” runs in the background. List them with: /commands"),
        &[("id", id)],
    )
}

pub fn command_ended(id: &str) -> String {
    fill(&gettext("The command “{id}” has ended."), &[("id", id)])
}

pub fn no_rules() -> String {
    gettext("Nothing was allowed or denied for longer.")
}

pub fn no_rule(rule: &Rule) -> String {
    fill(&gettext("There is no rule “{rule}” there."), &[("rule", &rule.to_string())])
}

pub fn rule_removed(rule: &Rule) -> String {
    fill(&gettext("Forgot the rule “{rule}”."), &[("rule", &rule.to_string())])
}

/// Where a rule holds.
pub fn everywhere() -> String {
    gettext("everywhere")
}

/// Where a rule holds.
pub fn in_this_chat() -> String {
    gettext("in this chat")
}
