//! Words worktrees, and what can go wrong with them.

use std::path::Path;

use chat_core::error::WorktreeFault;
use chat_core::manager::WorktreeState;
use chat_core::worktree::Status;
use gettextrs::{gettext, ngettext};

use super::{fill, one_line};

/// Says what happened and what to do.
pub(super) fn fault(fault: &WorktreeFault) -> String {
    match fault {
        WorktreeFault::NoGit => {
            gettext("Natter needs Git for worktrees. Install Git, then try again.")
        }
        WorktreeFault::NoRepository { path } => at(
            &gettext(
                "“{path}” isn’t in a Git repository that can have worktrees. Choose another project.",
            ),
            path,
        ),
        WorktreeFault::NoCommits => {
            gettext("This repository has no commits yet. Commit something, then try again.")
        }
        WorktreeFault::UnknownBase { name } => {
            named(&gettext("There is no branch or commit “{name}”. Choose another one."), name)
        }
        WorktreeFault::OtherBase => gettext(
            "Uncommitted changes can only be copied onto the current commit. Choose it, or leave the changes out.",
        ),
        WorktreeFault::InvalidBranch { name } => {
            named(&gettext("“{name}” can’t be the name of a branch. Choose another one."), name)
        }
        WorktreeFault::BranchExists { name } => {
            named(&gettext("The branch “{name}” already exists. Choose another name."), name)
        }
        WorktreeFault::NotFound { name } => named(
            &gettext("Couldn’t find the worktree “{name}”. Check the list of worktrees."),
            name,
        ),
        WorktreeFault::Several { name, paths } => {
            let paths: Vec<_> =
                paths.iter().map(|path| one_line(&path.display().to_string())).collect();
            let text = gettext(
                "Several worktrees are called “{name}”: {paths}. Give the branch or the folder of one.",
            );
            fill(&text, &[("name", &one_line(name)), ("paths", &paths.join(", "))])
        }
        WorktreeFault::Removed { merged_into: Some(branch), .. } => fill(
            &gettext(
                "The worktree of this chat was merged into {branch} and removed. Start a new chat to go on.",
            ),
            &[("branch", &one_line(branch))],
        ),
        WorktreeFault::Removed { merged_into: None, has_snapshot: true } => gettext(
            "The worktree of this chat was removed. Restore it from its snapshot, or start a new chat.",
        ),
        WorktreeFault::Removed { merged_into: None, has_snapshot: false } => {
            gettext("The worktree of this chat was removed. Start a new chat to go on.")
        }
        WorktreeFault::NothingToCommit => gettext("There is nothing to commit."),
        WorktreeFault::Uncommitted => {
            gettext("The worktree has uncommitted changes. Commit them, then try again.")
        }
        WorktreeFault::NoTarget => gettext(
            "The worktree didn’t begin with a branch, so there is none to merge into. Merge it with Git.",
        ),
        WorktreeFault::BranchSwitched => gettext(
            "The worktree is no longer on its own branch. Switch back to it with Git, then try again.",
        ),
        WorktreeFault::CheckedOut { path } => at(
            &gettext(
                "The branch to merge into is checked out in “{path}”. Switch to another one there, then try again.",
            ),
            path,
        ),
        WorktreeFault::Unfinished { path } => at(
            &gettext(
                "Another Git operation isn’t finished in “{path}”. Finish it, then try again.",
            ),
            path,
        ),
        WorktreeFault::Changed => gettext(
            "Something changed in the meantime, so nothing was done. Check it, then try again.",
        ),
        WorktreeFault::NoSnapshot { id } => {
            named(&gettext("Couldn’t find the snapshot “{name}”. Check the list of snapshots."), id)
        }
        WorktreeFault::Restored { name, path } => fill(
            &gettext("The snapshot is restored already, as the worktree “{name}” in “{path}”."),
            &[("name", &one_line(name)), ("path", &one_line(&path.display().to_string()))],
        ),
        WorktreeFault::FolderGone { path } => at(
            &gettext(
                "The worktree’s folder “{path}” was deleted. Merge or discard the worktree to remove it from the list.",
            ),
            path,
        ),
        WorktreeFault::Untrusted { path } => at(
            &gettext(
                "Git’s data in “{path}” was changed and may lead elsewhere, so nothing was done.",
            ),
            path,
        ),
        WorktreeFault::Failed => {
            gettext("This didn’t work with the worktree, so nothing was done. See the details.")
        }
    }
}

fn named(text: &str, name: &str) -> String {
    fill(text, &[("name", &one_line(name))])
}

fn at(text: &str, path: &Path) -> String {
    fill(text, &[("path", &one_line(&path.display().to_string()))])
}

/// What is left of a worktree that is not whole.
pub fn worktree_state(state: WorktreeState) -> Option<String> {
    match state {
        WorktreeState::Whole => None,
        WorktreeState::Unlinked => Some(gettext("not linked to its repository")),
        WorktreeState::FolderGone => Some(gettext("its folder is gone")),
        WorktreeState::RepositoryGone => Some(gettext("its repository is gone")),
        WorktreeState::Unrecorded => Some(gettext("unknown")),
        WorktreeState::Removed => Some(gettext("removed, not deleted completely")),
    }
}

/// The note on a worktree that no chat uses.
pub fn left_over() -> String {
    gettext("no chat uses it")
}

/// How far the work in a worktree is.
pub fn work_summary(branch: &str, status: &Status) -> String {
    let commits = commit_count(status.ahead);
    let files = file_count(status.changed + status.untracked);
    let text = gettext("Branch {branch}: {commits}, {files} not committed");
    fill(&text, &[("branch", branch), ("commits", &commits), ("files", &files)])
}

/// So many commits.
pub fn commit_count(count: u64) -> String {
    let text = ngettext("{count} commit", "{count} commits", small(count));
    fill(&text, &[("count", &count.to_string())])
}

/// So many files.
pub fn file_count(count: u64) -> String {
    let text = ngettext("{count} file", "{count} files", small(count));
    fill(&text, &[("count", &count.to_string())])
}

fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// The work in a worktree was merged.
pub fn merged(target: &str) -> String {
    fill(&gettext("Merged into {branch}."), &[("branch", target)])
}

/// A worktree was merged, but is still there.
pub fn merged_worktree_stays() -> String {
    gettext("The worktree was merged, but couldn’t be removed.")
}

/// Why nothing was merged, before the list of the files that both sides changed.
pub fn merge_conflicts(target: &str) -> String {
    let text =
        gettext("Nothing was merged, because {branch} changed the same lines of these files:");
    fill(&text, &[("branch", target)])
}

/// Why nothing was merged, before the list of the user's files that are in the way.
pub fn merge_blocked() -> String {
    gettext("Nothing was merged, because you have uncommitted changes in these files:")
}
