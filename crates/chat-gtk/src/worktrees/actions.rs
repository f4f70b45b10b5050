//! Carries out what the user wants with a worktree or a snapshot.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use chat_core::error::Result;
use chat_core::worktree::{MergeOutcome, MergePreview, Snapshot, Worktree};
use chat_presentation::words::{self, fill, one_line};
use gettextrs::gettext;

use super::details::Details;
use super::dialog::Dialog;
use super::question::{self, Question};
use super::sentences::{self, name_in_line};

impl Dialog {
    /// The worktree whose page is shown.
    fn shown(&self) -> Option<(Rc<Details>, Worktree)> {
        let details = self.details()?;
        let worktree = details.row.worktree.clone()?;
        Some((details, worktree))
    }

    /// Commits all files of the shown worktree.
    pub(super) async fn commit(self: Rc<Self>) -> Result<()> {
        let Some((details, worktree)) = self.shown() else { return Ok(()) };
        self.commit_all(&details, &worktree).await?;
        self.say(&gettext("Committed"));
        details.load(&self).await
    }

    async fn commit_all(&self, details: &Details, worktree: &Worktree) -> Result<()> {
        let worktrees = self.manager.worktrees();
        self.wait(worktrees.commit(worktree, details.message())).await?;
        details.clear_message();
        Ok(())
    }

    /// Merges the shown worktree once the user has seen what that changes.
    pub(super) async fn merge(self: Rc<Self>) -> Result<()> {
        let Some((details, worktree)) = self.shown() else { return Ok(()) };
        let worktrees = self.manager.worktrees();
        let mut preview = self.wait(worktrees.preview_merge(&worktree)).await?;
        if !self.can_be_merged(&preview).await {
            return Ok(());
        }
        if preview.is_dirty {
            // Only what is committed can be merged, or be looked at before.
            if !self.ask_to_commit(&worktree).await? {
                return Ok(());
            }
            self.commit_all(&details, &worktree).await?;
            details.load(&self).await?;
            preview = self.wait(worktrees.preview_merge(&worktree)).await?;
            if !self.can_be_merged(&preview).await {
                return Ok(());
            }
        }
        let target = preview.target.clone();
        let removal = self.wait(worktrees.preview_discard(&worktree)).await?;
        let commits = removal.commits.iter().map(sentences::commit);
        let question = Question {
            heading: fill(&gettext("Merge Into {branch}?"), &[("branch", &target)]),
            body: sentences::merge(&preview, &removal),
            confirm: Some(gettext("_Merge")),
            is_destructive: false,
            lines: commits.chain(preview.files.iter().map(sentences::file)).collect(),
        };
        if !question::ask(&self.window, question).await {
            return Ok(());
        }
        let merged = self.wait(worktrees.merge(&worktree, preview)).await?;
        match &merged.outcome {
            MergeOutcome::Conflicts(files) => {
                self.tell_conflicts(&target, files).await;
                return Ok(());
            }
            MergeOutcome::Blocked(files) => {
                self.tell_blocked(files).await;
                return Ok(());
            }
            MergeOutcome::Merged { .. } | MergeOutcome::UpToDate => {}
        }
        if merged.removed.is_some() {
            self.say(&words::merged(&target));
        } else {
            self.say(&words::merged_worktree_stays());
        }
        self.reopen(&details).await
    }

    /// Whether nothing is in the way of a merge; otherwise the user is told what.
    async fn can_be_merged(&self, preview: &MergePreview) -> bool {
        if !preview.conflicts.is_empty() {
            self.tell_conflicts(&preview.target, &preview.conflicts).await;
            return false;
        }
        if !preview.blocked.is_empty() {
            self.tell_blocked(&preview.blocked).await;
            return false;
        }
        true
    }

    async fn ask_to_commit(&self, worktree: &Worktree) -> Result<bool> {
        let status = self.wait(self.manager.worktrees().status(worktree)).await?;
        let files = words::file_count(status.changed + status.untracked);
        let text = gettext("Only committed changes can be merged. Not committed yet: {files}.");
        let question = Question {
            heading: gettext("Commit Before Merging?"),
            body: fill(&text, &[("files", &files)]),
            confirm: Some(gettext("_Commit")),
            is_destructive: false,
            lines: Vec::new(),
        };
        Ok(question::ask(&self.window, question).await)
    }

