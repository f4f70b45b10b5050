//! Describes what a tool does or did, in one line.

use chat_core::message::{
    CommandExit, CommandLimit, TodoState, ToolCall, ToolResult, ToolView, Verdict,
};
use chat_core::tool::{
    CallData, Label, Labels, Tense, Text, ToolGroup, ToolInfo, ToolKind, Toolbox,
};
use gettextrs::{gettext, ngettext};

use super::visible::line_within;
use super::{agent_state, bytes, fill, one_line, short_time};

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

/// What a tool is called. One that is not ours is called as it calls itself.
pub fn tool_title(tool: &ToolInfo) -> String {
    translated(&tool.title)
}

/// The heading for tools that have to do with the same thing.
pub fn tool_group(group: ToolGroup) -> String {
    match group {
        ToolGroup::Files => gettext("Files"),
        ToolGroup::Commands => gettext("Commands"),
        ToolGroup::Web => gettext("Web"),
        ToolGroup::Planning => gettext("Planning"),
        ToolGroup::Agents => gettext("Agents"),
        ToolGroup::Other => gettext("Other Tools"),
    }
}

/// What a tool does, in a line. Of one that is not ours, what it says itself.
pub fn tool_description(tool: &ToolInfo) -> String {
    translated(&tool.summary)
}

fn translated(text: &Text) -> String {
    match text {
        Text::Message(id) => gettext(id.as_str()),
        Text::Verbatim(text) => one_line(text),
    }
}

/// What a call does, waits for or did: “Run cargo test · waits for its turn”, “Read src/main.rs 1–80”,
/// “Ran cargo test · exit 101 · 12 s”. One line without control characters, whatever the model wrote.
pub fn tool_line(tools: &Toolbox, call: &ToolCall, progress: Progress) -> String {
    line_of(&About { tool: tools.get(&call.name), call, is_alone: true }, progress)
}

/// The same for a card that shows below it what the agents do that the call is about.
pub fn tool_heading(tools: &Toolbox, call: &ToolCall, progress: Progress) -> String {
    line_of(&About { tool: tools.get(&call.name), call, is_alone: false }, progress)
}

fn line_of(about: &About<'_>, progress: Progress) -> String {
    let waits = |what: String| [about.says(Tense::ToDo, None), what].join(BETWEEN);
    let result = match progress {
        Progress::Queued => return waits(gettext("queued")),
        Progress::Asking => return waits(gettext("waiting for your answer")),
        Progress::Lost => return waits(gettext("no result")),
        Progress::Running => return about.says(Tense::Doing, None),
        Progress::Ended(result) => result,
    };
    let mut line = match &result.view {
        Some(view) => about.did(view),
        None if result.failed => about.failed(result),
        None => vec![about.says(Tense::Done, None)],
    };
    line.extend(result.took.filter(|took| took.as_secs() > 0).map(short_time));
    line.join(BETWEEN)
}

/// What a call is about, as it stands in its line: the command, the pattern; none where nothing is
/// known of its tool.
pub fn tool_subject(
    tools: &Toolbox,
    call: &ToolCall,
    result: Option<&ToolResult>,
) -> Option<String> {
    let about = About { tool: tools.get(&call.name), call, is_alone: true };
    let label = match result.and_then(|result| result.view.as_ref()) {
        Some(view) => about.label(Tense::Done, Some(view))?,
        None => about.label(Tense::ToDo, None)?,
    };
    label.values.first().map(|(_, value)| one_line(value))
}

/// A call, and its tool where that is known.
struct About<'a> {
    tool: Option<&'a ToolInfo>,
    call: &'a ToolCall,
    /// Whether nothing else says what the agents do.
    is_alone: bool,
}

