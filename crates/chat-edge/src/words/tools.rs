//! What a tool does or did, in one line.

mod by_call;

use chat_core::message::{
    CommandExit, CommandLimit, TodoState, ToolCall, ToolResult, ToolView, Verdict,
};
use gettextrs::{gettext, ngettext};

use super::visible::line_within;
use super::{bytes, fill, one_line, short_time};
use by_call::{Tense, by_call};

/// Between what was done and what there is to say of it.
const BETWEEN: &str = " · ";

/// How far a call is, as its line tells it.
#[derive(Clone, Copy, Debug)]
pub enum Progress<'a> {
    /// Others run before it.
    Queued,
    /// It waits for the person.
    Asking,
    /// It is at work.
    Running,
    /// This came of it.
    Ended(&'a ToolResult),
    /// Nothing ever came of it: what would have run it ended before.
    Lost,
}

/// What a call does, waits for or did: “Run cargo test · waits for its turn”, “Read src/main.rs 1–80”,
/// “Ran cargo test · exit 101 · 12 s”. One line without control characters, whatever the model wrote.
pub fn tool_line(call: &ToolCall, progress: Progress) -> String {
    let waits = |what: String| [by_call(call, Tense::ToDo), what].join(BETWEEN);
    let result = match progress {
        Progress::Queued => return waits(gettext("waits for its turn")),
        Progress::Asking => return waits(gettext("waits for your answer")),
        Progress::Lost => return waits(gettext("has no result")),
        Progress::Running => return by_call(call, Tense::Doing),
        Progress::Ended(result) => result,
    };
    let mut line = match &result.view {
        Some(view) => did(call, view),
        None if result.failed => vec![by_call(call, Tense::ToDo), how_it_failed(result)],
        None => vec![by_call(call, Tense::Done)],
    };
    line.extend(result.took.filter(|took| took.as_secs() > 0).map(short_time));
    line.join(BETWEEN)
}

/// In a word why there is nothing to show of a call.
fn how_it_failed(result: &ToolResult) -> String {
    match &result.verdict {
        Some(Verdict::Denied { .. }) => gettext("denied"),
        _ if result.stopped => gettext("stopped"),
        _ => gettext("failed"),
    }
}

/// Characters of a reason that are shown.
const REASON: usize = 500;

/// Why a call failed, in one line: the words that the model gets, which are English and speak to it, where the line
/// of the call does not tell already.
pub fn tool_reason(result: &ToolResult) -> Option<String> {
    let denied = matches!(result.verdict, Some(Verdict::Denied { .. }));
    if !result.failed || denied || result.stopped || result.view.is_some() {
        return None;
    }
    if !result.needs.is_empty() {
        let rules: Vec<_> = result.needs.iter().map(ToString::to_string).collect();
        let sentence =
            gettext("In this mode nobody is asked. With this rule it would pass: {what}");
        let rules = line_within(&rules.join(", "), REASON);
        return Some(fill(&sentence, &[("what", &rules)]));
    }
    let text = result.text.strip_prefix("tool_call_fail: ").unwrap_or(&result.text);
    // What would let it pass stands at its end.
    let told = line_within(text.strip_prefix("tool_call_invalid: ").unwrap_or(text), REASON);
    Some(fill(&gettext("The model was told: {what}"), &[("what", &told)]))
}

/// What a call did, and what there is to say of it.
fn did(call: &ToolCall, view: &ToolView) -> Vec<String> {
    let name = call.name.as_str();
    match view {
        ToolView::Read { path, from, to } => {
            let what = with_lines(path, *from, *to);
            let sentence = match name {
                "fetch_output" | "read_output" => gettext("Read the output {what}"),
                "outline" => gettext("Looked at the outline of {what}"),
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
        CommandExit::Status(status) => Some(of(&gettext("exit {what}"), &status.to_string())),
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
    exit.map_or_else(|| Some(gettext("in the background")), command_exit)
}

/// How many lines came and went: “+3 −1”.
pub fn changed(added: u64, removed: u64) -> String {
    match (added, removed) {
        (added, 0) => format!("+{added}"),
        (0, removed) => format!("−{removed}"),
        (added, removed) => format!("+{added} −{removed}"),
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
