//! Creates, lists, inspects and finishes worktrees: branches with folders of their own, in which chats
//! and agents work apart from the user's files.

mod finish;
mod snapshots;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chat_worktree::{
    CreateOptions, Created, DiffLimits, Listed, MergePreview, Presence, RemovalPreview, Removed,
    Status, WorkDiff, Worktree, Worktrees as Trees,
};

use super::{Fid, Kind, Manager, MergedWorktree, NewAgent, NewWorktree, Result};
use crate::error::{Error, WorktreeFault};

/// What a worktree is called that nobody gave a name.
const UNNAMED: &str = "chat";

/// The worktrees. From [`Manager::worktrees`].
///
/// A chat works in a worktree if its project is [`Worktree::project`]. Its commands can change nothing of
/// the repository but the worktree's own branch, and the rules for the user's project hold there too.
///
/// Git runs on threads of its own. If the program ends, what git does is given up, and undone.
#[derive(Clone, Debug)]
pub struct Worktrees(pub(super) Manager);

/// A worktree in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeRow {
    /// Its folder.
    pub path: PathBuf,
    /// What is recorded of it, unless it has no record.
    pub worktree: Option<Worktree>,
    /// What is left of it.
    pub state: WorktreeState,
    /// Its size on disk, in bytes.
    pub size: u64,
    /// The chats and agents that work in it.
    pub sessions: Vec<Fid>,
}

impl WorktreeRow {
    /// Whether nobody works there any more: its chat was deleted, or the program was killed.
    pub fn is_left_over(&self) -> bool {
        self.sessions.is_empty() || self.state != WorktreeState::Whole
    }
}

/// What is left of a worktree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorktreeState {
    /// Everything.
    Whole,
    /// Its folder and repository do not name each other: [`Worktrees::repair`] links them again.
    Unlinked,
    /// Its folder is gone.
    FolderGone,
    /// Its repository is gone.
    RepositoryGone,
    /// Its record is missing or damaged.
    Unrecorded,
    /// It is stored in a snapshot, and could not be deleted completely.
    Removed,
}

impl Worktrees {
    /// Whether a project is in a repository that can have worktrees. Runs no program.
    pub async fn is_possible(&self, project: &Path) -> bool {
        let (this, project) = (self.0.clone(), project.to_owned());
        let look = async move { this.git(move |trees, _| trees.list_of(&project)).await };
        self.0.run(look).await.is_ok()
    }

    /// Creates a worktree of a project, for a new chat that works there. `name` is what its branch is
    /// called, with a number if there is such a one.
    ///
    /// # Errors
    /// `Worktree`. Then nothing is left of it.
    pub async fn create(&self, project: &Path, name: &str, new: NewWorktree) -> Result<Created> {
        let (this, project, name) = (self.0.clone(), project.to_owned(), name.to_owned());
        self.0.run(async move { this.create_worktree(project, name, new).await }).await
    }

    /// All worktrees, by path, with their sizes, and who works there. Takes as long as listing their
    /// files.
    ///
    /// # Errors
    /// `Worktree`, and the store's.
    pub async fn list(&self) -> Result<Vec<WorktreeRow>> {
        let this = self.0.clone();
        self.0.run(async move { this.list_worktrees(|_| true).await }).await
    }

    /// Those in which nobody works any more: see [`WorktreeRow::is_left_over`]. To be looked for when
    /// a program starts; costs nothing where there are none.
    ///
    /// # Errors
    /// As for [`list`](Self::list).
    pub async fn left_over(&self) -> Result<Vec<WorktreeRow>> {
        let this = self.0.clone();
        self.0.run(async move { this.list_worktrees(WorktreeRow::is_left_over).await }).await
    }

    /// The worktree of this name, or with this branch or folder. Several may have the same name.
    ///
    /// # Errors
    /// `Worktree`: there is none, or there are several.
    pub async fn find(&self, name: &str) -> Result<Worktree> {
        let (this, name) = (self.0.clone(), name.to_owned());
        let listed = self.0.run(async move { this.git(|trees, _| trees.list()).await }).await?;
        let worktrees = listed.into_iter().filter_map(|it| match it {
            Listed::Worktree { worktree, .. } => Some(worktree),
            Listed::Unrecorded(_) | Listed::Removed(_) => None,
        });
        let is_it = |it: &Worktree| {
            it.folder() == Path::new(&name)
                || it.folder().file_name() == Some(name.as_ref())
                || [it.name(), &*it.short_name(), it.branch()].contains(&&*name)
        };
        let mut found: Vec<_> = worktrees.filter(is_it).collect();
        if found.len() > 1 {
            let paths = found.iter().map(|it| it.folder().to_owned()).collect();
            return Err(Kind::Worktree { fault: WorktreeFault::Several { name, paths } }.into());
        }
        found.pop().ok_or_else(|| not_found(&name))
    }

    /// The worktree that a path is in, such as a chat's project; none if it is in none.
    ///
    /// # Errors
    /// `Worktree`: its record is damaged.
    pub async fn containing(&self, path: &Path) -> Result<Option<Worktree>> {
        let (this, path) = (self.0.clone(), path.to_owned());
        self.0.run(async move { this.git(move |trees, _| trees.containing(&path)).await }).await
    }

