//! Words what can go wrong with a worktree.

use std::path::Path;

use chat_core::error::WorktreeFault;
use gettextrs::gettext;

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