    async fn tell_conflicts(&self, target: &str, files: &[PathBuf]) {
        self.tell(gettext("Conflicts"), words::merge_conflicts(target), files).await;
    }

    async fn tell_blocked(&self, files: &[PathBuf]) {
        self.tell(gettext("Uncommitted Changes"), words::merge_blocked(), files).await;
    }

    async fn tell(&self, heading: String, body: String, files: &[PathBuf]) {
        let lines = files.iter().map(|path| name_in_line(path)).collect();
        let question = Question { heading, body, confirm: None, is_destructive: false, lines };
        question::ask(&self.window, question).await;
    }

    /// Removes the shown worktree once the user has seen what goes with it.
    pub(super) async fn discard(self: Rc<Self>) -> Result<()> {
        let Some((details, worktree)) = self.shown() else { return Ok(()) };
        let worktrees = self.manager.worktrees();
        let preview = self.wait(worktrees.preview_discard(&worktree)).await?;
        let heading = gettext("Discard “{name}”?");
        let question = Question {
            heading: fill(&heading, &[("name", &one_line(worktree.name()))]),
            body: sentences::discard(&preview, !details.row.sessions.is_empty()),
            confirm: Some(gettext("_Discard")),
            is_destructive: true,
            lines: preview.commits.iter().map(sentences::commit).collect(),
        };
        if !question::ask(&self.window, question).await {
            return Ok(());
        }
        self.wait(worktrees.discard(&worktree)).await?;
        self.say(&gettext("Discarded. A snapshot is kept."));
        self.reopen(&details).await
    }

    /// Links the shown worktree's folder and its repository again.
    pub(super) async fn repair(self: Rc<Self>) -> Result<()> {
        let Some((details, worktree)) = self.shown() else { return Ok(()) };
        self.wait(self.manager.worktrees().repair(&worktree)).await?;
        self.say(&gettext("Repaired"));
        self.reopen(&details).await
    }

    /// Takes the shown worktree off the list.
    pub(super) async fn forget(self: Rc<Self>) -> Result<()> {
        let Some((details, worktree)) = self.shown() else { return Ok(()) };
        self.wait(self.manager.worktrees().forget(&worktree)).await?;
        self.say(&gettext("Removed from the list"));
        self.reopen(&details).await
    }

    /// Makes a snapshot a worktree again.
    pub(super) async fn restore(self: Rc<Self>, id: String) -> Result<()> {
        let restored = self.wait(self.manager.worktrees().restore(&id, None)).await?;
        let branch = one_line(restored.worktree.branch());
        self.say(&fill(&gettext("Restored on the branch {branch}"), &[("branch", &branch)]));
        self.refresh().await?;
        self.focus_row_of(restored.worktree.folder());
        Ok(())
    }

    /// Deletes a snapshot once the user has confirmed that.
    pub(super) async fn delete_snapshot(self: Rc<Self>, snapshot: Snapshot) -> Result<()> {
        let commits = words::commit_count(snapshot.commits);
        let files = words::file_count(snapshot.files);
        let heading = gettext("Delete the Snapshot of “{name}”?");
        let body = gettext("It has {commits} and {files}. You can’t restore them afterwards.");
        let question = Question {
            heading: fill(&heading, &[("name", &one_line(&snapshot.name))]),
            body: fill(&body, &[("commits", &commits), ("files", &files)]),
            confirm: Some(gettext("_Delete")),
            is_destructive: true,
            lines: Vec::new(),
        };
        if !question::ask(&self.window, question).await {
            return Ok(());
        }
        self.wait(self.manager.worktrees().delete_snapshot(&snapshot.id)).await?;
        self.say(&gettext("The snapshot was deleted."));
        self.refresh().await?;
        self.focus_row_of(Path::new(""));
        Ok(())
    }
}