    /// Why there is no such project, where it was in a worktree that was removed: `Worktree`.
    ///
    /// # Errors
    /// The program ends.
    pub async fn why_missing(&self, project: &Path) -> Result<Option<Error>> {
        let (this, project) = (self.0.clone(), project.to_owned());
        let removed = self.0.run(async move { this.removed_worktree(project).await }).await?;
        Ok(removed.map(|fault| Kind::Worktree { fault }.into()))
    }

    /// The state of a worktree.
    ///
    /// # Errors
    /// `Worktree`.
    pub async fn status(&self, worktree: &Worktree) -> Result<Status> {
        let (this, worktree) = (self.0.clone(), worktree.clone());
        let status =
            async move { this.git(move |trees, stop| trees.status(&worktree, stop)).await };
        self.0.run(status).await
    }

    /// What a worktree changes, with uncommitted and untracked files.
    ///
    /// # Errors
    /// `Worktree`.
    pub async fn diff(&self, worktree: &Worktree) -> Result<WorkDiff> {
        let (this, worktree) = (self.0.clone(), worktree.clone());
        self.0.run(async move { this.worktree_diff(worktree).await }).await
    }

    /// Commits all of a worktree on its own branch. Without a message it is named after the worktree.
    ///
    /// # Errors
    /// `Worktree`, and `SessionAtWork` while somebody works there.
    pub async fn commit(
        &self,
        worktree: &Worktree,
        message: Option<String>,
    ) -> Result<chat_worktree::Committed> {
        let (this, worktree) = (self.0.clone(), worktree.clone());
        self.0.run(async move { this.commit_worktree(worktree, message).await }).await
    }

    /// Looks what a merge into the branch would do that the worktree began with, with everything
    /// committed. Changes nothing.
    ///
    /// # Errors
    /// `Worktree`.
    pub async fn preview_merge(&self, worktree: &Worktree) -> Result<MergePreview> {
        let (this, worktree) = (self.0.clone(), worktree.clone());
        let preview = async move {
            this.git(move |trees, stop| trees.preview_merge(&worktree, None, stop)).await
        };
        self.0.run(preview).await
    }

    /// Merges what a preview showed, and commits that came to the target since. If that succeeds, the
    /// worktree is stored in a snapshot and removed, and its agents are closed. With conflicts, or
    /// files of the user in the way, nothing is changed.
    ///
    /// # Errors
    /// `Worktree`, and `SessionAtWork` while somebody works there.
    pub async fn merge(
        &self,
        worktree: &Worktree,
        preview: MergePreview,
    ) -> Result<MergedWorktree> {
        let (this, worktree) = (self.0.clone(), worktree.clone());
        self.0.run(async move { this.merge_worktree(worktree, preview).await }).await
    }

    /// Looks what would go with a worktree. Changes nothing.
    ///
    /// # Errors
    /// `Worktree`.
    pub async fn preview_discard(&self, worktree: &Worktree) -> Result<RemovalPreview> {
        let (this, worktree) = (self.0.clone(), worktree.clone());
        let preview = async move {
            this.git(move |trees, stop| trees.preview_removal(&worktree, stop)).await
        };
        self.0.run(preview).await
    }

    /// Stores a worktree in a snapshot, and removes it with its branch. Commands that still run there
    /// are ended first, and its agents are closed.
    ///
    /// # Errors
    /// `Worktree`, and `SessionAtWork` while somebody works there. Then nothing was removed.
    pub async fn discard(&self, worktree: &Worktree) -> Result<Removed> {
        let (this, worktree) = (self.0.clone(), worktree.clone());
        self.0.run(async move { this.discard_worktree(worktree).await }).await
    }

    /// Links a worktree's folder and its repository again: [`WorktreeState::Unlinked`].
    ///
    /// # Errors
    /// `Worktree`.
    pub async fn repair(&self, worktree: &Worktree) -> Result<()> {
        let (this, worktree) = (self.0.clone(), worktree.clone());
        self.0.run(async move { this.git(move |trees, _| trees.repair(&worktree)).await }).await
    }

    /// Takes a worktree off the list whose folder or repository is gone. What is left of it stays.
    ///
    /// # Errors
    /// `Worktree`: all of it is there.
    pub async fn forget(&self, worktree: &Worktree) -> Result<()> {
        let (this, worktree) = (self.0.clone(), worktree.clone());
        self.0.run(async move { this.git(move |trees, _| trees.forget(&worktree)).await }).await
    }
}

