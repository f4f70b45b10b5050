//! `update_todos`: updates the session's to-do list.

use async_trait::async_trait;
use chat_core::message::{Todo, TodoState, ToolView};
use chat_core::tool::{
    Audience, CallData, Hint, HintText, Label, Labels, N_, OutputForm, Tense, Tool, ToolContext,
    ToolFailure, ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::aliases;
use crate::spec::{arguments, counted, spec};

/// The maximum number of steps, and of characters in a step: nobody reads more.
const STEPS: usize = 100;
const CHARACTERS: usize = 500;

/// Updates the to-do list.
pub struct UpdateTodos(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// All steps, in order
    todos: Vec<Step>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Step {
    text: String,
    state: State,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum State {
    Open,
    Doing,
    Done,
}

impl Default for UpdateTodos {
    fn default() -> Self {
        Self(info())
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>(
            "update_todos",
            "Replace your plan for work with several steps. The user can see it; keep it up to date.",
        ),
        title: N_("Update Plan").into(),
        summary: N_("Keeps a list in the chat of what’s done and what’s left").into(),
        group: ToolGroup::Planning,
        kind: ToolKind::Plans,
        icon: ToolIcon::Plan,
        labels: Labels::Own(label),
        target: |_| None,
        permissions: &[],
        needs_project: false,
        audience: Audience::Everyone,
        output: OutputForm::Text,
        aliases: aliases::TODOS,
        hints: &[Hint {
            order: 70,
            tells: HintText::Line("Keep a plan with update_todos when the work has several steps."),
        }],
    }
}

fn label(tense: Tense, _: CallData<'_>) -> Label {
    Label::new(match tense {
        Tense::ToDo => N_("Update the plan"),
        Tense::Doing => N_("Updating the plan"),
        Tense::Done => N_("Updated the plan"),
        Tense::Failed => N_("Couldn’t update the plan"),
    })
}

#[async_trait]
impl Tool for UpdateTodos {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { todos } = arguments(given)?;
        if todos.len() > STEPS {
            return Err(ToolFailure::new(format!("A plan can have at most {STEPS} steps.")));
        }
        if todos
            .iter()
            .any(|step| step.text.trim().is_empty() || step.text.chars().count() > CHARACTERS)
        {
            return Err(ToolFailure::new(format!(
                "Each step needs a text of at most {CHARACTERS} characters."
            )));
        }
        let todo = |Step { text, state }| Todo {
            text,
            state: match state {
                State::Open => TodoState::Open,
                State::Doing => TodoState::Doing,
                State::Done => TodoState::Done,
            },
        };
        let todos: Vec<Todo> = todos.into_iter().map(todo).collect();
        let done = todos.iter().filter(|todo| todo.state == TodoState::Done).count();
        let text = format!("Plan updated: {done} of {} done", counted(todos.len() as u64, "step"));
        context.host.on_todos(todos.clone());
        Ok(ToolOutput::text(text).view(ToolView::Todos { todos }))
    }
}
