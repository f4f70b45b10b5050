//! Runs `natter-cli worktrees`: branches with folders of their own, in which agents work.

use std::path::{Path, PathBuf};

use chat_core::manager::{WorktreeRow, WorktreeState};
use chat_core::message::Fid;
use chat_core::worktree::{
    ChangeKind, ChangedFile, MergeKind, MergeOutcome, MergePreview, Snapshot, Worktree,
};
use chat_presentation::words;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;

use crate::args::{Finish, Worktrees};
use crate::engine::Program;
use crate::error::{CliError, Outcome, Result};
use crate::keyboard::take_typed;
use crate::output::line_of;
use crate::request;
use crate::say;
use crate::sessions::answer;
use crate::terminal;

/// Runs the requested action on the worktrees.
pub async fn run(action: Option<Worktrees>, json: bool, program: &Program) -> Result<Outcome> {
    match action {
        None => list(json, program).await,
        Some(Worktrees::List { json }) => list(json, program).await,
        Some(Worktrees::Show { name, json }) => show(&name, json, program).await,
        Some(Worktrees::Finish { name, action, message, yes }) => {
            let worktree = program.manager.worktrees().find(&name).await?;
            match action {
                Finish::Commit => commit(&worktree, message, program).await,
                Finish::Merge => merge(&worktree, message, yes, program).await,
                Finish::Discard => discard(&worktree, yes, program).await,
            }
        }
        Some(Worktrees::Snapshots { json }) => snapshots(json, program).await,
        Some(Worktrees::Restore { snapshot, project }) => {
            restore(&snapshot, project, program).await
        }
        Some(Worktrees::DeleteSnapshot { snapshot, yes }) => {
            delete_snapshot(&snapshot, yes, program).await
        }
    }
}

/// A worktree as JSON.
#[derive(Serialize)]
struct View<'a> {
    name: String,
    path: PathBuf,
    branch: Option<&'a str>,
    base: Option<&'a str>,
    target: Option<&'a str>,
    project: Option<&'a Path>,
    created: Option<Timestamp>,
    state: &'a str,
    size: u64,
    sessions: Vec<&'a str>,
    left_over: bool,
}

impl<'a> View<'a> {
    fn new(row: &'a WorktreeRow) -> Self {
        let worktree = row.worktree.as_ref();
        Self {
            name: row_name(row),
            path: row.path.clone(),
            branch: worktree.map(Worktree::branch),
            base: worktree.map(Worktree::base),
            target: worktree.and_then(Worktree::target),
            project: worktree.map(Worktree::parent_project),
            created: worktree.and_then(|it| time(it.created())),
            state: state(row.state),
            size: row.size,
            sessions: row.sessions.iter().map(Fid::as_str).collect(),
            left_over: row.is_left_over(),
        }
    }
}

/// The word of a state, which never changes.
fn state(state: WorktreeState) -> &'static str {
    match state {
        WorktreeState::Whole => "whole",
        WorktreeState::Unlinked => "unlinked",
        WorktreeState::FolderGone => "folder_gone",
        WorktreeState::RepositoryGone => "repository_gone",
        WorktreeState::Unrecorded => "unrecorded",
        WorktreeState::Removed => "removed",
    }
}

async fn list(json: bool, program: &Program) -> Result<Outcome> {
    let rows = program.manager.worktrees().list().await?;
    let text: String = if json {
        rows.iter().map(|row| line_of(&View::new(row))).collect()
    } else {
        rows.iter().map(|row| program.terminal.clean_output(&line(row)).into_owned()).collect()
    };
    if rows.is_empty() && !json {
        remark(&say::no_worktrees());
    }
    program.output.print(text).await?;
    Ok(Outcome::Done)
}

/// A worktree as a line, with tabs between name, branch, size, project and a note.
fn line(row: &WorktreeRow) -> String {
    let branch = row.worktree.as_ref().map_or("", Worktree::branch);
    let project = row.worktree.as_ref().map(|it| it.parent_project().display().to_string());
    let note = words::worktree_state(row.state);
    let note = note.or_else(|| row.is_left_over().then(words::left_over)).unwrap_or_default();
    let (name, size) = (row_name(row), words::bytes(row.size));
    format!("{name}\t{branch}\t{size}\t{}\t{note}\n", project.unwrap_or_default())
}

/// The work in a worktree as JSON.
#[derive(Serialize)]
struct WorkView<'a> {
    name: String,
    branch: &'a str,
    commit: &'a str,
    commits: u64,
    changed: u64,
    untracked: u64,
    files: Vec<FileView<'a>>,
    diff: &'a str,
    /// Whether files or the end of the diff are missing.
    incomplete: bool,
}

