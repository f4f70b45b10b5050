//! The session's plan.

use std::sync::Arc;

use crate::agent::todos;
use crate::event::SessionEvent;
use crate::message::{Message, Todo};

/// The plan of the shown branch: as it was sent last, or as its messages have it.
#[derive(Debug, Default)]
pub(crate) struct Todos(Option<Vec<Todo>>);

impl Todos {
    /// The model made or changed it.
    pub(crate) fn set(&mut self, todos: Vec<Todo>) -> SessionEvent {
        self.0 = Some(todos.clone());
        SessionEvent::TodosChanged { todos }
    }

    /// Another branch is shown, which has its own.
    pub(crate) fn forget(&mut self) {
        self.0 = None;
    }

    /// The plan; `messages` are the last ones of the shown branch.
    pub(crate) fn with(&self, messages: &[Arc<Message>]) -> Vec<Todo> {
        self.0.clone().unwrap_or_else(|| todos(messages))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{Part, Role, TodoState, ToolCall, ToolCallId, ToolResult, ToolView};

    fn todo(text: &str) -> Todo {
        Todo { text: text.to_owned(), state: TodoState::Open }
    }

    #[test]
    fn the_last_plan_that_was_told_counts_until_another_branch_is_shown() {
        let view = Some(ToolView::Todos { todos: vec![todo("stored")] });
        let call = ToolCall::new(ToolCallId::new("c"), "todos", serde_json::json!({}));
        let result = ToolResult { view, ..ToolResult::to(&call, "", false) };
        let parts = vec![Part::ToolResult(result)];
        let messages = [Arc::new(Message { parts, ..Message::text(Role::Tool, None, "") })];
        let mut todos = Todos::default();
        assert_eq!(todos.with(&messages), [todo("stored")]);
        let SessionEvent::TodosChanged { todos: told } = todos.set(vec![todo("told")]) else {
            panic!("another event")
        };
        assert_eq!((&told, &todos.with(&messages)), (&vec![todo("told")], &told));
        todos.forget();
        assert_eq!(todos.with(&messages), [todo("stored")]);
    }
}
