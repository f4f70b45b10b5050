//! `ask_user`: asks the user a question.

use async_trait::async_trait;
use chat_core::message::{Question, ToolView};
use chat_core::tool::{
    Audience, CallData, Hint, HintText, Label, Labels, N_, OutputForm, Tense, Tool, ToolContext,
    ToolFailure, ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::spec::{arguments, spec};

/// The maximum number of choices of a question.
const CHOICES: usize = 10;

/// Asks the user.
pub struct AskUser(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    question: String,
    /// Short answers to choose from; the user can always give a different one
    #[serde(default)]
    choices: Option<Vec<String>>,
}

impl Default for AskUser {
    fn default() -> Self {
        Self(info())
    }
}

fn info() -> ToolInfo {
    ToolInfo {
        spec: spec::<Arguments>(
            "ask_user",
            "Ask the user a question and wait for the answer, if you cannot continue without it.",
        ),
        title: N_("Ask Questions").into(),
        summary: N_("Asks you a question with answers to choose from").into(),
        group: ToolGroup::Planning,
        kind: ToolKind::Asks,
        icon: ToolIcon::Question,
        labels: Labels::Own(label),
        target: |_| None,
        permissions: &[],
        needs_project: false,
        audience: Audience::Everyone,
        output: OutputForm::Text,
        aliases: &[],
        hints: &[Hint { order: 80, tells: HintText::Line("Use ask_user to ask the user.") }],
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let what = match call.view {
        Some(ToolView::Asked { question, .. }) => question.clone(),
        _ => call.text("question"),
    };
    let sentence = match tense {
        Tense::ToDo => N_("Ask you: {what}"),
        Tense::Doing => N_("Asking you: {what}"),
        Tense::Done => N_("Asked you: {what}"),
        Tense::Failed => N_("Couldn’t ask you: {what}"),
    };
    Label::what(sentence, what)
}

#[async_trait]
impl Tool for AskUser {
    fn info(&self) -> &ToolInfo {
        &self.0
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
        Ok(ToolOutput::text(format!("The user answered: {answer}"))
            .view(ToolView::Asked { question, answer }))
    }
}
