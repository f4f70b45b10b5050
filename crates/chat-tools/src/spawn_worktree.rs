//! `spawn_worktree`: starts an agent in a worktree of its own and waits for its report.

use async_trait::async_trait;
use chat_core::tool::{
    AgentTask, Audience, CallData, Label, N_, NewWorktree, Tense, Tool, ToolContext, ToolFailure,
    ToolInfo, ToolOutput,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::agents;
use crate::spec::{arguments, spec};

/// What follows the agent's report.
const NEXT: &str = "Its changes are on a branch of its own: use finish_worktree.";

/// Starts an agent in a worktree of its own.
pub struct SpawnWorktree(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    task: String,
    #[serde(default)]
    name: Option<String>,
    /// Name for its branch
    #[serde(default)]
    branch: Option<String>,
    /// Branch or commit to begin with
    #[serde(default)]
    base: Option<String>,
    #[serde(default)]
    agent: Option<String>,
    #[serde(default)]
    model: Option<String>,
    #[serde(default)]
    background: bool,
}

impl Default for SpawnWorktree {
    fn default() -> Self {
        let spec = spec::<Arguments>(
            "spawn_worktree",
            "Like spawn_agent, but it works on a copy of the last commit, in a git worktree.",
        );
        let (title, summary) =
            (N_("Start Agents in Worktrees"), N_("Has an agent work on a branch of its own"));
        Self(agents::info(spec, title, summary, Audience::Leaders, label))
    }
}

/// A branch that the agent's commands can commit to. Git replaces the file of a branch, so its folder
/// must be writable, and in a sandbox that of all branches is not.
fn own_branch(branch: String) -> String {
    if branch.contains('/') { branch } else { format!("natter/{branch}") }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let sentence = match tense {
        Tense::ToDo => N_("Start agent {what} in a worktree"),
        Tense::Doing => N_("Agent {what} is working in a worktree"),
        Tense::Done if agents::is_begun(&call) => N_("Started agent {what} in a worktree"),
        Tense::Done => N_("Agent {what} has worked in a worktree"),
        Tense::Failed => N_("Agent {what} wasn’t started in a worktree"),
    };
    Label::what(sentence, agents::name(&call))
}

#[async_trait]
impl Tool for SpawnWorktree {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { task, name, branch, base, agent, model, background } = arguments(given)?;
        agents::must_be_allowed(&context, "git worktree add")?;
        let branch = branch.map(own_branch);
        let worktree = Some(NewWorktree { branch, base, with_changes: false });
        let new =
            AgentTask { task: Some(task), name, path: None, worktree, agent, model, background };
        let report = context.team()?.start(new, &context.cancel).await?;
        match agents::output(vec![report]) {
            Ok(output) => Ok(ToolOutput { text: format!("{}\n\n{NEXT}", output.text), ..output }),
            Err(failure) => {
                Err(ToolFailure { text: format!("{}\n\n{NEXT}", failure.text), ..failure })
            }
        }
    }
}
