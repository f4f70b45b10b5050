//! Prepares a chat for reading: its messages, with the tool calls and their results.

use std::sync::Arc;

use chat_core::message::{Message, Part, Role, ToolCall, ToolResult};
use chat_core::tool::Toolbox;
use chat_presentation::words::{self, Progress};

use super::numbers::{goes_on, numbers};
use crate::output::{Calls, result_line};

/// A message as it is shown.
pub(super) struct Entry<'a> {
    pub message: &'a Message,
    tools: &'a Toolbox,
    /// Whether it continues the entry above: tool results, and what the model says about them.
    pub goes_on: bool,
    /// What the user can call it by; none for what nobody said.
    pub number: Option<usize>,
    /// The calls that its results answer, in order; none if a call is unknown.
    calls: Vec<Option<ToolCall>>,
    /// Its own calls without a result, because the program ended before.
    unanswered: Vec<&'a ToolCall>,
}

impl<'a> Entry<'a> {
    /// All of these messages that are shown to the user.
    pub(super) fn all(messages: &'a [Arc<Message>], tools: &'a Toolbox) -> Vec<Self> {
        let mut calls = Calls::new(tools.clone());
        let mut entries = Vec::with_capacity(messages.len());
        for (at, (message, number)) in messages.iter().zip(numbers(messages)).enumerate() {
            calls.add_all(message);
            let above = at.checked_sub(1).map(|at| &*messages[at]);
            let answers = messages[at + 1..].iter().take_while(|next| next.role == Role::Tool);
            let answered: Vec<_> = answers.flat_map(|m| results(m)).map(|r| &r.call).collect();
            let unanswered = message.tool_calls().filter(|call| !answered.contains(&&call.id));
            let entry = Self {
                message,
                tools,
                goes_on: goes_on(message, above),
                number,
                calls: results(message).map(|result| calls.get(&result.call).cloned()).collect(),
                unanswered: unanswered.collect(),
            };
            if message.role != Role::System {
                entries.push(entry);
            }
        }
        entries
    }

    /// The results in this message, each with its line.
    pub(super) fn results(&self) -> impl Iterator<Item = (String, &'a ToolResult)> {
        let results = results(self.message).zip(&self.calls);
        results.map(|(result, call)| (result_line(self.tools, call.as_ref(), result), result))
    }

    /// The lines of the calls without a result.
    pub(super) fn unanswered(&self) -> impl Iterator<Item = String> {
        self.unanswered.iter().map(|call| words::tool_line(self.tools, call, Progress::Lost))
    }
}

fn results(message: &Message) -> impl Iterator<Item = &ToolResult> {
    message.parts.iter().filter_map(|part| match part {
        Part::ToolResult(result) => Some(result),
        _ => None,
    })
}