#[derive(Serialize)]
struct FileView<'a> {
    path: String,
    change: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<String>,
    added: Option<u64>,
    deleted: Option<u64>,
}

impl FileView<'_> {
    fn new(file: &ChangedFile) -> Self {
        let (change, from) = match &file.kind {
            ChangeKind::Added => ("added", None),
            ChangeKind::Modified => ("modified", None),
            ChangeKind::Deleted => ("deleted", None),
            ChangeKind::TypeChanged => ("type_changed", None),
            ChangeKind::Renamed { from } => ("renamed", Some(from.display().to_string())),
        };
        let path = file.path.display().to_string();
        Self { path, change, from, added: file.added, deleted: file.deleted }
    }
}

async fn show(name_or_folder: &str, json: bool, program: &Program) -> Result<Outcome> {
    let worktrees = program.manager.worktrees();
    let worktree = worktrees.find(name_or_folder).await?;
    let status = worktrees.status(&worktree).await?;
    let diff = worktrees.diff(&worktree).await?;
    let text = if json {
        let view = WorkView {
            name: worktree.short_name(),
            branch: worktree.branch(),
            commit: &status.commit,
            commits: status.ahead,
            changed: status.changed,
            untracked: status.untracked,
            files: diff.files.iter().map(FileView::new).collect(),
            diff: &diff.text,
            incomplete: diff.is_cut || diff.more_files > 0 || !diff.too_large.is_empty(),
        };
        line_of(&view)
    } else {
        remark(&words::work_summary(worktree.branch(), &status));
        let lines = diff.text.split_inclusive('\n');
        lines.map(|line| program.terminal.clean_output(line).into_owned()).collect()
    };
    program.output.print(text).await?;
    Ok(Outcome::Done)
}

async fn commit(
    worktree: &Worktree,
    message: Option<String>,
    program: &Program,
) -> Result<Outcome> {
    let done = program.manager.worktrees().commit(worktree, message).await?;
    remark(&say::committed(&done.commit));
    Ok(Outcome::Done)
}

async fn merge(
    worktree: &Worktree,
    message: Option<String>,
    yes: bool,
    program: &Program,
) -> Result<Outcome> {
    let worktrees = program.manager.worktrees();
    let mut preview = worktrees.preview_merge(worktree).await?;
    let target = preview.target.clone();
    refuse_unmergeable(&preview)?;
    let is_empty = preview.kind == MergeKind::UpToDate && !preview.is_dirty;
    if is_empty && !is_gone(worktree) {
        remark(&say::nothing_to_merge(&worktree.short_name()));
        return Ok(Outcome::Done);
    }
    let changed = preview.files.len() as u64;
    let question = if preview.is_dirty {
        say::ask_commit_and_merge(&target, changed)
    } else {
        say::ask_merge(&target, changed)
    };
    if !is_wanted(yes, &question, program).await? {
        remark(&say::not_finished());
        return Ok(Outcome::Failed);
    }
    if preview.is_dirty {
        commit(worktree, message, program).await?;
        // Something may have come to the target meanwhile.
        preview = worktrees.preview_merge(worktree).await?;
        if let Err(unmergeable) = refuse_unmergeable(&preview) {
            remark(&say::only_committed(worktree.branch()));
            return Err(unmergeable);
        }
    }
    let merged = worktrees.merge(worktree, preview).await?;
    match merged.outcome {
        MergeOutcome::Conflicts(files) => {
            return Err(CliError::Said(say::conflicts(&target, &files)));
        }
        MergeOutcome::Blocked(files) => return Err(CliError::Said(say::blocked(&files))),
        MergeOutcome::Merged { .. } | MergeOutcome::UpToDate => remark(&words::merged(&target)),
    }
    match &merged.removed {
        None if is_gone(worktree) => remark(&say::taken_off_list(worktree.branch())),
        Some(removed) => remark(&say::discarded(&removed.snapshot.id)),
        None => remark(&words::merged_worktree_stays()),
    }
    Ok(Outcome::Done)
}

/// Refuses a merge that would change nothing, because of conflicts or of files in the way.
fn refuse_unmergeable(preview: &MergePreview) -> Result<()> {
    if !preview.conflicts.is_empty() {
        return Err(CliError::Said(say::conflicts(&preview.target, &preview.conflicts)));
    }
    if !preview.blocked.is_empty() {
        return Err(CliError::Said(say::blocked(&preview.blocked)));
    }
    Ok(())
}

