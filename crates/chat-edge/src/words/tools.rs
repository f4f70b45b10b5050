//! What a tool does or did, in one line.

use chat_core::message::{
    CommandExit, CommandLimit, TodoState, ToolCall, ToolResult, ToolView, Verdict,
};
use gettextrs::{gettext, ngettext};
use serde_json::Value;

use super::{bytes, fill, one_line, short_time};

/// Between what was done and what there is to say of it.
const BETWEEN: &str = " · ";

/// What a call does, or, where its result is given, what came of it: “Read src/main.rs 1–80”, “Ran
/// cargo test · failed 101 · 12 s”. One line without control characters, whatever the model wrote.
pub fn tool_line(call: &ToolCall, result: Option<&ToolResult>) -> String {
    let Some(result) = result else { return doing(call) };
    let mut line = match &result.view {
        Some(view) => did(call, view),
        None if result.failed => vec![doing(call)],
        None => vec![done(call)],
    };
    match &result.verdict {
        Some(Verdict::Denied { .. }) if result.failed => line.push(gettext("denied")),
        _ if result.failed && result.view.is_none() => line.push(gettext("failed")),
        _ => {}
    }
    line.extend(result.took.filter(|took| took.as_secs() > 0).map(short_time));
    line.join(BETWEEN)
}

/// Why a call failed, in one line: the words that the model gets, where the line of the call does
/// not tell already.
pub fn tool_reason(result: &ToolResult) -> Option<String> {
    let denied = matches!(result.verdict, Some(Verdict::Denied { .. }));
    if !result.failed || denied || result.view.is_some() {
        return None;
    }
    if !result.needs.is_empty() {
        let rules: Vec<_> = result.needs.iter().map(ToString::to_string).collect();
        let sentence =
            gettext("In this mode nobody is asked. With this rule it would pass: {what}");
        return Some(of(&sentence, &rules.join(", ")));
    }
    let text = result.text.strip_prefix("tool_call_fail: ").unwrap_or(&result.text);
    Some(one_line(text.strip_prefix("tool_call_invalid: ").unwrap_or(text)))
}

/// What a call is about to do, by what the model gave it.
fn doing(call: &ToolCall) -> String {
    let said = Said(&call.arguments);
    match call.name.as_str() {
        "read_file" | "outline" => of(&gettext("Reading {what}"), &said.file()),
        "list_files" => of(&gettext("Listing {what}"), &said.folder()),
        "find_files" => of(&gettext("Looking for files {what}"), &said.text("glob")),
        "search_files" => of(&gettext("Searching for {what}"), &said.text("pattern")),
        "edit_file" => of(&gettext("Editing {what}"), &said.text("path")),
        "write_file" => of(&gettext("Writing {what}"), &said.text("path")),
        "move_file" => two(&gettext("Moving {from} to {to}"), &said.text("from"), &said.text("to")),
        "delete_file" => of(&gettext("Moving {what} to the trash"), &said.text("path")),
        "run_command" => of(&gettext("Running {what}"), &said.text("command")),
        "read_output" | "fetch_output" => {
            of(&gettext("Reading the output {what}"), &said.text("id"))
        }
        "stop_command" => of(&gettext("Stopping the command {what}"), &said.text("id")),
        "web_fetch" => of(&gettext("Fetching {what}"), &said.text("url")),
        "web_search" => of(&gettext("Searching the web for “{what}”"), &said.text("query")),
        "update_todos" => gettext("Changing the plan"),
        "ask_user" => of(&gettext("Asking you: {what}"), &said.text("question")),
        _ => other(call),
    }
}

/// What a call did of which nothing but its arguments is known.
fn done(call: &ToolCall) -> String {
    let said = Said(&call.arguments);
    match call.name.as_str() {
        "read_file" | "outline" => of(&gettext("Read {what}"), &said.file()),
        "list_files" => of(&gettext("Listed {what}"), &said.folder()),
        "find_files" => of(&gettext("Looked for files {what}"), &said.text("glob")),
        "search_files" => of(&gettext("Searched for {what}"), &said.text("pattern")),
        "edit_file" => of(&gettext("Edited {what}"), &said.text("path")),
        "write_file" => of(&gettext("Wrote {what}"), &said.text("path")),
        "move_file" => two(&gettext("Moved {from} to {to}"), &said.text("from"), &said.text("to")),
        "delete_file" => of(&gettext("Moved {what} to the trash"), &said.text("path")),
        "run_command" => of(&gettext("Ran {what}"), &said.text("command")),
        "read_output" | "fetch_output" => of(&gettext("Read the output {what}"), &said.text("id")),
        "stop_command" => of(&gettext("Stopped the command {what}"), &said.text("id")),
        "web_fetch" => of(&gettext("Fetched {what}"), &said.text("url")),
        "web_search" => of(&gettext("Searched the web for “{what}”"), &said.text("query")),
        "update_todos" => gettext("Changed the plan"),
        "ask_user" => of(&gettext("Asked you: {what}"), &said.text("question")),
        _ => other(call),
    }
}

