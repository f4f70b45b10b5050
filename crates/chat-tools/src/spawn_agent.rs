//! `spawn_agent`: starts an agent and waits for its report.

use async_trait::async_trait;
use chat_core::tool::{
    AgentTask, Audience, CallData, Hint, HintText, Label, N_, Tense, Tool, ToolContext,
    ToolFailure, ToolInfo, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::agents;
use crate::spec::{arguments, spec};

/// When to start one.
const HINT: &str = "Use spawn_agent for searches that read much, and for parts of a task that do not depend on each \
                    other, several in one reply. Do small things yourself.";

/// Starts an agent and waits for its report.
pub struct SpawnAgent(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// What to do, with all it must know: it sees nothing of your conversation
    #[serde(default)]
    task: Option<String>,
    #[serde(default)]
    name: Option<String>,
    /// Folder in the project it is about
    #[serde(default)]
    path: Option<String>,
    /// Kind of agent
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    model: Option<String>,
    /// Do not wait: its report comes as a message
    #[serde(default)]
    background: bool,
}

impl Default for SpawnAgent {
    fn default() -> Self {
        let spec = spec::<Arguments>(
            "spawn_agent",
            "Start an agent for a part of the work that stands by itself, and wait for its report. It has your rights, not your \
             conversation. Without a task it waits for one.",
        );
        let (title, summary) =
            (N_("Start Agents"), N_("Has an agent of its own do a part of the work"));
        let info = agents::info(spec, title, summary, Audience::Leaders, label);
        Self(ToolInfo { hints: &[Hint { order: 85, tells: HintText::Line(HINT) }], ..info })
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let sentence = match tense {
        Tense::ToDo => N_("Start agent {what}"),
        Tense::Doing => N_("Agent {what} is working"),
        Tense::Done if agents::is_begun(&call) => N_("Started agent {what}"),
        Tense::Done => N_("Agent {what} has worked"),
        Tense::Failed => N_("Agent {what} wasn’t started"),
    };
    Label::what(sentence, agents::name(&call))
}

#[async_trait]
impl Tool for SpawnAgent {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { task, name, path, agent, model, background } = arguments(given)?;
        let path = path.map(Into::into);
        let new = AgentTask { task, name, path, agent, model, background, worktree: None };
        let report = context.team()?.start(new, &context.cancel).await?;
        agents::output(vec![report])
    }
}
