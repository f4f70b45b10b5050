//! Writes the text of an opened tool card: the call's arguments and its result.

use chat_core::message::{Todo, TodoState, ToolCall, ToolResult, ToolView, Verdict};
use chat_core::tool::{OutputForm, ToolInfo};
use chat_presentation::words::{fill, visible};
use gettextrs::gettext;
use serde_json::Value;

use super::super::styled_text::{StyledText, TextStyle};
use super::super::{ansi, diff};

/// What an answer of the engine's begins with that says in which way a call failed, for the model.
const MARKS: [&str; 2] = ["tool_call_fail: ", "tool_call_invalid: "];

/// The text inside of a card; of a call whose tool nobody knows as of any other.
pub fn details(
    tool: Option<&ToolInfo>,
    call: &ToolCall,
    result: Option<&ToolResult>,
) -> StyledText {
    let mut out = StyledText::default();
    if let Some(Verdict::Denied { message: Some(message) }) =
        result.and_then(|result| result.verdict.as_ref())
    {
        let said = fill(&gettext("Denied by you: {message}"), &[("message", message)]);
        out.push(&visible(&said), TextStyle::Plain);
    }
    let view = result.and_then(|result| result.view.as_ref());
    match view {
        Some(ToolView::Edited { diff, .. }) => {
            out.begin_line(1);
            out.append(&diff::styled(diff));
            out.trim();
            if result.is_some_and(|result| !result.failed) {
                return out;
            }
        }
        Some(ToolView::Todos { todos }) => {
            out.begin_line(1);
            plan(&mut out, todos);
            return out;
        }
        _ => input(&mut out, call),
    }
    if let Some(result) = result.filter(|result| !result.text.is_empty()) {
        label(&mut out, &gettext("Output"));
        let text = answer(result);
        match tool.map_or(OutputForm::Text, |tool| tool.output) {
            OutputForm::Terminal => out.append(&ansi::styled(text)),
            OutputForm::Diff => out.append(&diff::styled_git(text)),
            OutputForm::Text => out.push(&visible(text), TextStyle::Plain),
        }
        out.trim();
    }
    if let Some(ToolView::Ran { quarantined, .. }) = view
        && !quarantined.is_empty()
    {
        label(&mut out, &gettext("Quarantined: not allowed here, or could make Git run programs"));
        out.push(&visible(&quarantined.join("\n")), TextStyle::Plain);
    }
    out
}

/// What the tool said, without what is meant for the model alone.
fn answer(result: &ToolResult) -> &str {
    MARKS.iter().find_map(|mark| result.text.strip_prefix(mark)).unwrap_or(&result.text)
}

fn label(out: &mut StyledText, text: &str) {
    out.begin_line(1);
    out.push(text, TextStyle::Label);
    out.push("\n", TextStyle::Plain);
}

/// What the tool was given: a value a line, texts of several lines below their name.
fn input(out: &mut StyledText, call: &ToolCall) {
    let arguments = match &call.arguments {
        Value::Object(arguments) if arguments.is_empty() => return,
        Value::Null => return,
        arguments => arguments,
    };
    label(out, &gettext("Input"));
    let Value::Object(arguments) = arguments else {
        let text = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
        out.push(&visible(&text), TextStyle::Plain);
        return;
    };
    for (index, (name, value)) in arguments.iter().enumerate() {
        if index > 0 {
            out.push("\n", TextStyle::Plain);
        }
        out.push(&visible(name), TextStyle::Dim);
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Array(_) | Value::Object(_) => {
                serde_json::to_string_pretty(value).unwrap_or_default()
            }
            value => value.to_string(),
        };
        out.push(if text.contains('\n') { "\n" } else { "  " }, TextStyle::Plain);
        out.push(&visible(&text), TextStyle::Plain);
    }
}

