//! Writes a chat as a Markdown document, with thinking and attached files.

use std::fmt::Write as _;

use chat_core::message::{FromAgent, Part, ToolView};
use chat_presentation::words;

use super::entries::Entry;
use super::numbers::joined;
use super::{Chat, plain};
use crate::say;

/// The whole chat.
pub(super) fn write(chat: &Chat) -> String {
    // Writing into a string cannot fail.
    let mut out = format!("# {}\n", chat.session.title.replace('\n', " "));
    let messages = joined(&chat.messages);
    for entry in Entry::all(&messages, &chat.tools) {
        if !entry.goes_on {
            let who = words::role(entry.message.role);
            let _ = match &entry.message.model {
                Some(model) => write!(out, "\n## {who} ({})\n", say::model(model)),
                None => write!(out, "\n## {who}\n"),
            };
        }
        body(&entry, &mut out);
    }
    out
}

fn body(entry: &Entry, out: &mut String) {
    for part in &entry.message.parts {
        match part {
            Part::Text(text) => block(out, text),
            // Hidden thinking has no text.
            Part::Thinking { text, .. } if text.is_empty() => {}
            Part::Thinking { text, took, .. } => {
                let words =
                    took.map_or_else(say::thoughts, |took| say::thought_for(&words::seconds(took)));
                block(out, &folded(&words, text.trim()));
            }
            Part::File { name, text } => {
                block(out, &format!("{}\n\n{}", say::attached(name), fenced("", text)));
            }
            Part::Image { .. } => block(out, &say::attached(&say::picture())),
            Part::FromAgent(agent) => {
                block(out, &format!("*{}*", words::from_agent(agent)));
                if let FromAgent::Report(report) = agent {
                    block(out, &report.text);
                }
            }
            Part::Command(command) => {
                let text = fenced("", command.text.trim_end());
                block(out, &folded(&format!("/{}", command.name), &text));
            }
            // These are shown in the lines below.
            Part::ToolCall(_) | Part::ToolResult(_) | Part::Context { .. } => {}
            Part::Compaction(short) => {
                let words = words::compaction(short.summary.is_some(), short.undone);
                block(out, &format!("*{words}*"));
            }
        }
    }
    for (line, result) in entry.results() {
        let inside = match &result.view {
            Some(ToolView::Edited { diff, .. }) => fenced("diff", diff),
            _ => fenced("", &result.text),
        };
        block(out, &folded(&line, &inside));
    }
    entry.unanswered().for_each(|line| block(out, &folded(&line, "")));
    for remark in plain::remarks(entry.message) {
        block(out, &format!("*{remark}*"));
    }
}

fn block(out: &mut String, text: &str) {
    let text = text.trim_matches('\n');
    if !text.is_empty() {
        let _ = write!(out, "\n{text}\n");
    }
}

/// A text below a summary line, folded.
fn folded(line: &str, text: &str) -> String {
    let line = line.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    format!("<details>\n<summary>{line}</summary>\n\n{text}\n\n</details>")
}

/// A text in a fence that its content cannot close.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::fenced;

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        let text = fenced("", "````\ncode\n````\n");
        assert_eq!(text.matches("`````\n").count(), 1, "{text}");
        assert!(text.ends_with("\n`````"), "{text}");
        assert!(fenced("diff", "plain").contains("```diff\nplain\n```"));
    }
}
