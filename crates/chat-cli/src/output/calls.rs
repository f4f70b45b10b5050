//! Remembers the calls of a conversation, for the results that come after them.

use std::collections::HashMap;

use chat_core::message::{Message, ToolCall, ToolCallId, ToolResult, ToolView};
use chat_core::tool::Toolbox;
use chat_presentation::words::{self, Progress};

use crate::say;

/// How many of the quarantined files a line names.
const NAMED: usize = 5;

/// The latest call of each id. Servers begin to count again with each reply, so that an id alone
/// names no call; but results follow their calls, and come before the next ones.
#[derive(Clone, Debug)]
pub struct Calls {
    calls: HashMap<ToolCallId, ToolCall>,
    tools: Toolbox,
}

impl Calls {
    /// None yet, of tools among these.
    pub fn new(tools: Toolbox) -> Self {
        Self { calls: HashMap::new(), tools }
    }

    /// What is known of the tools.
    pub fn tools(&self) -> &Toolbox {
        &self.tools
    }

    /// A call was made.
    pub fn add(&mut self, call: &ToolCall) {
        self.calls.insert(call.id.clone(), call.clone());
    }

    /// The calls of a message were made.
    pub fn add_all(&mut self, message: &Message) {
        message.tool_calls().for_each(|call| self.add(call));
    }

    /// The call that a result with this id answers.
    pub fn get(&self, id: &ToolCallId) -> Option<&ToolCall> {
        self.calls.get(id)
    }
}

/// What came of a call, in a line for people; why it failed, too.
pub fn result_line(tools: &Toolbox, call: Option<&ToolCall>, result: &ToolResult) -> String {
    let line = match call {
        Some(call) => words::tool_line(tools, call, Progress::Ended(result)),
        None => words::one_line(&result.name),
    };
    if !result.needs.is_empty() {
        return format!("{line}: {}", say::needs(&result.needs));
    }
    match words::tool_reason(result).or_else(|| aside(result)) {
        Some(reason) => format!("{line}: {reason}"),
        None => line,
    }
}

/// Where what a command made and may not stay lies now.
fn aside(result: &ToolResult) -> Option<String> {
    let Some(ToolView::Ran { quarantined, .. }) = &result.view else { return None };
    let mut names: Vec<String> =
        quarantined.iter().take(NAMED).map(|path| words::one_line(path)).collect();
    if quarantined.len() > NAMED {
        names.push("…".to_owned());
    }
    (!names.is_empty()).then(|| names.join(", "))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use chat_core::tool::Registry;

    use super::*;

    fn ours() -> Toolbox {
        chat_tools::all().into_iter().collect::<Registry>().toolbox()
    }

    #[test]
    fn every_tool_has_lines_of_its_own() {
        for tool in ours().all() {
            let (id, name) = (ToolCallId::new("1"), tool.name().to_owned());
            let call = ToolCall::new(id, name, json!({}));
            let (done, failed) =
                (ToolResult::to(&call, "", false), ToolResult::to(&call, "no", true));
            let ended = [&done, &failed].map(Progress::Ended);
            for progress in [Progress::Queued, Progress::Running].into_iter().chain(ended) {
                let line = words::tool_line(&ours(), &call, progress);
                let unknown = words::tool_line(&Toolbox::default(), &call, progress);
                assert_ne!(line, unknown, "as of a tool that nobody knows");
            }
        }
    }

    #[test]
    fn what_was_quarantined_is_named() {
        let id = ToolCallId::new("1");
        let arguments = json!({ "command": "git init" });
        let call = ToolCall::new(id, "run_command", arguments);
        let line = |count: usize| {
            let view = ToolView::Ran {
                command: "git init".to_owned(),
                exit: None,
                output: None,
                sandboxed: true,
                quarantined: (1..=count).map(|n| format!("/p\n/config.{n}")).collect(),
            };
            let result = ToolResult { view: Some(view), ..ToolResult::to(&call, "done", false) };
            result_line(&ours(), Some(&call), &result)
        };
        assert!(!line(0).contains("quarantined"));
        assert!(
            line(2).ends_with("2 files quarantined: /p⏎/config.1, /p⏎/config.2"),
            "{}",
            line(2)
        );
        assert!(line(6).ends_with("/p⏎/config.5, …"), "{}", line(6));
    }
}