/// What a call did, and what there is to say of it.
fn did(call: &ToolCall, view: &ToolView) -> Vec<String> {
    let name = call.name.as_str();
    match view {
        ToolView::Read { path, from, to } => {
            let what = with_lines(path, *from, *to);
            let sentence = match name {
                "fetch_output" | "read_output" => gettext("Read the output {what}"),
                _ => gettext("Read {what}"),
            };
            vec![of(&sentence, &what)]
        }
        ToolView::Listed { what, entries } => {
            let sentence = match name {
                "find_files" => gettext("Looked for files {what}"),
                _ => gettext("Listed {what}"),
            };
            let count = small(*entries);
            let found = ngettext("{n} entry", "{n} entries", count);
            vec![of(&sentence, what), number(&found, count)]
        }
        ToolView::Searched { pattern, matches, files } => {
            let (lines, among) = (small(*matches), small(*files));
            let lines = number(&ngettext("{n} line", "{n} lines", lines), lines);
            let among = number(&ngettext("in {n} file", "in {n} files", among), among);
            vec![of(&gettext("Searched for {what}"), pattern), format!("{lines} {among}")]
        }
        ToolView::Edited { path, added, removed, created, .. } => {
            let sentence = match name {
                _ if *created => gettext("Created {what}"),
                "write_file" => gettext("Wrote {what}"),
                _ => gettext("Edited {what}"),
            };
            vec![format!("{} {}", of(&sentence, path), changed(*added, *removed))]
        }
        ToolView::Moved { from, to } => vec![two(&gettext("Moved {from} to {to}"), from, to)],
        ToolView::Deleted { path } => vec![of(&gettext("Moved {what} to the trash"), path)],
        ToolView::Ran { command, exit, put_aside, .. } => {
            let sentence = match name {
                "read_output" => gettext("Read the output of {what}"),
                "stop_command" => gettext("Stopped {what}"),
                _ => gettext("Ran {what}"),
            };
            let mut line = vec![of(&sentence, command)];
            // Who stopped it knows how it ended.
            line.extend(exit_words(*exit).filter(|_| name != "stop_command"));
            if !put_aside.is_empty() {
                let count = small(put_aside.len() as u64);
                let told = ngettext("{n} file put aside", "{n} files put aside", count);
                line.push(number(&told, count));
            }
            line
        }
        ToolView::Fetched { url, bytes: size, path, .. } => {
            let what = match path {
                Some(path) => two(&gettext("Fetched {from} into {to}"), url, path),
                None => of(&gettext("Fetched {what}"), url),
            };
            vec![what, bytes(*size)]
        }
        ToolView::WebSearched { query, results } => {
            let count = small(*results);
            let found = ngettext("{n} result", "{n} results", count);
            vec![of(&gettext("Searched the web for “{what}”"), query), number(&found, count)]
        }
        ToolView::Todos { todos } => {
            let done = todos.iter().filter(|todo| todo.state == TodoState::Done).count();
            let counts = [("done", done.to_string()), ("all", todos.len().to_string())];
            let counts = counts.each_ref().map(|(name, count)| (*name, count.as_str()));
            vec![gettext("Changed the plan"), fill(&gettext("{done} of {all} done"), &counts)]
        }
        ToolView::Asked { question, answer } => {
            vec![of(&gettext("Asked you: {what}"), question), one_line(answer)]
        }
    }
}

/// How a command ended, where that is worth a word.
pub fn command_exit(exit: CommandExit) -> Option<String> {
    match exit {
        CommandExit::Status(0) => None,
        CommandExit::Status(status) => Some(of(&gettext("failed {what}"), &status.to_string())),
        CommandExit::Signal(signal) => {
            Some(of(&gettext("ended by signal {what}"), &signal.to_string()))
        }
        CommandExit::TimedOut => Some(gettext("took too long")),
        CommandExit::Stopped => Some(gettext("stopped")),
        CommandExit::Limit(CommandLimit::Processes) => Some(gettext("started too many processes")),
        CommandExit::Limit(CommandLimit::Memory) => Some(gettext("used too much memory")),
        CommandExit::Limit(CommandLimit::Disk) => Some(gettext("used too much of the disk")),
        CommandExit::Exposed => Some(gettext("ended, since its bounds were changed from outside")),
    }
}

fn exit_words(exit: Option<CommandExit>) -> Option<String> {
    exit.map_or_else(|| Some(gettext("goes on in the background")), command_exit)
}

/// How many lines came and went: “+3 −1”.
pub fn changed(added: u64, removed: u64) -> String {
    match (added, removed) {
        (added, 0) => format!("+{added}"),
        (0, removed) => format!("−{removed}"),
        (added, removed) => format!("+{added} −{removed}"),
    }
}

/// A tool that is not one of ours, or not any more.
fn other(call: &ToolCall) -> String {
    let arguments = match &call.arguments {
        Value::Object(object) if object.is_empty() => String::new(),
        Value::String(raw) => raw.clone(),
        arguments => arguments.to_string(),
    };
    one_line(&format!("{} {arguments}", call.name))
}

/// The arguments of a call: whatever the model gave.
struct Said<'a>(&'a Value);

impl Said<'_> {
    fn text(&self, name: &str) -> String {
        match self.0.get(name) {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => "?".to_owned(),
            Some(other) => other.to_string(),
        }
    }

    fn folder(&self) -> String {
        self.0.get("path").and_then(Value::as_str).unwrap_or(".").to_owned()
    }

    fn file(&self) -> String {
        let line = |name: &str| self.0.get(name).and_then(Value::as_u64);
        with_lines(&self.text("path"), line("from"), line("to"))
    }
}

fn with_lines(path: &str, from: Option<u64>, to: Option<u64>) -> String {
    match (from, to) {
        (None, None) => path.to_owned(),
        (Some(from), Some(to)) if from == to => format!("{path} {from}"),
        (from, Some(to)) => format!("{path} {}–{to}", from.unwrap_or(1)),
        (Some(from), None) => format!("{path} {from}–"),
    }
}

fn of(sentence: &str, what: &str) -> String {
    fill(sentence, &[("what", &one_line(what))])
}

fn two(sentence: &str, from: &str, to: &str) -> String {
    fill(sentence, &[("from", &one_line(from)), ("to", &one_line(to))])
}

fn number(sentence: &str, count: u32) -> String {
    fill(sentence, &[("n", &count.to_string())])
}

fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