impl About<'_> {
    /// The tool's own sentence.
    fn label(&self, tense: Tense, view: Option<&ToolView>) -> Option<Label> {
        match self.tool?.labels {
            Labels::Own(label) => {
                Some(label(tense, CallData { arguments: &self.call.arguments, view }))
            }
            Labels::ByTitle => None,
        }
    }

    /// What the call is to do, does or did.
    fn says(&self, tense: Tense, view: Option<&ToolView>) -> String {
        let Some(label) = self.label(tense, view) else {
            let sentence = match tense {
                Tense::ToDo => gettext("Use {title}"),
                Tense::Doing => gettext("Using {title}"),
                Tense::Done => gettext("Used {title}"),
                Tense::Failed => gettext("Couldn’t use {title}"),
            };
            return fill(&sentence, &[("title", &self.title())]);
        };
        let values: Vec<_> =
            label.values.iter().map(|(name, value)| (*name, one_line(value))).collect();
        let values: Vec<_> = values.iter().map(|(name, value)| (*name, value.as_str())).collect();
        fill(&gettext(label.sentence.as_str()), &values)
    }

    /// What the call was to do, and why that was not done.
    fn failed(&self, result: &ToolResult) -> Vec<String> {
        let why = match &result.verdict {
            Some(Verdict::Denied { .. }) => gettext("denied"),
            _ if result.stopped => gettext("stopped"),
            _ => return vec![self.says(Tense::Failed, None)],
        };
        vec![self.says(Tense::ToDo, None), why]
    }

    /// What the tool is called, also where it is gone.
    fn title(&self) -> String {
        let kept = || one_line(self.call.title.as_ref().unwrap_or(&self.call.name));
        self.tool.map_or_else(kept, tool_title)
    }

    /// What the call did, and what there is to say of it.
    fn did(&self, view: &ToolView) -> Vec<String> {
        let done = self.says(Tense::Done, Some(view));
        match view {
            ToolView::Read { .. } | ToolView::Moved { .. } | ToolView::Deleted { .. } => vec![done],
            ToolView::Listed { entries, .. } => {
                let count = small(*entries);
                let found = ngettext("{n} entry", "{n} entries", count);
                vec![done, number(&found, count)]
            }
            ToolView::Searched { matches, files, .. } => {
                let (lines, among) = (small(*matches), small(*files));
                let lines = number(&ngettext("{n} line", "{n} lines", lines), lines);
                let among = number(&ngettext("in {n} file", "in {n} files", among), among);
                vec![done, format!("{lines} {among}")]
            }
            ToolView::Edited { added, removed, .. } => {
                vec![format!("{done} {}", changed(*added, *removed))]
            }
            ToolView::Ran { exit, quarantined, .. } => {
                let mut line = vec![done];
                // Who stopped it knows how it ended.
                let stops = self.tool.is_some_and(|tool| tool.kind == ToolKind::Stops);
                line.extend(exit_words(*exit).filter(|_| !stops));
                if !quarantined.is_empty() {
                    let count = small(quarantined.len() as u64);
                    let told = ngettext("{n} file quarantined", "{n} files quarantined", count);
                    line.push(number(&told, count));
                }
                line
            }
            ToolView::Fetched { bytes: size, .. } => vec![done, bytes(*size)],
            ToolView::WebSearched { results, .. } => {
                let count = small(*results);
                let found = ngettext("{n} result", "{n} results", count);
                vec![done, number(&found, count)]
            }
            ToolView::Todos { todos } => {
                let steps = todos.iter().filter(|todo| todo.state == TodoState::Done).count();
                let counts = [("done", steps.to_string()), ("all", todos.len().to_string())];
                let counts = counts.each_ref().map(|(name, count)| (*name, count.as_str()));
                vec![done, fill(&gettext("{done} of {all} done"), &counts)]
            }
            ToolView::Agents { .. } if !self.is_alone => vec![done],
            ToolView::Agents { agents } if agents.len() == 1 => {
                vec![done, agent_state(agents[0].state)]
            }
            ToolView::Agents { agents } => {
                let count = small(agents.len() as u64);
                vec![done, number(&ngettext("{n} agent", "{n} agents", count), count)]
            }
            ToolView::Asked { answer, .. } => vec![done, one_line(answer)],
        }
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
        let sentence = gettext("This mode never asks. To allow it, add this rule: {what}");
        let rules = line_within(&rules.join(", "), REASON);
        return Some(fill(&sentence, &[("what", &rules)]));
    }
    let text = result.text.strip_prefix("tool_call_fail: ").unwrap_or(&result.text);
    // What would let it pass stands at its end.
    let told = line_within(text.strip_prefix("tool_call_invalid: ").unwrap_or(text), REASON);
    Some(fill(&gettext("Reported to the model: {what}"), &[("what", &told)]))
}

/// How a command ended, where that is worth a word.
pub fn command_exit(exit: CommandExit) -> Option<String> {
    match exit {
        CommandExit::Status(0) => None,
        CommandExit::Status(status) => Some(of(&gettext("exit code {what}"), &status.to_string())),
        CommandExit::Signal(signal) => {
            Some(of(&gettext("stopped by signal {what}"), &signal.to_string()))
        }
        CommandExit::TimedOut => Some(gettext("timed out")),
        CommandExit::Stopped => Some(gettext("stopped")),
        CommandExit::Limit(CommandLimit::Processes) => Some(gettext("started too many processes")),
        CommandExit::Limit(CommandLimit::Memory) => Some(gettext("used too much memory")),
        CommandExit::Limit(CommandLimit::Disk) => Some(gettext("used too much disk space")),
        CommandExit::Exposed => {
            Some(gettext("stopped because its sandbox was changed from outside"))
        }
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

fn of(sentence: &str, what: &str) -> String {
    fill(sentence, &[("what", &one_line(what))])
}

fn number(sentence: &str, count: u32) -> String {
    fill(sentence, &[("n", &count.to_string())])
}

fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests;
