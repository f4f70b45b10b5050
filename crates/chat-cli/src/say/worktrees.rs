//! Defines the texts about worktrees.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use chat_core::manager::WorktreeState;
use chat_core::worktree::{RemovalPreview, Status};
use chat_presentation::words::{bytes, fill};
use gettextrs::{gettext, ngettext};

/// How many files are named.
const FILES: usize = 20;

pub fn no_worktrees() -> String {
    gettext("There are no worktrees.")
}

pub fn no_snapshots() -> String {
    gettext("There are no snapshots.")
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
    let commits = commits(status.ahead);
    let files = files(status.changed + status.untracked);
    let text = gettext("Branch {branch}: {commits}, {files} not committed");
    fill(&text, &[("branch", branch), ("commits", &commits), ("files", &files)])
}

fn commits(count: u64) -> String {
    let text = ngettext("{count} commit", "{count} commits", small(count));
    fill(&text, &[("count", &count.to_string())])
}

fn files(count: u64) -> String {
    let text = ngettext("{count} file", "{count} files", small(count));
    fill(&text, &[("count", &count.to_string())])
}

fn small(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

pub fn committed(commit: &str) -> String {
    fill(&gettext("Committed as {commit}."), &[("commit", commit)])
}

/// The question before a merge that changes so many files.
pub fn ask_merge(target: &str, changed: u64) -> String {
    let text = gettext("Merge into {branch}? This changes {files}. [y/N]");
    fill(&text, &[("branch", target), ("files", &files(changed))]) + " "
}

/// The same where not everything is committed yet.
pub fn ask_commit_and_merge(target: &str, changed: u64) -> String {
    let text = gettext("Commit everything and merge it into {branch}? This changes {files}. [y/N]");
    fill(&text, &[("branch", target), ("files", &files(changed))]) + " "
}

pub fn merged(target: &str) -> String {
    fill(&gettext("Merged into {branch}."), &[("branch", target)])
}

/// Why nothing was merged: both sides changed these files.
pub fn conflicts(target: &str, conflicting: &[PathBuf]) -> String {
    let text =
        gettext("Nothing was merged, because {branch} changed the same lines of these files:");
    fill(&text, &[("branch", target)]) + &listed(conflicting)
}

/// Why nothing was merged: the user has changes there.
pub fn blocked(in_the_way: &[PathBuf]) -> String {
    let text = gettext("Nothing was merged, because you have uncommitted changes in these files:");
    text + &listed(in_the_way)
}

fn listed(files: &[PathBuf]) -> String {
    let mut text = String::new();
    for file in files.iter().take(FILES) {
        // Writing into a string cannot fail.
        let _ = write!(text, "\n  {}", file.display());
    }
    if files.len() > FILES {
        text.push_str("\n  …");
    }
    text
}

/// The question before a worktree is discarded.
pub fn ask_discard(preview: &RemovalPreview) -> String {
    let commits = commits(preview.commit_count);
    let files = files(preview.status.changed + preview.status.untracked);
    let text =
        gettext("Discard {commits} and {files} that are not committed? A snapshot is kept. [y/N]");
    let mut text = fill(&text, &[("commits", &commits), ("files", &files)]);
    if preview.ignored > 0 {
        let kept = gettext("Files that Git ignores ({size}) are not in it.");
        text = format!("{}\n{text}", fill(&kept, &[("size", &bytes(preview.ignored_size))]));
    }
    text + " "
}

/// Where the work of a removed worktree is.
pub fn discarded(snapshot: &str) -> String {
    let text = gettext(
        "The worktree was removed. Restore it with: natter-cli worktrees restore {snapshot}",
    );
    fill(&text, &[("snapshot", snapshot)])
}

pub fn nobody_to_confirm() -> String {
    gettext("Cannot ask for confirmation here. Use --yes to continue without asking.")
}

pub fn stays() -> String {
    gettext("The worktree was merged, but couldn’t be removed.")
}

pub fn not_finished() -> String {
    gettext("Nothing was changed.")
}

/// What was done where only the commit could be made.
pub fn only_committed(branch: &str) -> String {
    let text = gettext("The changes were committed to {branch}, but not merged.");
    fill(&text, &[("branch", branch)])
}

pub fn worktree_restored(folder: &Path, branch: &str) -> String {
    let text = gettext("Restored in {folder} on the branch {branch}.");
    fill(&text, &[("folder", &folder.display().to_string()), ("branch", branch)])
}
