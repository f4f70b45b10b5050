//! Defines what the tools for agents have in common.

use chat_core::message::{AgentReport, AgentState, ToolSpec, ToolView};
use chat_core::tool::{
    Audience, CallData, Denied, Label, Labels, MsgId, OutputForm, Tense, ToolContext, ToolFailure,
    ToolGroup, ToolIcon, ToolInfo, ToolKind, ToolOutput,
};
use chat_permission::{Request, Run};

/// What is the same for all of them.
pub fn info(
    spec: ToolSpec,
    title: MsgId,
    summary: MsgId,
    audience: Audience,
    label: fn(Tense, CallData<'_>) -> Label,
) -> ToolInfo {
    ToolInfo {
        spec,
        title: title.into(),
        summary: summary.into(),
        group: ToolGroup::Agents,
        kind: ToolKind::Delegates,
        icon: ToolIcon::Agent,
        labels: Labels::Own(label),
        target: |_| None,
        permissions: &[],
        needs_project: true,
        audience,
        output: OutputForm::Text,
        aliases: &[],
        hints: &[],
    }
}

/// What agents do or said, as the result of a call. One that did not end well is no success.
pub fn output(agents: Vec<AgentReport>) -> Result<ToolOutput, ToolFailure> {
    let texts: Vec<_> = agents.iter().map(AgentReport::for_model).collect();
    let text = texts.join("\n\n");
    let failed = !agents.is_empty() && agents.iter().all(|agent| !agent.state.is_well());
    let view = ToolView::Agents { agents };
    if failed {
        return Err(ToolFailure::new(text).view(view));
    }
    Ok(ToolOutput::text(text).view(view))
}

/// Checks that mode and rules do not forbid what git is to do in a worktree, which asks nobody.
///
/// # Errors
/// They do.
pub fn must_be_allowed(context: &ToolContext, command: &str) -> Result<(), ToolFailure> {
    let project = context.project()?;
    let folder = project.resolve(".").map_err(|error| ToolFailure::new(format!("{error}.")))?;
    let run = Run::new(project, command, folder, true, false);
    match context.host.refusal(&Request::Run(run)) {
        Some(why) => Err(Denied::ByRule { why, allowed_by: Vec::new() }.into()),
        None => Ok(()),
    }
}

/// Whether the agent that a call started works in the background, or waits for a task.
pub fn is_begun(call: &CallData<'_>) -> bool {
    let works = |state: AgentState| state == AgentState::Idle || state.is_at_work();
    matches!(call.view, Some(ToolView::Agents { agents }) if agents.len() == 1 && works(agents[0].state))
}

/// The name of the agent that a call is about: its real one, where that is known.
pub fn name(call: &CallData<'_>) -> String {
    match call.view {
        Some(ToolView::Agents { agents }) if agents.len() == 1 => agents[0].name.clone(),
        _ => call.text("name"),
    }
}
