//! Defines what an agent tells the one that it works for, and how models read it.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use super::{Ending, Fid, Message, MessageId, Part, ToolResult, ToolView, Usage};
use crate::error::{Error, Kind};

/// What an agent's work has come to. Its parent keeps it with the call, so that it can be read when the
/// agent is gone.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AgentReport {
    /// The agent's session.
    pub session: Fid,
    /// What it is called in its tree.
    pub name: String,
    /// What kind of agent it is, by name.
    pub agent: String,
    /// What it does, or how its work ended.
    pub state: AgentState,
    /// What it said last, or had said until it ended.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Why it failed, where it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Error>,
    /// What its last turn cost.
    #[serde(default)]
    pub usage: Usage,
    /// The ids of the reports that this is, which nothing else tells then. None for what it only does, or what was
    /// told before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ids: Vec<MessageId>,
}

/// What an agent does, or how its work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentState {
    /// It waits for its first task.
    Idle,
    /// It works.
    Working,
    /// It waits for the user.
    NeedsUser,
    /// It has done what it was asked.
    Done,
    /// Something went wrong.
    Failed,
    /// The user or another agent stopped it.
    Stopped,
    /// A limit ended it.
    Limit,
    /// The program or the connection ended before it did.
    Interrupted,
}

impl AgentState {
    /// How the work of an agent ended whose last reply ended like this.
    pub(crate) fn of_reply(ended: Option<Ending>, error: Option<&Error>) -> Self {
        match ended {
            Some(Ending::Complete) => Self::Done,
            Some(Ending::Length) => Self::Limit,
            Some(Ending::Stopped) => Self::Stopped,
            Some(Ending::Interrupted) | None => Self::Interrupted,
            Some(Ending::Failed) => match error.map(|error| &error.kind) {
                Some(
                    Kind::RoundLimit { .. } | Kind::RepeatedCalls { .. } | Kind::AgentBudget { .. },
                ) => Self::Limit,
                _ => Self::Failed,
            },
        }
    }

    /// Whether its work has ended well, or none was given to it.
    pub fn is_well(self) -> bool {
        !matches!(self, Self::Failed | Self::Stopped | Self::Limit | Self::Interrupted)
    }

    /// Whether its work has not ended yet.
    pub fn is_at_work(self) -> bool {
        matches!(self, Self::Working | Self::NeedsUser)
    }

    /// The word for models.
    fn for_model(self) -> &'static str {
        match self {
            Self::Idle => "has no task yet",
            Self::Working => "is still working",
            Self::NeedsUser => "is waiting for the user",
            Self::Done => "is done",
            Self::Failed => "failed",
            Self::Stopped => "was stopped before it was done",
            Self::Limit => "reached a limit before it was done",
            Self::Interrupted => "was interrupted before it was done",
        }
    }
}

impl Message {
    /// The ids of the reports that results of calls in it carry.
    pub(crate) fn carried_reports(&self) -> impl Iterator<Item = MessageId> {
        let agents = self.parts.iter().filter_map(|part| match part {
            Part::ToolResult(ToolResult { view: Some(ToolView::Agents { agents }), .. }) => {
                Some(agents)
            }
            _ => None,
        });
        agents.flatten().flat_map(|report| report.ids.iter().copied())
    }
}

impl AgentReport {
    /// The text for the model that it reports to, in English.
    pub fn for_model(&self) -> String {
        let mut out = format!("Agent “{}” {}", self.name, self.state.for_model());
        if let Some(error) = &self.error {
            let _ = write!(out, ". {}", error.for_model());
        }
        match (self.text.is_empty(), self.error.is_some()) {
            (true, true) => {}
            (true, false) => out.push('.'),
            (false, false) if self.state.is_well() => {
                let _ = write!(out, ":\n{}", self.text);
            }
            (false, has_error) => {
                let end = if has_error { "" } else { "." };
                let _ = write!(out, "{end} What it had said until then:\n{}", self.text);
            }
        }
        out
    }

    /// The same in a list of all agents, where it may be closed.
    pub fn for_list(&self, is_closed: bool) -> String {
        match (is_closed, self.state.is_well()) {
            (false, _) => self.for_model(),
            (true, true) => format!("Agent “{}” is closed.", self.name),
            (true, false) => {
                format!("Agent “{}” is closed. It {}.", self.name, self.state.for_model())
            }
        }
    }
}

/// Who speaks in a message in place of the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FromAgent {
    /// An agent, with the text of the message.
    Message {
        /// What it is called in its tree.
        name: String,
    },
    /// An agent whose work in the background has ended.
    Report(Box<AgentReport>),
}

impl FromAgent {
    /// The text for the model that gets the message, in English.
    pub fn for_model(&self) -> String {
        match self {
            Self::Message { name } => format!("The agent “{name}” says, not the user:"),
            Self::Report(report) => report.for_model(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_is_no_success_is_said_to_be_none() {
        let report = |state, text: &str, error| AgentReport {
            session: Fid::default(),
            name: "explorer".to_owned(),
            agent: "just-ask".to_owned(),
            state,
            text: text.to_owned(),
            error,
            usage: Usage::default(),
            ids: Vec::new(),
        };
        let done = report(AgentState::Done, "It is in a.rs.", None).for_model();
        assert_eq!(done, "Agent “explorer” is done:\nIt is in a.rs.");
        let failed = report(AgentState::Failed, "I looked at", Some(Kind::Stalled.into()));
        let failed = failed.for_model();
        assert_eq!(
            failed,
            "Agent “explorer” failed. The server stopped responding in the middle of the reply. What it \
             had said until then:\nI looked at"
        );
        let silent = report(AgentState::Failed, "", Some(Kind::EmptyReply.into())).for_model();
        assert_eq!(silent, "Agent “explorer” failed. The reply was empty.");
        let stopped = report(AgentState::Stopped, "", None);
        assert_eq!(stopped.for_model(), "Agent “explorer” was stopped before it was done.");
        assert_eq!(stopped.for_list(false), stopped.for_model());
        let closed = "Agent “explorer” is closed. It was stopped before it was done.";
        assert_eq!(stopped.for_list(true), closed);
        let done = report(AgentState::Done, "", None).for_list(true);
        assert_eq!(done, "Agent “explorer” is closed.");
    }
}