async fn discard(worktree: &Worktree, yes: bool, program: &Program) -> Result<Outcome> {
    let worktrees = program.manager.worktrees();
    if is_gone(worktree) {
        return forget(worktree, yes, program).await;
    }
    let preview = worktrees.preview_discard(worktree).await?;
    if !is_wanted(yes, &say::ask_discard(&preview), program).await? {
        remark(&say::not_finished());
        return Ok(Outcome::Failed);
    }
    let removed = worktrees.discard(worktree).await?;
    remark(&say::discarded(&removed.snapshot.id));
    Ok(Outcome::Done)
}

/// Whether a worktree's folder was deleted.
fn is_gone(worktree: &Worktree) -> bool {
    worktree.folder().symlink_metadata().is_err()
}

/// Takes a worktree off the list whose folder was deleted. Its branch stays.
async fn forget(worktree: &Worktree, yes: bool, program: &Program) -> Result<Outcome> {
    if !is_wanted(yes, &say::ask_forget(worktree.branch()), program).await? {
        remark(&say::not_finished());
        return Ok(Outcome::Failed);
    }
    program.manager.worktrees().forget(worktree).await?;
    remark(&say::taken_off_list(worktree.branch()));
    Ok(Outcome::Done)
}

/// Asks the user, unless they said yes beforehand.
async fn is_wanted(yes: bool, question: &str, program: &Program) -> Result<bool> {
    if yes {
        return Ok(true);
    }
    if !program.terminal.input {
        return Err(CliError::Said(say::nobody_to_confirm()));
    }
    // What was typed before the question does not answer it.
    take_typed();
    terminal::say(&terminal::clean(question));
    answer().await
}

/// A snapshot as JSON.
#[derive(Serialize)]
struct SnapshotView<'a> {
    id: &'a str,
    name: &'a str,
    at: Option<Timestamp>,
    branch: &'a str,
    project: &'a Path,
    commits: u64,
    files: u64,
    size: u64,
}

async fn snapshots(json: bool, program: &Program) -> Result<Outcome> {
    let snapshots = program.manager.worktrees().snapshots().await?;
    let text: String = if json {
        let view = |it: &Snapshot| {
            line_of(&SnapshotView {
                id: &it.id,
                name: &it.name,
                at: time(it.at),
                branch: &it.branch,
                project: &it.project,
                commits: it.commits,
                files: it.files,
                size: it.size,
            })
        };
        snapshots.iter().map(view).collect()
    } else {
        let line = |it: &Snapshot| {
            let at = time(it.at).map(|at| at.to_zoned(TimeZone::system()));
            let at = at.map(|at| at.strftime("%Y-%m-%d %H:%M").to_string()).unwrap_or_default();
            let (project, size) = (it.project.display(), words::bytes(it.size));
            let line = format!("{}\t{at}\t{}\t{size}\t{project}\n", it.id, it.name);
            program.terminal.clean_output(&line).into_owned()
        };
        snapshots.iter().map(line).collect()
    };
    if snapshots.is_empty() && !json {
        remark(&say::no_snapshots());
    }
    program.output.print(text).await?;
    Ok(Outcome::Done)
}

async fn restore(snapshot: &str, project: Option<PathBuf>, program: &Program) -> Result<Outcome> {
    let project = project.map(|given| request::folder(&given)).transpose()?;
    let restored = program.manager.worktrees().restore(snapshot, project).await?;
    remark(&say::worktree_restored(restored.worktree.folder(), restored.worktree.branch()));
    Ok(Outcome::Done)
}

async fn delete_snapshot(id: &str, yes: bool, program: &Program) -> Result<Outcome> {
    let worktrees = program.manager.worktrees();
    let snapshots = worktrees.snapshots().await?;
    // If there is none, the engine says so.
    if let Some(snapshot) = snapshots.iter().find(|snapshot| snapshot.id == id)
        && !is_wanted(yes, &say::ask_delete_snapshot(snapshot), program).await?
    {
        remark(&say::not_finished());
        return Ok(Outcome::Failed);
    }
    worktrees.delete_snapshot(id).await?;
    remark(&say::snapshot_deleted());
    Ok(Outcome::Done)
}

/// What a worktree is called; one without a record, as its folder.
fn row_name(row: &WorktreeRow) -> String {
    let folder = || row.path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    row.worktree.as_ref().map_or_else(folder, Worktree::short_name)
}

/// A time in milliseconds since 1970.
fn time(milliseconds: u64) -> Option<Timestamp> {
    Timestamp::from_millisecond(i64::try_from(milliseconds).ok()?).ok()
}

fn remark(text: &str) {
    terminal::say(&format!("{}\n", terminal::clean(text)));
}
