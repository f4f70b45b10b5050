//! Defines what the tools of an agent may do with the worktrees of the agents that work for it.

use async_trait::async_trait;
use chat_worktree::{
    Committed, MergeOutcome, MergePreview, RemovalPreview, Removed, Status, WorkDiff, Worktree,
};

use super::TeamError;
use crate::message::AgentReport;

/// How to create a worktree: a branch and a folder of its own, apart from the user's files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewWorktree {
    /// Its branch; by default `natter/` and its name.
    pub branch: Option<String>,
    /// The commit or branch that it begins with; by default what the project is on.
    pub base: Option<String>,
    /// Whether to copy the project's uncommitted changes.
    pub with_changes: bool,
}

/// What an agent did in its worktree.
#[derive(Clone, Debug)]
pub struct WorktreeWork {
    /// What the agent does, without what it said.
    pub agent: AgentReport,
    /// The worktree.
    pub worktree: Worktree,
    /// Its state.
    pub status: Status,
    /// What it changes.
    pub diff: WorkDiff,
}

/// What became of a worktree that was merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergedWorktree {
    /// What became of the merge.
    pub outcome: MergeOutcome,
    /// The snapshot of what was removed; none if it was not merged, or is still there.
    pub removed: Option<Removed>,
}

/// The worktrees of agents that work for a session, by the agents' names; implemented above, by the
/// Manager.
///
/// Nothing here asks for permission: whoever calls it has it.
#[async_trait]
pub trait AgentWorktrees: Send + Sync {
    /// What an agent changed. Changes nothing.
    async fn show(&self, name: &str) -> Result<WorktreeWork, TeamError>;

    /// Commits all of it on the worktree's own branch.
    async fn commit(&self, name: &str) -> Result<Committed, TeamError>;

    /// Looks what a merge would do, with all of it committed. Changes nothing.
    async fn plan_merge(&self, name: &str) -> Result<(Worktree, MergePreview), TeamError>;

    /// Commits and merges what was looked at. If that succeeds, the worktree is stored in a snapshot and
    /// removed, and its agent closed. Refused where the worktree has other files by now.
    async fn merge(&self, name: &str, plan: MergePreview) -> Result<MergedWorktree, TeamError>;

    /// Looks what would go. Changes nothing.
    async fn plan_discard(&self, name: &str) -> Result<(Worktree, RemovalPreview), TeamError>;

    /// Stores the worktree in a snapshot and removes it with its branch, and closes its agent.
    async fn discard(&self, name: &str) -> Result<Removed, TeamError>;
}
