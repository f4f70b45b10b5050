//! Writes out the question of an approval request.

use chat_core::message::{Form, PermissionRequest, Preview, Question};
use chat_core::permission::Rule;
use chat_presentation::words::{self, visible};

use crate::say;
use crate::terminal::{Colour, Terminal};

/// The lines of the rules that a lasting answer stores. Those that even “always” stores only for the
/// project say so, unless all are.
fn rules(always: &[Rule], in_project: bool) -> Vec<String> {
    let is_mixed = in_project && !always.iter().all(Rule::is_of_project);
    let line = |rule: &Rule| {
        let text = visible(&rule.to_string()).into_owned();
        let text =
            if is_mixed && rule.is_of_project() { words::rule_of_project(&text) } else { text };
        format!("  {text}")
    };
    always.iter().map(line).collect()
}

pub(super) fn permission(
    asked: &PermissionRequest,
    in_project: bool,
    terminal: Terminal,
) -> Vec<String> {
    let mut lines = vec![terminal.strong(&words::permission_question(asked))];
    match &asked.preview {
        Preview::Command { text, folder, network, sandboxed, .. } => {
            let text = words::command_text(asked, text);
            lines.extend(visible(&text).lines().map(|line| format!("  {line}")));
            if words::runs_command(asked) {
                lines.push(terminal.dim(&say::bounds(folder, *sandboxed, *network)));
            }
            lines.extend(words::run_time(asked).map(|time| terminal.dim(&time)));
        }
        Preview::Change { diff, added, removed, .. } => {
            lines.push(format!("  {}", visible(&asked.target)));
            lines.extend(
                visible(diff).lines().map(|line| format!("  {}", coloured(line, terminal))),
            );
            lines.push(terminal.dim(&words::changed(*added, *removed)));
        }
        // The question may have cut them.
        Preview::Move { to } => {
            lines.push(format!("  {}", visible(&asked.target)));
            lines.push(format!("  → {}", visible(&to.display().to_string())));
        }
        Preview::ServerTool { arguments, changes, .. } => {
            lines.push(format!("  {}", visible(&asked.target)));
            lines.extend(visible(arguments).lines().map(|line| format!("  {line}")));
            for (heading, diff) in changes.iter().map(words::server_tool_change) {
                lines.push(terminal.dim(&heading));
                let diff = visible(diff.unwrap_or_default());
                lines.extend(diff.lines().map(|line| format!("  {}", coloured(line, terminal))));
            }
        }
        Preview::Address { url } => lines.push(format!("  {}", visible(url))),
        Preview::Store { url, bytes } => {
            lines.push(format!("  {}", visible(url)));
            lines.push(format!("  → {}", visible(&asked.target)));
            lines.push(terminal.dim(&words::bytes(*bytes)));
        }
        Preview::Delete | Preview::Target => lines.push(format!("  {}", visible(&asked.target))),
    }
    lines.extend(words::reasons_asked(asked).iter().map(|why| terminal.dim(why)));
    lines.extend(words::stays_inside(asked).map(|why| terminal.dim(&why)));
    if asked.always.is_empty() {
        lines.push(terminal.dim(&say::never_for_longer()));
    } else {
        lines.push(terminal.dim(&say::for_longer()));
        lines.extend(rules(&asked.always, in_project));
        if let [rule] = &asked.always[..] {
            let denied = rule.denying();
            if denied != *rule {
                lines.push(terminal.dim(&say::denied_for_longer(&visible(&denied.to_string()))));
            }
            if let Some(wider) = rule.wider() {
                lines.push(terminal.dim(&say::own_rule(&visible(&wider.to_string()))));
            }
        }
    }
    lines
}

/// A line of a diff.
fn coloured(line: &str, terminal: Terminal) -> String {
    match line.chars().next() {
        Some('+') => terminal.coloured(Colour::Green, line),
        Some('-') => terminal.coloured(Colour::Red, line),
        Some('@') => terminal.coloured(Colour::Cyan, line),
        _ => line.to_owned(),
    }
}

pub(super) fn question(question: &Question, terminal: Terminal) -> Vec<String> {
    let mut lines = vec![terminal.strong(&say::model_asks())];
    lines.extend(visible(&question.text).lines().map(|line| format!("  {line}")));
    let choices = question.choices.iter().enumerate();
    lines.extend(choices.map(|(at, choice)| format!("  {}  {}", at + 1, words::one_line(choice))));
    lines
}

pub(super) fn form(form: &Form, terminal: Terminal) -> Vec<String> {
    let mut lines = vec![terminal.strong(&words::form_question(form))];
    lines.extend(visible(form.message.trim()).lines().map(|line| format!("  {line}")));
    lines.push(terminal.dim(&format!("{} {}", words::form_note(), say::how_to_decline())));
    lines
}
