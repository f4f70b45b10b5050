//! Finds what a command may touch of the repository that its project is a worktree of.

use std::sync::Arc;

use chat_core::tool::{ToolContext, ToolFailure};
use chat_core::worktree::WorktreeAccess;
use chat_sandbox::GitAccess;

use crate::spec::on_disk;

/// What a command may touch of the repository, if the project is a worktree.
///
/// # Errors
///
/// It is not known: then no command may run.
pub async fn git_access(context: &ToolContext) -> Result<Option<GitAccess>, ToolFailure> {
    let host = Arc::clone(&context.host);
    let failed = |why| ToolFailure::new(format!("The command did not run: {why}."));
    let access = on_disk(move |_| host.worktree_access().map_err(failed)).await?;
    Ok(access.map(|WorktreeAccess { repository, writable, read_only, hidden }| GitAccess {
        repository,
        writable,
        read_only,
        hidden,
    }))
}
