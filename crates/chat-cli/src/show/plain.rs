//! Writes a chat as text to read in a terminal.

use std::fmt::Write as _;

use chat_core::message::{FromAgent, Message, Part};
use chat_presentation::words;
use jiff::tz::TimeZone;

use super::Chat;
use super::entries::Entry;
use super::numbers::joined;
use crate::say;
use crate::terminal::Terminal;

/// The chat, message by message.
pub(super) fn write(chat: &Chat, terminal: Terminal) -> String {
    // Writing into a string cannot fail.
    let bold = |text: &str| terminal.bold(&terminal.clean_output(text));
    let mut out = format!("{}\n", bold(&chat.session.title));
    let messages = joined(&chat.messages);
    for entry in Entry::all(&messages, &chat.tools) {
        let body = body(&entry);
        let body = terminal.clean_output(&body);
        let _ = if entry.goes_on {
            write!(out, "{body}")
        } else {
            write!(out, "\n{}\n{body}", bold(&heading(&entry)))
        };
    }
    out
}

fn heading(entry: &Entry) -> String {
    let message = entry.message;
    let time = message.time.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string();
    let mut who = words::role(message.role);
    if let Some(number) = entry.number {
        who = format!("#{number} · {who}");
    }
    match &message.model {
        Some(model) => format!("── {who} · {} · {time}", say::model(model)),
        None => format!("── {who} · {time}"),
    }
}

fn body(entry: &Entry) -> String {
    let mut out = String::new();
    for part in &entry.message.parts {
        match part {
            Part::Text(text) => line(&mut out, text),
            // Hidden thinking has no text.
            Part::Thinking { text, .. } if text.is_empty() => {}
            Part::Thinking { took, .. } => {
                let words =
                    took.map_or_else(say::thoughts, |took| say::thought_for(&words::seconds(took)));
                line(&mut out, &format!("({words})"));
            }
            Part::File { name, .. } => line(&mut out, &say::attached(name)),
            Part::Image { .. } => line(&mut out, &say::attached(&say::picture())),
            Part::FromAgent(agent) => {
                line(&mut out, &words::from_agent(agent));
                if let FromAgent::Report(report) = agent {
                    line(&mut out, &report.text);
                }
            }
            // Calls and results are shown in the lines below, and a message names its command.
            Part::ToolCall(_) | Part::ToolResult(_) | Part::Context { .. } | Part::Command(_) => {}
            Part::Compaction(short) => {
                line(&mut out, &words::compaction(short.summary.is_some(), short.undone));
            }
        }
    }
    let called = entry.results().map(|(words, _)| words).chain(entry.unanswered());
    called.for_each(|words| line(&mut out, &format!("• {words}")));
    for remark in remarks(entry.message) {
        line(&mut out, &format!("[{remark}]"));
    }
    out
}

/// Remarks about how a message ended.
pub(super) fn remarks(message: &Message) -> Vec<String> {
    let ending = match message.ended {
        None => Some(say::still_writing()),
        Some(ending) => words::ending(ending),
    };
    ending.into_iter().chain(message.error.as_ref().map(words::sentence)).collect()
}

fn line(out: &mut String, text: &str) {
    let text = text.trim_end_matches('\n');
    if !text.is_empty() {
        out.push_str(text);
        out.push('\n');
    }
}
