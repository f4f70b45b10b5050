//! Defines the texts about worktrees in the window.

use std::path::{Path, PathBuf};

use chat_core::manager::{WorktreeRow, WorktreeState};
use chat_core::worktree::{
    ChangeKind, ChangedFile, CommitSummary, MergePreview, RemovalPreview, Snapshot, Worktree,
};
use chat_presentation::words::{self, fill, one_line};
use gettextrs::{gettext, ngettext};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::projects;

/// How many letters of a commit's name are shown.
const SHORT: usize = 10;

/// What is said at the start about worktrees that no chat uses.
pub(crate) fn left_over(count: usize, size: u64) -> String {
    let number = u32::try_from(count).unwrap_or(u32::MAX);
    let text = ngettext(
        "{count} unused worktree takes up {size}",
        "{count} unused worktrees take up {size}",
        number,
    );
    fill(&text, &[("count", &count.to_string()), ("size", &words::bytes(size))])
}

/// What was not copied into a new worktree.
pub(crate) fn left_out(paths: &[PathBuf]) -> String {
    let names: Vec<_> = paths.iter().map(|path| name_in_line(path)).collect();
    fill(&gettext("Not copied into the worktree: {files}"), &[("files", &names.join(", "))])
}

/// A path in one line, with nothing hidden: agents choose the names of files.
pub(super) fn name_in_line(path: &Path) -> String {
    one_line(&path.display().to_string())
}

/// What a worktree is called; of one without a record the name of its folder.
pub(super) fn name(row: &WorktreeRow) -> String {
    let recorded = row.worktree.as_ref().map(|worktree| worktree.name().to_owned());
    one_line(&recorded.unwrap_or_else(|| projects::name(&row.path)))
}

/// The line below a worktree's name in the list.
pub(super) fn below(row: &WorktreeRow) -> String {
    let mut parts = Vec::new();
    if let Some(worktree) = &row.worktree {
        parts.push(one_line(worktree.branch()));
        parts.push(projects::name(worktree.parent_project()));
    }
    parts.push(words::bytes(row.size));
    let note = words::worktree_state(row.state);
    parts.extend(note.or_else(|| row.is_left_over().then(words::left_over)));
    parts.join(" · ")
}

/// What is wrong with a worktree that is not whole, and what can be done about it.
pub(super) fn state(state: WorktreeState) -> Option<String> {
    match state {
        WorktreeState::Whole => None,
        WorktreeState::Unlinked => Some(gettext(
            "The folder and its repository no longer refer to each other. Repair it to work there again.",
        )),
        WorktreeState::FolderGone => {
            Some(gettext("The folder was deleted. Its branch may still exist in the repository."))
        }
        WorktreeState::RepositoryGone => {
            Some(gettext("The repository was moved or deleted. The folder is kept."))
        }
        WorktreeState::Unrecorded => Some(gettext(
            "Natter doesn’t know where this folder came from. Check its files, then delete it yourself.",
        )),
        WorktreeState::Removed => Some(gettext(
            "It is stored in a snapshot. What is left of it is deleted at the next start.",
        )),
    }
}

/// What a merge button is about.
pub(super) fn merge_into(worktree: &Worktree) -> String {
    match worktree.target() {
        Some(target) => fill(&gettext("Merge into {branch}"), &[("branch", target)]),
        None => gettext("Merge"),
    }
}

/// The line below it, which says why it can't be pressed if there is nothing to merge.
pub(super) fn about_merge(can_merge: bool) -> String {
    if can_merge {
        gettext("Shows first what changes. The worktree is removed afterwards.")
    } else {
        gettext("There is nothing to merge yet")
    }
}

/// The line below a changed file's path.
pub(super) fn kind(file: &ChangedFile) -> String {
    match &file.kind {
        ChangeKind::Added => gettext("Added"),
        ChangeKind::Modified => gettext("Modified"),
        ChangeKind::Deleted => gettext("Deleted"),
        ChangeKind::TypeChanged => gettext("Type changed"),
        ChangeKind::Renamed { from } => {
            fill(&gettext("Renamed from {path}"), &[("path", &name_in_line(from))])
        }
    }
}

/// `+3 −1`; nothing if a file is no text.
pub(super) fn lines(file: &ChangedFile) -> Option<String> {
    let (added, deleted) = (file.added?, file.deleted?);
    Some(format!("+{added} −{deleted}"))
}

/// How many files are not named.
pub(super) fn more_files(count: usize) -> String {
    let number = u32::try_from(count).unwrap_or(u32::MAX);
    let text = ngettext("And {count} more file", "And {count} more files", number);
    fill(&text, &[("count", &count.to_string())])
}

/// A commit in a list.
pub(super) fn commit(commit: &CommitSummary) -> String {
    let short: String = commit.commit.chars().take(SHORT).collect();
    format!("{short} {}", one_line(&commit.subject))
}

/// A changed file in a list.
pub(super) fn file(file: &ChangedFile) -> String {
    let path = name_in_line(&file.path);
    lines(file).map_or_else(|| path.clone(), |lines| format!("{path} {lines}"))
}

/// What a merge does, before it is confirmed.
pub(super) fn merge(preview: &MergePreview, removal: &RemovalPreview) -> String {
    let commits = words::commit_count(removal.commit_count);
    let files = words::file_count(preview.files.len() as u64);
    let text = gettext(
        "{commits}, {files} changed. The worktree is then removed, and a snapshot of it is kept.",
    );
    fill(&text, &[("commits", &commits), ("files", &files)])
}

/// What goes with a worktree, before it is discarded.
pub(super) fn discard(preview: &RemovalPreview, has_chats: bool) -> String {
    let commits = words::commit_count(preview.commit_count);
    let files = words::file_count(preview.status.changed + preview.status.untracked);
    let text = gettext(
        "This removes the folder and the branch, with {commits} and {files} that are not committed. A snapshot is kept, from which you can restore them.",
    );
    let mut text = fill(&text, &[("commits", &commits), ("files", &files)]);
    if preview.ignored > 0 {
        let ignored = gettext("Files that Git ignores ({size}) are not in it.");
        text.push(' ');
        text.push_str(&fill(&ignored, &[("size", &words::bytes(preview.ignored_size))]));
    }
    if has_chats {
        text.push(' ');
        text.push_str(&gettext("Chats that work there are kept, but need another folder."));
    }
    text
}

/// The line below a snapshot's name in the list.
pub(super) fn below_snapshot(snapshot: &Snapshot) -> String {
    let mut parts = vec![local(snapshot.at), one_line(&snapshot.branch)];
    parts.push(projects::name(&snapshot.project));
    parts.push(words::bytes(snapshot.size));
    parts.retain(|part| !part.is_empty());
    parts.join(" · ")
}

/// A time in milliseconds since 1970, as local time.
fn local(milliseconds: u64) -> String {
    let time = i64::try_from(milliseconds).ok().and_then(|it| Timestamp::from_millisecond(it).ok());
    let time = time.map(|time| time.to_zoned(TimeZone::system()));
    time.map(|time| time.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default()
}
