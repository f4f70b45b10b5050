//! A chat as a Markdown document, with thinking and attached files.

use std::fmt::Write as _;

use chat_core::message::{Message, Part, Role};
use chat_edge::words;

use super::{Chat, plain};
use crate::say;

/// The whole chat.
pub(super) fn write(chat: &Chat) -> String {
    // Writing into a string cannot fail.
    let mut out = format!("# {}\n", chat.session.title.replace('\n', " "));
    for message in chat.messages.iter().filter(|m| m.role != Role::System) {
        let who = words::role(message.role);
        let _ = match &message.model {
            Some(model) => write!(out, "\n## {who} ({model})\n"),
            None => write!(out, "\n## {who}\n"),
        };
        body(message, &mut out);
    }
    out
}

fn body(message: &Message, out: &mut String) {
    for part in &message.parts {
        match part {
            Part::Text(text) => block(out, text),
            Part::Thinking { text, took } => {
                let words =
                    took.map_or_else(say::thoughts, |took| say::thought_for(&words::seconds(took)));
                block(
                    out,
                    &format!(
                        "<details>\n<summary>{words}</summary>\n\n{}\n\n</details>",
                        text.trim()
                    ),
                );
            }
            Part::File { name, text } => block(out, &fenced(name, text)),
            Part::Image { .. } => block(out, &say::attached(&say::picture())),
            Part::ToolCall(call) => block(out, &fenced(&call.name, &call.arguments.to_string())),
            Part::ToolResult(result) => block(out, &fenced(&result.name, &result.text)),
            Part::Context { .. } => {}
        }
    }
    for remark in plain::remarks(message) {
        block(out, &format!("*{remark}*"));
    }
}

fn block(out: &mut String, text: &str) {
    let text = text.trim_matches('\n');
    if !text.is_empty() {
        let _ = write!(out, "\n{text}\n");
    }
}

/// A text in a fence that nothing in it can close.
fn fenced(name: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{}\n\n{fence}\n{}\n{fence}", say::attached(name), text.trim_end_matches('\n'))
}

#[cfg(test)]
mod tests {
    use super::fenced;

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        let text = fenced("a.md", "````\ncode\n````\n");
        assert_eq!(text.matches("`````\n").count(), 1, "{text}");
        assert!(text.ends_with("\n`````"), "{text}");
        assert!(fenced("a", "plain").contains("\n```\nplain\n```"));
    }
}
