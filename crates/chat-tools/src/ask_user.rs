//! `ask_user`: a question to the person.

use async_trait::async_trait;
use chat_core::message::{Question, ToolSpec, ToolView};
use chat_core::tool::{Tool, ToolContext, ToolFailure, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::spec::{arguments, spec};

/// Choices that a question has at most.
const CHOICES: usize = 10;

/// Asks the person.
pub struct AskUser(ToolSpec);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    question: String,
    /// Short answers to choose from; the user can always give another
    #[serde(default)]
    choices: Option<Vec<String>>,
}

impl Default for AskUser {
    fn default() -> Self {
        Self(spec::<Arguments>(
            "ask_user",
            "Ask the user a question and wait for the answer, when you cannot go on without it.",
        ))
    }
}

#[async_trait]
impl Tool for AskUser {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn reads_only(&self) -> bool {
        false
    }

    /// Asking changes nothing.
    fn in_plan_mode(&self) -> bool {
        true
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { question, choices } = arguments(given)?;
        let choices = choices.unwrap_or_default();
        if question.trim().is_empty() {
            return Err(ToolFailure::new("The question is empty."));
        }
        if choices.len() > CHOICES || choices.iter().any(|choice| choice.trim().is_empty()) {
            return Err(ToolFailure::new(format!(
                "Give at most {CHOICES} choices, none of them empty."
            )));
        }
        let asked = Question { text: question.clone(), choices };
        let answer = context.ask(asked).await?;
        Ok(ToolOutput::text(format!("The user answers: {answer}"))
            .view(ToolView::Asked { question, answer }))
    }
}
