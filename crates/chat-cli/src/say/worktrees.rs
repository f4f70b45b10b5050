//! Defines the texts about worktrees.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use chat_core::worktree::{RemovalPreview, Snapshot};
use chat_presentation::words::{
    bytes, commit_count, file_count, fill, merge_blocked, merge_conflicts,
};
use gettextrs::gettext;

/// How many files are named.
const FILES: usize = 20;

/// The remark about a worktree that an agent has worked in and that is not finished.
pub fn left_worktree(agent: &str, worktree: &str) -> String {
    let text = gettext(
        "Agent “{agent}” worked in the worktree “{name}”. See its changes with: natter-cli worktrees show {word} · Finish it with: natter-cli worktrees finish {word} commit, merge or discard",
    );
    let word = super::quoted(worktree);
    fill(&text, &[("agent", agent), ("name", worktree), ("word", &word)])
}

/// Why nothing was merged: the target has everything.
pub fn nothing_to_merge(worktree: &str) -> String {
    let text = gettext(
        "There is nothing to merge, so the worktree “{name}” stays. Remove it with: natter-cli worktrees finish {word} discard",
    );
    fill(&text, &[("name", worktree), ("word", &super::quoted(worktree))])
}

pub fn no_worktrees() -> String {
    gettext("There are no worktrees.")
}

pub fn no_snapshots() -> String {
    gettext("There are no snapshots.")
}

pub fn committed(commit: &str) -> String {
    fill(&gettext("Committed as {commit}."), &[("commit", commit)])
}

/// The question before a merge that changes so many files.
pub fn ask_merge(target: &str, changed: u64) -> String {
    let text = gettext("Merge into {branch}? This changes {files}. [y/N]");
    fill(&text, &[("branch", target), ("files", &file_count(changed))]) + " "
}

/// The same where not everything is committed yet.
pub fn ask_commit_and_merge(target: &str, changed: u64) -> String {
    let text = gettext("Commit everything and merge it into {branch}? This changes {files}. [y/N]");
    fill(&text, &[("branch", target), ("files", &file_count(changed))]) + " "
}

/// Why nothing was merged: both sides changed these files.
pub fn conflicts(target: &str, conflicting: &[PathBuf]) -> String {
    merge_conflicts(target) + &listed(conflicting)
}

/// Why nothing was merged: the user has changes there.
pub fn blocked(in_the_way: &[PathBuf]) -> String {
    merge_blocked() + &listed(in_the_way)
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
    let commits = commit_count(preview.commit_count);
    let files = file_count(preview.status.changed + preview.status.untracked);
    let text =
        gettext("Discard {commits} and {files} that are not committed? A snapshot is kept. [y/N]");
    let mut text = fill(&text, &[("commits", &commits), ("files", &files)]);
    if preview.ignored > 0 {
        let kept = gettext("Files that Git ignores ({size}) are not in it.");
        text = format!("{}\n{text}", fill(&kept, &[("size", &bytes(preview.ignored_size))]));
    }
    text + " "
}

/// The question before a worktree whose folder was deleted is taken off the list.
pub fn ask_forget(branch: &str) -> String {
    let text = gettext(
        "The folder of this worktree was deleted. Remove it from the list? Its branch {branch} stays. [y/N]",
    );
    fill(&text, &[("branch", branch)]) + " "
}

/// What became of a worktree whose folder was deleted.
pub fn taken_off_list(branch: &str) -> String {
    let text = gettext("Removed from the list. Its branch {branch} stays.");
    fill(&text, &[("branch", branch)])
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

/// The question before a snapshot is deleted.
pub fn ask_delete_snapshot(snapshot: &Snapshot) -> String {
    let (commits, files) = (commit_count(snapshot.commits), file_count(snapshot.files));
    let text =
        gettext("Permanently delete the snapshot of “{name}” with {commits} and {files}? [y/N]");
    fill(&text, &[("name", &snapshot.name), ("commits", &commits), ("files", &files)]) + " "
}

pub fn snapshot_deleted() -> String {
    gettext("The snapshot was deleted.")
}
