//! The default agent: what the person says goes to the model. In a project it has tools.

use std::fmt::Write;
use std::sync::Arc;

use super::{Agent, AgentHandler, DEFAULT, Surroundings, Work};
use crate::client::ToolChoice;
use crate::message::Context;
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
        "Talks with the model"
    }

    fn system_prompt(&self, around: &Surroundings) -> Option<String> {
        let project = around.project.as_ref().filter(|_| !around.tools.is_empty())?;
        Some(format!(
            "You work in the folder {} by tools; paths are relative to it. Look before you answer \
             what the files say, and say what you did.",
            project.display()
        ))
    }

    fn context(&self, context: &Context) -> Option<String> {
        if context.open_files.is_empty() {
            return None;
        }
        let mut text = String::from("The person has these files open:");
        for file in &context.open_files {
            let _ = write!(text, "\n- {}", file.path.display());
            if let Some(line) = file.line {
                let _ = write!(text, ", line {line}");
            }
            if let Some(selection) = &file.selection {
                let _ = write!(text, ", with this selected:\n{selection}");
            }
        }
        Some(text)
    }

    fn configure_tools(&self, registry: &Registry) -> (Registry, ToolChoice) {
        (registry.clone(), ToolChoice::Auto)
    }

    fn create_handler(self: Arc<Self>, work: Work) -> AgentHandler {
        AgentHandler::new(self, work)
    }
}
