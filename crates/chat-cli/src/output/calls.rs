//! The calls of a conversation, for the results that come after them.

use std::collections::HashMap;

use chat_core::message::{Message, ToolCall, ToolCallId, ToolResult};
use chat_edge::words;

/// The latest call of each id. Servers begin to count anew with each reply, so that an id alone
/// names no call; but results follow their calls, and come before the next ones.
#[derive(Clone, Debug, Default)]
pub struct Calls(HashMap<ToolCallId, ToolCall>);

impl Calls {
    /// A call was made.
    pub fn add(&mut self, call: &ToolCall) {
        self.0.insert(call.id.clone(), call.clone());
    }

    /// The calls of a message were made.
    pub fn add_all(&mut self, message: &Message) {
        message.tool_calls().for_each(|call| self.add(call));
    }

    /// The call that a result with this id answers.
    pub fn get(&self, id: &ToolCallId) -> Option<&ToolCall> {
        self.0.get(id)
    }
}

/// What came of a call, in a line for people; why it failed, too.
pub fn result_line(call: Option<&ToolCall>, result: &ToolResult) -> String {
    let line = match call {
        Some(call) => words::tool_line(call, Some(result)),
        None => words::one_line(&result.name),
    };
    match words::tool_reason(result) {
        Some(reason) => format!("{line}: {reason}"),
        None => line,
    }
}