fn plan(out: &mut StyledText, todos: &[Todo]) {
    for (index, todo) in todos.iter().enumerate() {
        if index > 0 {
            out.push("\n", TextStyle::Plain);
        }
        let (mark, look) = match todo.state {
            TodoState::Done => ("✓ ", TextStyle::Dim),
            TodoState::Doing => ("→ ", TextStyle::Plain),
            TodoState::Open => ("○ ", TextStyle::Plain),
        };
        out.push(mark, look);
        out.push(&visible(&todo.text), look);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::state::tests::{call, ours};
    use super::*;

    #[test]
    fn input_and_output_are_told_apart() {
        let call = call("search_files", json!({ "context": 2 }));
        let failed = ToolResult::to(&call, "tool_call_fail: No such folder.", true);
        assert_eq!(
            details(None, &call, Some(&failed)).text(),
            "Input\ncontext  2\n\nOutput\nNo such folder."
        );
        assert_eq!(details(None, &call, None).text(), "Input\ncontext  2");
    }

    #[test]
    fn no_empty_line_stands_below_an_output() {
        let call = call("search_files", json!({}));
        let found = ToolResult::to(&call, "a.rs\n1: one\n", false);
        assert_eq!(details(None, &call, Some(&found)).text(), "Output\na.rs\n1: one");
    }

    #[test]
    fn arguments_that_are_no_object_are_shown_as_they_came() {
        assert_eq!(details(None, &call("x", json!("{\"a\":")), None).text(), "Input\n{\"a\":");
        assert_eq!(details(None, &call("x", json!({})), None).text(), "");
    }

    #[test]
    fn commands_have_colours_and_other_tools_show_the_signs() {
        let written = "\x1b[31mred\x1b[0m";
        let of = |name: &str| {
            let call = call(name, json!({}));
            let tools = ours();
            let result = ToolResult::to(&call, written, false);
            details(tools.get(name), &call, Some(&result)).text().to_owned()
        };
        assert_eq!(of("run_command"), "Output\nred");
        assert_eq!(of("read_file"), "Output\n␛[31mred␛[0m");
    }

    #[test]
    fn the_diff_of_a_worktree_has_colours() {
        let call = call("finish_worktree", json!({ "name": "fixer", "action": "show" }));
        let text = "Branch fixer from main\n-x +1 -1\n\ndiff --git a/-x b/-x\n--- a/-x\n+++ b/-x\n@@ -1 +1 @@\n-old\n+new\n";
        let shown = ToolResult::to(&call, text, false);
        let shown = details(ours().get("finish_worktree"), &call, Some(&shown));
        assert!(shown.text().ends_with("\n@@ -1 +1 @@\n-old\n+new"), "{}", shown.text());
        let letters: Vec<char> = shown.text().chars().collect();
        let lines = |wanted: TextStyle| {
            let spans = shown.spans().iter().filter(move |(_, style)| *style == wanted);
            let text = |span: &std::ops::Range<usize>| letters[span.clone()].iter().collect();
            spans.map(|(span, _)| text(span)).collect::<Vec<String>>()
        };
        assert_eq!(lines(TextStyle::Removed), ["-old\n"]);
        assert_eq!(lines(TextStyle::Added), ["+new"]);
    }

    #[test]
    fn quarantined_files_are_listed() {
        let call = call("run_command", json!({}));
        let view = ToolView::Ran {
            command: "git init".to_owned(),
            exit: None,
            output: None,
            sandboxed: true,
            quarantined: vec!["/project/.git-1".to_owned()],
        };
        let ran = ToolResult { view: Some(view), ..ToolResult::to(&call, "done", false) };
        let shown = details(None, &call, Some(&ran)).text().to_owned();
        assert!(shown.ends_with("\n/project/.git-1"), "{shown}");
    }

    #[test]
    fn an_edit_shows_its_diff_and_what_was_said_to_a_denied_one() {
        let call = call("edit_file", json!({ "path": "a", "edits": [] }));
        let view = ToolView::Edited {
            path: "a".to_owned(),
            diff: "@@ -1 +1 @@\n-a\n+b\n".to_owned(),
            added: 1,
            removed: 1,
            created: false,
        };
        let done = ToolResult { view: Some(view), ..ToolResult::to(&call, "Edited.", false) };
        assert_eq!(details(None, &call, Some(&done)).text(), "@@ -1 +1 @@\n-a\n+b");
        let message = Some("not this one".to_owned());
        let verdict = Some(Verdict::Denied { message });
        let denied = ToolResult { verdict, ..ToolResult::to(&call, "no", true) };
        assert!(
            details(None, &call, Some(&denied))
                .text()
                .starts_with("Denied by you: not this one\n\n")
        );
    }
}
