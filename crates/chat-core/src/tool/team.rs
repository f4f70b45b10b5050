//! Defines what the tools of an agent may do with the other agents of its tree.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::{AgentWorktrees, NewWorktree, ToolFailure};
use crate::error::{Error, NoAgent};
use crate::message::AgentReport;

/// What the session at the top of a tree is called among its agents.
pub const MAIN: &str = "main";

/// Who may be offered a tool for agents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// Every session: the tool has nothing to do with agents.
    Everyone,
    /// Sessions that may start agents.
    Leaders,
    /// These, and agents.
    Members,
}

/// The other agents of a session's tree; implemented above, by the Manager. A session sees only its own
/// tree.
///
/// Whatever waits ends with its token: who works for the call alone is stopped then, and what it had
/// said comes back as stopped. Dropping the future stops it too.
#[async_trait]
pub trait Team: Send + Sync {
    /// Starts an agent, and waits until it is done, unless it has no task or works in the background.
    async fn start(
        &self,
        new: AgentTask,
        cancel: &CancellationToken,
    ) -> Result<AgentReport, TeamError>;

    /// Asks an agent, and waits until it has answered. One that was closed is opened again.
    async fn ask(
        &self,
        name: &str,
        message: &str,
        cancel: &CancellationToken,
    ) -> Result<AgentReport, TeamError>;

    /// Sends an agent a message without waiting. Where it `interrupts`, what it does now is stopped.
    async fn tell(
        &self,
        name: &str,
        message: &str,
        interrupt: bool,
    ) -> Result<AgentReport, TeamError>;

    /// Waits until these agents are done, or all that work for the session; at most so long. What they
    /// do then, or what came of it.
    async fn wait(
        &self,
        names: Option<&[String]>,
        limit: Duration,
        cancel: &CancellationToken,
    ) -> Result<Vec<AgentReport>, TeamError>;

    /// The other agents of the tree, without what they said, each with whether it is closed.
    async fn list(&self) -> Result<Vec<(AgentReport, bool)>, TeamError>;

    /// Stops an agent that works for the session, with all that work for it, and closes it.
    async fn close(&self, name: &str) -> Result<AgentReport, TeamError>;

    /// The worktrees of agents that work for the session.
    fn worktrees(&self) -> Arc<dyn AgentWorktrees>;
}

/// What an agent is to be started with. Unset fields are those of the session that starts it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentTask {
    /// What it is to do. Without it the agent waits.
    pub task: Option<String>,
    /// What it is called.
    pub name: Option<String>,
    /// The folder of the project that its work is about.
    pub path: Option<PathBuf>,
    /// The worktree of its own that it works in; without it, it works in the session's project.
    pub worktree: Option<NewWorktree>,
    /// The kind of agent, by name.
    pub agent: Option<String>,
    /// The model, as `connection/model` or as a name alone of the same connection.
    pub model: Option<String>,
    /// Whether it works in the background: its report comes as a message.
    pub background: bool,
}

/// Why something could not be done with agents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TeamError {
    /// There is no such agent in the tree.
    Unknown {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// It is the session itself.
    Oneself,
    /// It is one that the session works for: that waits for the session.
    Above {
        /// The name.
        name: String,
    },
    /// It does not work for the session.
    NotYours {
        /// The name.
        name: String,
    },
    /// They would wait for each other.
    Circle {
        /// Their names, the first again at the end.
        names: Vec<String>,
    },
    /// Agents so deep in a tree start no others.
    TooDeep {
        /// How deep a tree may be.
        depth: u32,
    },
    /// The session has so many agents.
    TooMany {
        /// How many it may have.
        most: u32,
    },
    /// So many work already.
    AllBusy {
        /// How many may work at once.
        most: u32,
    },
    /// There is no such kind of agent.
    NoKind {
        /// The name.
        name: String,
        /// Why.
        why: NoAgent,
        /// Those that there are.
        known: Vec<String>,
    },
    /// It is no folder of the session's project.
    NoFolder {
        /// The path.
        path: PathBuf,
    },
    /// The agent works, so that its worktree cannot be finished.
    AtWork {
        /// The name.
        name: String,
    },
    /// The agent has no worktree.
    NoWorktree {
        /// The name.
        name: String,
    },
    /// The worktree of the agent was removed before.
    Finished {
        /// The name.
        name: String,
        /// The branch that it was merged into; none if it was not merged.
        merged_into: Option<String>,
        /// The snapshot of it.
        snapshot: String,
    },
    /// Something could not be done with a worktree.
    Worktree {
        /// What, in English.
        text: String,
    },
    /// The session was stopped before the agent could begin.
    Stopped,
    /// The session is being deleted, or the program ends.
    Ending,
    /// Another error.
    Failed(Error),
}

