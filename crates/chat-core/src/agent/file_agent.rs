//! Defines the agent that a user wrote in a file.

use std::sync::Arc;

use chat_definitions::AgentDefinition;
use chat_permission::Mode;

use super::code_assistant::{EDITOR_PANEL, place};
use super::template::fill;
use super::{Agent, PromptContext, Surroundings};
use crate::client::ToolChoice;
use crate::message::Options;
use crate::tool::Registry;

/// What every agent is told, whatever its prompt is. A prompt that names none of these places has them at its end.
const ALWAYS: [(&str, &str); 3] = [
    ("{skills}", "<skills>\n{skills}\n</skills>"),
    ("{environment}", "<environment>\n{environment}\n</environment>"),
    ("{mode}", "<mode>\n{mode}\n</mode>"),
];

/// An agent from a file. Its prompt is a template with the places of the code assistant's.
#[derive(Debug)]
pub(crate) struct FileAgent {
    definition: Arc<AgentDefinition>,
    template: String,
}

impl FileAgent {
    pub(crate) fn new(definition: &Arc<AgentDefinition>) -> Self {
        let mut template = definition.prompt.clone();
        for (place, block) in ALWAYS {
            if !definition.prompt.contains(place) {
                template.push_str("\n\n");
                template.push_str(block);
            }
        }
        Self { definition: Arc::clone(definition), template }
    }
}

impl Agent for FileAgent {
    fn name(&self) -> &str {
        &self.definition.name
    }

    fn title(&self) -> &str {
        &self.definition.name
    }

    fn description(&self) -> &str {
        self.definition.description.as_deref().unwrap_or_default()
    }

    fn panel(&self) -> Option<&'static str> {
        let has_tools = self.definition.tools.as_ref().is_none_or(|it| !it.patterns().is_empty());
        has_tools.then_some(EDITOR_PANEL)
    }

    fn ceiling(&self) -> Option<Mode> {
        self.definition.mode
    }

    fn model(&self) -> Option<&str> {
        self.definition.model.as_deref()
    }

    fn options(&self) -> Options {
        Options { temperature: self.definition.temperature, ..Options::default() }
    }

    fn system_prompt(&self, around: &Surroundings) -> Option<String> {
        Some(fill(&self.template, |name| place(name, around)))
    }

    fn context(&self, context: &PromptContext<'_>) -> Vec<String> {
        context.describe()
    }

    fn configure_tools(&self, registry: &Registry) -> (Registry, ToolChoice) {
        let tools = match &self.definition.tools {
            Some(patterns) => registry.only(|tool| patterns.allows(tool.info().name())),
            None => registry.clone(),
        };
        (tools, ToolChoice::Auto)
    }
}
