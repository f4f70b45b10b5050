//! Defines the default agent: what the user says goes to the model. In a project it has tools.

use super::{Agent, DEFAULT, PromptContext, Surroundings};
use crate::client::ToolChoice;
use crate::tool::Registry;

/// Talks with a model, without instructions. In a project the model is told where it is, and has
/// tools.
#[derive(Debug)]
pub struct JustAsk;

impl Agent for JustAsk {
    fn name(&self) -> &'static str {
        DEFAULT
    }

    fn title(&self) -> &'static str {
        "Just Ask"
    }

    fn description(&self) -> &'static str {
        "Chats with the model"
    }

    fn system_prompt(&self, around: &Surroundings) -> Option<String> {
        let project = around.project.as_ref().filter(|_| !around.tools.is_empty())?;
        let mut more = String::new();
        for part in [around.skills(), around.mode()].iter().filter(|part| !part.is_empty()) {
            more.push_str("\n\n");
            more.push_str(part.trim_end());
        }
        Some(format!(
            "You work in the folder {} using tools; paths are relative to it. Look at the files before \
             you answer questions about them, and say what you did.{more}",
            project.display()
        ))
    }

    fn context(&self, context: &PromptContext<'_>) -> Vec<String> {
        context.describe()
    }

    fn configure_tools(&self, registry: &Registry) -> (Registry, ToolChoice) {
        (registry.clone(), ToolChoice::Auto)
    }
}