impl From<Error> for TeamError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl TeamError {
    /// The text for the model, in English.
    pub fn for_model(&self) -> String {
        match self {
            Self::Unknown { name, known } if known.is_empty() => {
                format!("There is no agent “{name}”, and no other one.")
            }
            Self::Unknown { name, known } => {
                format!("There is no agent “{name}”. There are: {}.", known.join(", "))
            }
            Self::Oneself => "That is you.".to_owned(),
            Self::Above { name } => format!(
                "You work for “{name}”: it cannot answer while you work. End your turn with the question instead."
            ),
            Self::NotYours { name } => format!("“{name}” does not work for you."),
            Self::Circle { names } => format!(
                "This would never end, since they wait for each other: {}.",
                names.join(" → ")
            ),
            Self::TooDeep { depth } => {
                format!("You cannot start agents: they may be {depth} deep, and you are the last.")
            }
            Self::TooMany { most: 1 } => {
                "You have 1 agent, which is the limit. Close it if you no longer need it, or ask it."
                    .to_owned()
            }
            Self::TooMany { most } => format!(
                "You have {most} agents, which is the limit. Close one that you no longer need, or ask it."
            ),
            Self::AllBusy { most: 1 } => {
                "1 agent is working, which is the limit. Try again when it is done.".to_owned()
            }
            Self::AllBusy { most } => format!(
                "{most} agents are working, which is the limit. Try again when one of them is done."
            ),
            Self::NoKind { name, why, known } => {
                format!("{} There are: {}.", why.for_model(name), known.join(", "))
            }
            Self::NoFolder { path } => {
                format!("“{}” is not a folder in the project.", path.display())
            }
            Self::AtWork { name } => {
                format!("Agent “{name}” is still working. Wait for it, or close it first.")
            }
            Self::NoWorktree { name } => format!("Agent “{name}” has no worktree."),
            Self::Finished { name, merged_into: Some(target), snapshot } => format!(
                "The worktree of agent “{name}” is merged into {target} already, and removed. The user can \
                 restore it: snapshot {snapshot}."
            ),
            Self::Finished { name, merged_into: None, snapshot } => format!(
                "The worktree of agent “{name}” is removed already, and was not merged. The user can restore it: \
                 snapshot {snapshot}."
            ),
            Self::Worktree { text } => format!("That is not possible: {text}."),
            Self::Stopped => "You were stopped before the agent began.".to_owned(),
            Self::Ending => "The chat ends.".to_owned(),
            Self::Failed(error) => format!("That failed. {}", error.for_model()),
        }
    }
}

impl From<TeamError> for ToolFailure {
    fn from(error: TeamError) -> Self {
        Self::new(error.for_model())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{BudgetLimit, Kind};

    #[test]
    fn models_read_an_error_of_the_engine_as_a_sentence() {
        let error = Error::from(Kind::AgentBudget { limit: BudgetLimit::Turns(1) });
        let failure = ToolFailure::from(TeamError::from(error));
        assert_eq!(failure.text, "That failed. The agents have used up their limit of 1 turn.");
    }
    #[test]
    fn a_limit_of_one_is_said_of_one() {
        let text = |error: TeamError| ToolFailure::from(error).text;
        assert!(text(TeamError::TooMany { most: 1 }).starts_with("You have 1 agent, which"));
        assert!(text(TeamError::TooMany { most: 2 }).starts_with("You have 2 agents, which"));
        assert!(text(TeamError::AllBusy { most: 1 }).starts_with("1 agent is working"));
    }
}
