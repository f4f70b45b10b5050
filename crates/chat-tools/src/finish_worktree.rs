//! `finish_worktree`: shows, commits, merges or discards what an agent did in its worktree.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use async_trait::async_trait;
use chat_core::definitions::visible;
use chat_core::message::{Preview, ToolView};
use chat_core::tool::{
    AgentWorktrees, Audience, CallData, Label, N_, OutputForm, Tense, Tool, ToolContext,
    ToolFailure, ToolInfo, ToolKind, ToolOutput, WorktreeWork,
};
use chat_core::worktree::{ChangedFile, MergeKind, MergeOutcome, MergePreview, Removed};
use chat_permission::{Action, Request, Run, Why};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::agents;
use crate::spec::{arguments, counted, spec};

/// How many files are named to the user and the model.
const FILES: usize = 20;

/// Finishes a worktree.
pub struct FinishWorktree(ToolInfo);

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Arguments {
    /// Its agent
    name: String,
    /// `show` the diff, `commit` all, `merge` into its base and remove it, or `discard` it
    action: Finish,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Finish {
    Show,
    Commit,
    Merge,
    Discard,
}

impl Default for FinishWorktree {
    fn default() -> Self {
        let spec = spec::<Arguments>(
            "finish_worktree",
            "Finish the worktree of an agent of yours. Show it before you merge.",
        );
        let (title, summary) = (
            N_("Finish Worktrees"),
            N_("Shows, commits, merges or discards what an agent did on its branch"),
        );
        let info = agents::info(spec, title, summary, Audience::Leaders, label);
        Self(ToolInfo {
            kind: ToolKind::Runs,
            permissions: &[Action::Run],
            output: OutputForm::Diff,
            ..info
        })
    }
}

fn label(tense: Tense, call: CallData<'_>) -> Label {
    let action = call.arguments.get("action").and_then(|action| Finish::deserialize(action).ok());
    let sentence = match (action, tense) {
        (Some(Finish::Show), Tense::ToDo) => N_("Show the changes of {what}"),
        (Some(Finish::Show), Tense::Doing) => N_("Showing the changes of {what}"),
        (Some(Finish::Show), Tense::Done) => N_("Showed the changes of {what}"),
        (Some(Finish::Show), Tense::Failed) => N_("Couldn’t show the changes of {what}"),
        (Some(Finish::Commit), Tense::ToDo) => N_("Commit the changes of {what}"),
        (Some(Finish::Commit), Tense::Doing) => N_("Committing the changes of {what}"),
        (Some(Finish::Commit), Tense::Done) => N_("Committed the changes of {what}"),
        (Some(Finish::Commit), Tense::Failed) => N_("Couldn’t commit the changes of {what}"),
        (Some(Finish::Merge), Tense::ToDo) => N_("Merge the work of {what}"),
        (Some(Finish::Merge), Tense::Doing) => N_("Merging the work of {what}"),
        (Some(Finish::Merge), Tense::Done) => N_("Merged the work of {what}"),
        (Some(Finish::Merge), Tense::Failed) => N_("Couldn’t merge the work of {what}"),
        (Some(Finish::Discard), Tense::ToDo) => N_("Discard the work of {what}"),
        (Some(Finish::Discard), Tense::Doing) => N_("Discarding the work of {what}"),
        (Some(Finish::Discard), Tense::Done) => N_("Discarded the work of {what}"),
        (Some(Finish::Discard), Tense::Failed) => N_("Couldn’t discard the work of {what}"),
        (None, Tense::ToDo) => N_("Finish the worktree of {what}"),
        (None, Tense::Doing) => N_("Finishing the worktree of {what}"),
        (None, Tense::Done) => N_("Finished the worktree of {what}"),
        (None, Tense::Failed) => N_("Couldn’t finish the worktree of {what}"),
    };
    Label::what(sentence, agents::name(&call))
}

#[async_trait]
impl Tool for FinishWorktree {
    fn info(&self) -> &ToolInfo {
        &self.0
    }

    async fn run(&self, given: Value, context: ToolContext) -> Result<ToolOutput, ToolFailure> {
        let Arguments { name, action } = arguments(given)?;
        let worktrees = context.team()?.worktrees();
        match action {
            Finish::Show => {
                let work = worktrees.show(&name).await?;
                let text = shown(&work, context.most);
                Ok(ToolOutput::text(text).view(ToolView::Agents { agents: vec![work.agent] }))
            }
            Finish::Commit => {
                agents::must_be_allowed(&context, "git commit")?;
                let done = worktrees.commit(&name).await?;
                Ok(ToolOutput::text(format!("Committed as {} on its branch.", short(&done.commit))))
            }
            Finish::Merge => merge(&name, &*worktrees, &context).await,
            Finish::Discard => discard(&name, &*worktrees, &context).await,
        }
    }
}

async fn merge(
    name: &str,
    worktrees: &dyn AgentWorktrees,
    context: &ToolContext,
) -> Result<ToolOutput, ToolFailure> {
    agents::must_be_allowed(context, "git commit")?;
    let (worktree, plan) = worktrees.plan_merge(name).await?;
    let target = plan.target.clone();
    stopped_by(&plan.conflicts, &plan.blocked, &target)?;
    if plan.kind == MergeKind::UpToDate {
        return Ok(ToolOutput::text(format!(
            "There is nothing to merge: {target} has all of it already. The worktree stays."
        )));
    }
    let command = format!("git merge {}", quoted(worktree.branch()));
    let is_gone = worktree.folder().symlink_metadata().is_err();
    let note = merge_note(&plan, is_gone);
    permit(context, &command, note, Why::Merges(target.clone())).await?;
    let merged = worktrees.merge(name, plan).await?;
    let said = match merged.outcome {
        MergeOutcome::Conflicts(files) => return Err(conflicts(&files, &target)),
        MergeOutcome::Blocked(files) => return Err(blocked(&files)),
        MergeOutcome::UpToDate => format!("{target} has all of it already."),
        MergeOutcome::Merged { commit, kind: MergeKind::Merge } => {
            format!("Merged into {target} as {}.", short(&commit))
        }
        MergeOutcome::Merged { commit, .. } => {
            format!("{target} was moved forward to {}.", short(&commit))
        }
    };
    let rest = match &merged.removed {
        Some(removed) => gone(removed),
        None if worktree.folder().symlink_metadata().is_err() => {
            "Its folder was deleted before; its branch stays, and its agent is closed.".to_owned()
        }
        None => "The worktree could not be removed.".to_owned(),
    };
    Ok(ToolOutput::text(format!("{said} {rest}")))
}

async fn discard(
    name: &str,
    worktrees: &dyn AgentWorktrees,
    context: &ToolContext,
) -> Result<ToolOutput, ToolFailure> {
    let (worktree, plan) = worktrees.plan_discard(name).await?;
    let status = &plan.status;
    let mut note = discard_note(plan.commit_count, status.changed, status.untracked);
    for commit in plan.commits.iter().take(FILES) {
        let _ = write!(note, "\n#   {} {}", short(&commit.commit), visible(&commit.subject));
    }
    if plan.ignored > 0 {
        let _ = write!(note, "\n# Not kept: {}.", counted(plan.ignored, "ignored file or folder"));
    }
    // Whatever the user allows for good is allowed for this worktree alone: names come again, and so
    // do branches. Its folder does not, and Git takes its last part for the whole.
    let folder = worktree.folder().file_name().unwrap_or_default().to_string_lossy();
    let command = format!("git worktree remove --force {}", quoted(&folder));
    permit(context, &command, note, Why::Discards(name.to_owned())).await?;
    let removed = worktrees.discard(name).await?;
    Ok(ToolOutput::text(format!("Discarded. {}", gone(&removed))))
}

/// What goes with a worktree, as a comment below the command. The user's front end translates it.
fn discard_note(commits: u64, changed: u64, new: u64) -> String {
    let parts = [(commits, "commit"), (changed, "changed file"), (new, "new file")];
    let parts = parts.into_iter().filter(|(count, _)| *count > 0);
    let mut parts: Vec<_> = parts.map(|(count, word)| counted(count, word)).collect();
    let Some(last) = parts.pop() else {
        return "# Discards no commits and no changed files.".to_owned();
    };
    let what = if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) };
    format!("# Discards {what}; all of it is kept in a snapshot.")
}

