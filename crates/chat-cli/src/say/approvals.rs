//! Defines the questions of tools. The letter in brackets is what the user types as the answer:
//! each language has its own letters, and no two answers may share one.

use std::path::Path;

use chat_core::message::{ApprovalKind, ApprovalRequest, FromAgent};
use chat_core::permission::{Mode, Rule};
use chat_presentation::words::{self, fill, one_line};
use gettextrs::{gettext, ngettext};

use super::quoted;

pub fn allow_once() -> String {
    gettext("[y]es")
}

pub fn allow_in_session() -> String {
    gettext("in thi[s] chat")
}

pub fn allow_in_project() -> String {
    gettext("in this [p]roject")
}

pub fn allow_always() -> String {
    gettext("[a]lways allow")
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

/// Says that what a project brings is not in use.
pub fn definitions_untrusted() -> String {
    gettext(
        "This project’s agents, commands, and skills aren’t used until you trust them. To decide, start natter-cli chat with this folder.",
    )
}

/// Asks whether to use what a project brings.
pub fn ask_trust() -> String {
    gettext("Trust and use them? [y/N, s shows them] ")
}

/// Whether an answer means yes, in the user's language or in English.
pub fn is_yes(answer: &str) -> bool {
    abbreviates(answer, "yes", &gettext("yes"))
}

/// Whether an answer is the beginning of a word, in English or in the user's language.
fn abbreviates(answer: &str, english: &str, word: &str) -> bool {
    let answer = answer.trim().to_lowercase();
    !answer.is_empty() && (english.starts_with(&answer) || word.starts_with(&answer))
}

/// Whether an answer asks to see what is to be trusted.
pub fn is_show(answer: &str) -> bool {
    abbreviates(answer, "show", &gettext("show"))
}

/// Whether an answer means no, as nothing does.
pub fn is_no(answer: &str) -> bool {
    answer.trim().is_empty() || abbreviates(answer, "no", &gettext("no"))
}

/// Says that what a project brings stays unused.
pub fn left_untrusted() -> String {
    gettext("Not trusted. The project’s agents, commands, and skills aren’t used.")
}

/// Says that a line is no answer to a question.
pub fn no_answer(line: &str) -> String {
    let text = gettext("“{text}” isn’t an answer. It’s kept for your next message.");
    fill(&text, &[("text", &one_line(line))])
}

/// The message for a project that has nothing of its own.
pub fn nothing_to_trust(project: &Path) -> String {
    let text = gettext("“{folder}” has no agents, commands, or skills of its own.");
    fill(&text, &[("folder", &project.display().to_string())])
}

/// The message for an empty list of trusted projects.
pub fn none_trusted() -> String {
    gettext("You don’t trust any projects yet.")
}

/// The message about a project that is not trusted in the first place.
pub fn not_trusted(project: &Path) -> String {
    let text = gettext("You don’t trust “{folder}”. List trusted projects with: natter-cli trust");
    fill(&text, &[("folder", &project.display().to_string())])
}

/// Confirms that a project is no longer trusted.
pub fn trust_removed(project: &Path) -> String {
    let text = gettext("“{folder}” is no longer trusted.");
    fill(&text, &[("folder", &project.display().to_string())])
}

/// The hint after the possible answers that any other text goes to the model.
pub fn or_a_word(answers: &str) -> String {
    fill(&gettext("{answers}, or a message to the model: "), &[("answers", answers)])
}

/// The line above the rules that a lasting answer would store.
pub fn for_longer() -> String {
    gettext("Lasting answers apply only to:")
}

/// What a lasting denial applies to, where that is more than what the other answers do.
pub fn denied_for_longer(rule: &str) -> String {
    fill(&gettext("A lasting denial applies to: {rule}"), &[("rule", rule)])
}

/// How to allow more than was asked for.
pub fn own_rule(example: &str) -> String {
    let letter = allow_in_session();
    let letter = letter.split_once('[').and_then(|(_, rest)| rest.chars().next()).unwrap_or('s');
    let example = format!("{} {example}", letter.to_lowercase());
    fill(
        &gettext("To allow more, type a rule after the letter, such as: {example}"),
        &[("example", &example)],
    )
}

/// Says that a lasting answer was followed by something that is no rule.
pub fn broken_rule(text: &str) -> String {
    fill(
        &gettext(
            "“{text}” isn’t a rule, so nothing was decided. A rule looks like this: {example}",
        ),
        &[("text", &one_line(text)), ("example", "run:cargo test *")],
    )
}

/// Says that a line was taken as a message to the model.
pub fn denied_with(message: &str) -> String {
    let text = gettext("Denied, with this message to the model: {message}");
    fill(&text, &[("message", &one_line(message))])
}

pub fn never_for_longer() -> String {
    gettext("You’ll be asked about this every time.")
}

/// Where a command would run, and how it is confined.
pub fn bounds(folder: &Path, sandboxed: bool, network: bool) -> String {
    let place =
        fill(&gettext("In {folder}"), &[("folder", &one_line(&folder.display().to_string()))]);
    if !sandboxed {
        // Then nothing keeps it from the network either.
        return format!("{place}, {}", gettext("without a sandbox"));
    }
    let bounds = gettext("in the sandbox");
    let reach =
        if network { gettext("with network access") } else { gettext("without network access") };
    format!("{place}, {bounds}, {reach}")
}

pub fn model_asks() -> String {
    gettext("The model asks:")
}

pub fn number_or_words() -> String {
    gettext("Enter a number or your own answer: ")
}

pub fn own_words() -> String {
    gettext("Your answer: ")
}

/// What could not be asked, for which agent below the chat, and what would have allowed it.
pub fn nobody(ask: &ApprovalRequest, agent: Option<&str>) -> String {
    let text = denied(ask);
    match agent {
        Some(agent) => {
            let from = words::from_agent(&FromAgent::Message { name: agent.to_owned() });
            format!("{from}: {text}")
        }
        None => text,
    }
}

fn denied(ask: &ApprovalRequest) -> String {
    match &ask.kind {
        ApprovalKind::Question(question) => fill(
            &gettext("The model asked a question, but Natter can’t ask you here: {question}"),
            &[("question", &one_line(&question.text))],
        ),
        ApprovalKind::Form(form) => fill(
            &gettext("“{server}” asks for answers, but Natter can’t ask you here: {message}"),
            &[("server", &one_line(&form.server)), ("message", &one_line(&form.message))],
        ),
        ApprovalKind::GoOn { rounds } => fill(
            &ngettext(
                "Natter can’t ask here whether to continue after {rounds} round of tool calls.",
                "Natter can’t ask here whether to continue after {rounds} rounds of tool calls.",
                *rounds,
            ),
            &[("rounds", &rounds.to_string())],
        ),
        ApprovalKind::Permission(asked) => {
            let what = format!("{} {}", asked.action, one_line(&asked.target));
            match &asked.always[..] {
                [] => fill(
                    &gettext("Denied, because Natter can’t ask you here: {what}. {why}"),
                    &[("what", &what), ("why", &words::why_asked(asked))],
                ),
                rules => fill(
                    &gettext(
                        "Denied, because Natter can’t ask you here: {what}. To allow it in this chat, use: {options}",
                    ),
                    &[("what", &what), ("options", &options(rules))],
                ),
            }
        }
    }
}

/// Why a mode that never asks refused something, and what would have allowed it.
pub fn needs(rules: &[Rule]) -> String {
    fill(
        &gettext("This mode never asks. To allow it in this chat, use: {options}"),
        &[("options", &options(rules))],
    )
}

/// The rules as command line options.
fn options(rules: &[Rule]) -> String {
    let options = rules.iter().map(|rule| format!("--allow {}", quoted(&rule.to_string())));
    words::visible(&options.collect::<Vec<_>>().join(" ")).replace(char::is_whitespace, " ")
}

pub fn no_folder(path: &Path, system: &str) -> String {
    fill(
        &gettext("Can’t work in the folder “{path}”: {system}"),
        &[("path", &path.display().to_string()), ("system", system)],
    )
}

pub fn not_a_folder(path: &Path) -> String {
    fill(
        &gettext("“{path}” isn’t a folder. Choose a folder to work in."),
        &[("path", &path.display().to_string())],
    )
}

pub fn works_in(folder: &Path) -> String {
    fill(&gettext("The model now works in {folder}."), &[("folder", &folder.display().to_string())])
}

pub fn worked_in(folder: Option<&Path>) -> String {
    match folder {
        Some(folder) => fill(
            &gettext("The model works in {folder}."),
            &[("folder", &folder.display().to_string())],
        ),
        None => gettext("This chat has no project. Choose a folder with: /project DIR"),
    }
}

/// A mode with its meaning.
pub fn mode(mode: Mode) -> String {
    format!("{} – {}", mode.name(), words::mode_meaning(mode))
}

pub fn no_mode(name: &str) -> String {
    fill(
        &gettext("There is no mode “{name}”. Use ask, edits, auto, plan, or unattended."),
        &[("name", name)],
    )
}

pub fn no_commands() -> String {
    gettext("No commands are running in the background.")
}

pub fn no_such_command(id: &str) -> String {
    fill(
        &gettext("No command “{id}” is running in the background. List commands with: /commands"),
        &[("id", id)],
    )
}

pub fn command_ended(id: &str) -> String {
    fill(&gettext("Stopped the command “{id}”."), &[("id", id)])
}

pub fn no_rules() -> String {
    gettext("There are no permission rules.")
}

pub fn no_rule(rule: &Rule) -> String {
    fill(&gettext("There is no rule “{rule}”."), &[("rule", &rule.to_string())])
}

pub fn rule_removed(rule: &Rule) -> String {
    fill(&gettext("Removed the rule “{rule}”."), &[("rule", &rule.to_string())])
}

/// The scope of a rule.
pub fn everywhere() -> String {
    gettext("everywhere")
}

/// The scope of a rule.
pub fn in_this_chat() -> String {
    gettext("in this chat")
}