impl Manager {
    /// Has git do something on a thread of its own. What it does is given up when the program ends, or
    /// this future is dropped.
    async fn git<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Trees, &AtomicBool) -> Result<T, chat_worktree::Error> + Send + 'static,
    ) -> Result<T> {
        struct Stops(Arc<AtomicBool>);
        impl Drop for Stops {
            fn drop(&mut self) {
                self.0.store(true, Ordering::Relaxed);
            }
        }
        let stops = Stops(Arc::default());
        let shared = &self.inner.shared;
        let (trees, stop) = (shared.worktrees.clone(), Arc::clone(&stops.0));
        let mut task = shared.tasks.spawn_blocking_on(move || work(&trees, &stop), &shared.runtime);
        let done = tokio::select! {
            biased;
            done = &mut task => done,
            () = self.inner.closing.cancelled() => {
                stops.0.store(true, Ordering::Relaxed);
                task.await
            }
        };
        Ok(done.map_err(|_| Kind::Internal)??)
    }

    pub(super) async fn create_worktree(
        &self,
        project: PathBuf,
        name: String,
        new: NewWorktree,
    ) -> Result<Created> {
        let NewWorktree { branch, base, with_changes } = new;
        let name = if name.trim().is_empty() { UNNAMED.to_owned() } else { name };
        let options = CreateOptions { name, branch, base, with_changes };
        self.git(move |trees, stop| trees.create(&project, &options, stop)).await
    }

    /// The worktree that a new agent is to work in, if it is to have one of its own.
    pub(super) async fn worktree_for_agent(&self, new: &NewAgent) -> Result<Option<Worktree>> {
        let Some(options) = new.worktree.clone() else { return Ok(None) };
        let project = match &new.parent {
            Some(parent) => self.session(parent).await?.project(),
            None => new.path.clone(),
        };
        let no_project = || WorktreeFault::NoRepository { path: PathBuf::new() };
        let project = project.ok_or_else(|| Kind::Worktree { fault: no_project() })?;
        let name = new.name.clone().unwrap_or_else(|| "agent".to_owned());
        Ok(Some(self.create_worktree(project, name, options).await?.worktree))
    }

    /// Removes a worktree in which nobody worked.
    pub(super) async fn undo_worktree(&self, worktree: Worktree) {
        if let Err(error) = self.git(move |trees, stop| trees.remove(&worktree, true, stop)).await {
            tracing::warn!(%error, "the worktree of an agent that was not created stays");
        }
    }

    pub(super) async fn worktree_diff(&self, worktree: Worktree) -> Result<WorkDiff> {
        self.git(move |trees, stop| trees.diff(&worktree, DiffLimits::default(), stop)).await
    }

    pub(super) async fn worktree_status(&self, worktree: Worktree) -> Result<Status> {
        self.git(move |trees, stop| trees.status(&worktree, stop)).await
    }

    /// The worktrees that are wanted, with their sizes and sessions.
    async fn list_worktrees(
        &self,
        is_wanted: impl Fn(&WorktreeRow) -> bool + Send + 'static,
    ) -> Result<Vec<WorktreeRow>> {
        let records = self.inner.shared.store.sessions().await?;
        let listing = move |trees: &Trees, stop: &AtomicBool| {
            let with_sessions = |listed: Listed| {
                let row = row(listed);
                let is_there = |project: &PathBuf| project.starts_with(&row.path);
                let there = records.iter().filter(|it| it.project.as_ref().is_some_and(is_there));
                let sessions = there.map(|record| record.fid.clone()).collect();
                WorktreeRow { sessions, ..row }
            };
            let rows = trees.list()?.into_iter().map(with_sessions).filter(is_wanted);
            rows.map(|row| Ok(WorktreeRow { size: trees.size(&row.path, stop)?, ..row })).collect()
        };
        self.git(listing).await
    }

    /// Deletes what is left of worktrees that are stored in a snapshot, and notes those in the log in
    /// which nobody works any more.
    pub(super) fn find_left_over_worktrees(&self) {
        let this = self.clone();
        self.inner.shared.spawn(async move {
            let cleared = this.git(|trees, _| trees.clear_removed()).await;
            if let Err(error) = cleared {
                tracing::warn!(%error, "the rest of a removed worktree could not be deleted");
            }
            let rows = this.list_worktrees(WorktreeRow::is_left_over).await.unwrap_or_default();
            for row in rows {
                let (path, size) = (row.path.display(), row.size);
                tracing::info!(%path, size, state = ?row.state, "a worktree is left over");
            }
        });
    }
}

/// A worktree without its size and sessions.
fn row(listed: Listed) -> WorktreeRow {
    let (path, worktree, state) = match listed {
        Listed::Worktree { worktree, presence } => {
            let state = match presence {
                Presence::Whole => WorktreeState::Whole,
                Presence::Unlinked => WorktreeState::Unlinked,
                Presence::FolderGone => WorktreeState::FolderGone,
                Presence::RepositoryGone => WorktreeState::RepositoryGone,
            };
            (worktree.folder().to_owned(), Some(worktree), state)
        }
        Listed::Unrecorded(path) => (path, None, WorktreeState::Unrecorded),
        Listed::Removed(path) => (path, None, WorktreeState::Removed),
    };
    WorktreeRow { path, worktree, state, size: 0, sessions: Vec::new() }
}

fn not_found(name: &str) -> crate::error::Error {
    Kind::Worktree { fault: WorktreeFault::NotFound { name: name.to_owned() } }.into()
}