/// Asks the user each time. The command says what is done; none is run.
async fn permit(
    context: &ToolContext,
    command: &str,
    note: String,
    why: Why,
) -> Result<(), ToolFailure> {
    let project = context.project()?;
    let folder = project.resolve(".").map_err(|error| ToolFailure::new(format!("{error}.")))?;
    let preview = Preview::Command {
        text: format!("{command}\n{note}"),
        folder: folder.real().to_owned(),
        network: false,
        sandboxed: false,
        background: false,
        limit: None,
        stays_inside: None,
    };
    let run = Run::new(project, command, folder, false, false).standing_for(why);
    Ok(context.permit(Request::Run(run), preview).await?)
}

/// What a merge would change, as comments below the command.
fn merge_note(plan: &MergePreview, is_gone: bool) -> String {
    let target = visible(&plan.target);
    let first = if is_gone {
        // Removing a worktree deletes its branch; here nothing is removed.
        "# The folder of the worktree was deleted. The branch stays after the merge.\n"
    } else if plan.is_dirty {
        "# Commits everything on its branch first.\n"
    } else {
        ""
    };
    if plan.files.is_empty() {
        return format!("{first}# Changes no files in {target}.");
    }
    let files = counted(plan.files.len() as u64, "file");
    let mut note = format!("{first}# Changes {files} in {target}:");
    for file in plan.files.iter().take(FILES) {
        let _ = write!(note, "\n#   {}", changed(file));
    }
    if plan.files.len() > FILES {
        let _ = write!(note, "\n#   and {} more", plan.files.len() - FILES);
    }
    note
}

/// Why a merge is not possible.
fn stopped_by(
    conflicting: &[PathBuf],
    in_the_way: &[PathBuf],
    target: &str,
) -> Result<(), ToolFailure> {
    if !conflicting.is_empty() {
        return Err(conflicts(conflicting, target));
    }
    if !in_the_way.is_empty() {
        return Err(blocked(in_the_way));
    }
    Ok(())
}

fn conflicts(files: &[PathBuf], target: &str) -> ToolFailure {
    ToolFailure::new(format!(
        "Nothing was merged, since {target} changed the same parts of: {}. Have the agent run `git merge {}` in \
         its worktree, resolve the conflicts and commit, or ask the user.",
        listed(files),
        quoted(target),
    ))
}

fn blocked(files: &[PathBuf]) -> ToolFailure {
    ToolFailure::new(format!(
        "Nothing was merged, since the user has uncommitted changes in: {}. Ask the user to commit them.",
        listed(files)
    ))
}

fn listed(files: &[PathBuf]) -> String {
    let names = files.iter().take(FILES).map(|file| shown_path(file));
    let mut text = names.collect::<Vec<_>>().join(", ");
    if files.len() > FILES {
        let _ = write!(text, " and {} more", files.len() - FILES);
    }
    text
}

/// What becomes of a removed worktree.
fn gone(removed: &Removed) -> String {
    format!(
        "The worktree is removed, and its agent closed. The user can restore it: snapshot {}.",
        removed.snapshot.id
    )
}

/// What an agent changed, in at most so many bytes.
fn shown(work: &WorktreeWork, most: usize) -> String {
    let WorktreeWork { worktree, status, diff, .. } = work;
    let mut text = format!(
        "Branch {} from {}: {}, {} and {} not committed.\n",
        worktree.branch(),
        worktree.target().map_or_else(|| short(worktree.base()), ToOwned::to_owned),
        counted(status.ahead, "commit"),
        counted(status.changed, "changed file"),
        counted(status.untracked, "new file"),
    );
    for file in &diff.files {
        let _ = writeln!(text, "{}", changed(file));
    }
    let left_out = diff.too_large.iter().chain(&diff.nested);
    for path in left_out {
        let _ = writeln!(text, "{} (not shown)", shown_path(path));
    }
    if diff.files.is_empty() {
        text.push_str("It changed nothing.");
        return text;
    }
    text.push('\n');
    text.push_str(&diff.text);
    let is_long = text.len() > most;
    if is_long {
        text.truncate(text.floor_char_boundary(most));
    }
    if is_long || diff.is_cut {
        text.push_str("\n[The rest of the diff is left out.]");
    }
    text
}

/// A changed file, with its numbers of lines.
fn changed(file: &ChangedFile) -> String {
    let path = shown_path(&file.path);
    match (file.added, file.deleted) {
        (Some(added), Some(deleted)) => format!("{path} +{added} -{deleted}"),
        _ => path,
    }
}

/// A path in one line, with nothing hidden: agents choose the names of files.
fn shown_path(path: &Path) -> String {
    visible(&path.to_string_lossy()).into_owned()
}

/// The beginning of a commit's name.
fn short(commit: &str) -> String {
    commit.chars().take(10).collect()
}

/// A name as a shell would take it.
fn quoted(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "._/-".contains(c);
    if name.chars().all(is_plain) {
        name.to_owned()
    } else {
        format!("'{}'", name.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_user_is_asked_is_one_command() {
        assert_eq!(quoted("natter/fix-1"), "natter/fix-1");
        assert_eq!(quoted("a;rm -r ~"), "'a;rm -r ~'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
    }

    #[test]
    fn a_files_name_writes_no_line_into_the_question() {
        let path = PathBuf::from("a\n# Changes 1 file\u{202e}");
        assert_eq!(listed(std::slice::from_ref(&path)), r"a\u{a}# Changes 1 file\u{202e}");
        assert_eq!(shown_path(&path), r"a\u{a}# Changes 1 file\u{202e}");
    }

    #[test]
    fn a_question_to_discard_names_only_what_there_is() {
        let kept = "all of it is kept in a snapshot.";
        assert_eq!(discard_note(0, 0, 1), format!("# Discards 1 new file; {kept}"));
        let both = "2 commits and 1 changed file";
        assert_eq!(discard_note(2, 1, 0), format!("# Discards {both}; {kept}"));
        let all = "1 commit, 2 changed files and 3 new files";
        assert_eq!(discard_note(1, 2, 3), format!("# Discards {all}; {kept}"));
        assert_eq!(discard_note(0, 0, 0), "# Discards no commits and no changed files.");
    }

    #[test]
    fn many_files_are_counted() {
        let files: Vec<_> = (0..22).map(|number| PathBuf::from(format!("{number}"))).collect();
        assert!(listed(&files).ends_with("18, 19 and 2 more"));
    }
}
