//! Merges a worktree's branch into the branch that it began with: first a preview, then for real.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use crate::commit::{Identity, commit_tree, identity};
use crate::diff::{ChangedFile, changed};
use crate::git::private::{GitDir, With};
use crate::git::{Output, run};
use crate::location::{Head, Location, head};
use crate::record::Worktree;
use crate::work_index::WorkIndex;
use crate::worktrees::Worktrees;
use crate::{Error, checkout, link, names};

/// How often to merge again, if somebody commits to the target at the same moment.
const TRIES: usize = 3;

/// How a branch takes part in a merge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeKind {
    /// The target contains it already.
    UpToDate,
    /// The target has no other commits: it moves forward, without a new commit.
    FastForward,
    /// A commit with two parents is made.
    Merge,
}

/// What a merge would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MergePreview {
    /// The branch that is merged into.
    pub target: String,
    /// Its commit, in hexadecimal.
    pub target_commit: String,
    /// The commit of the worktree's branch, in hexadecimal.
    pub head: String,
    /// The commit that is merged: that of the worktree's branch, or one that would be on it once
    /// everything is committed.
    pub commit: String,
    /// The files of that commit, as the name of a tree.
    pub tree: String,
    /// How it is merged.
    pub kind: MergeKind,
    /// What changes in the target; empty if there are conflicts.
    pub files: Vec<ChangedFile>,
    /// Files that both sides changed in ways that do not fit together. Then it cannot be merged.
    pub conflicts: Vec<PathBuf>,
    /// The user's checkout that has the target checked out, and is updated; none if there is none.
    pub checkout: Option<PathBuf>,
    /// Uncommitted or untracked files in that checkout that are in the way. Then it cannot be
    /// merged.
    pub blocked: Vec<PathBuf>,
    /// Whether the worktree has uncommitted files. They are in the preview, and have to be committed
    /// before the merge.
    pub is_dirty: bool,
}

/// What a merge did. Only with [`MergeOutcome::Merged`] something was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    /// It was merged.
    Merged {
        /// The target's commit now, in hexadecimal.
        commit: String,
        /// How.
        kind: MergeKind,
    },
    /// The target contained it already.
    UpToDate,
    /// These files have conflicts.
    Conflicts(Vec<PathBuf>),
    /// These uncommitted or untracked files of the user's checkout are in the way.
    Blocked(Vec<PathBuf>),
}

/// The result of a merge that is not stored anywhere yet.
struct Plan {
    kind: MergeKind,
    /// The resulting tree, or commit.
    tree: String,
    conflicts: Vec<PathBuf>,
}

/// What is merged where.
struct Sides {
    git: GitDir,
    target: String,
    /// The user's checkout, if it has the target checked out.
    checkout: Option<Location>,
}

impl Worktrees {
    /// Looks what a merge of the worktree's branch would do, with everything committed. Changes
    /// nothing.
    ///
    /// # Errors
    /// No target is known or it is gone; the worktree's folder and the project that it was made from are gone; it is checked out in a worktree other than the user's
    /// project; the worktree is on another branch; the worktree or its repository is not as
    /// recorded; git fails; it was cancelled.
    pub fn preview_merge(
        &self,
        worktree: &Worktree,
        target: Option<&str>,
        cancel: &AtomicBool,
    ) -> Result<MergePreview, Error> {
        let (location, is_there) = worktree.location_to_merge()?;
        let sides = Sides::of(worktree, &location, target, cancel)?;
        let Sides { git, target, checkout } = &sides;
        let (target_commit, head) = sides.commits(worktree, cancel)?;
        let objects = git.place("new-objects");
        fs::create_dir(&objects).map_err(Error::io(&objects))?;
        let with = With { index: None, objects: Some(&objects) };
        let (commit, tree_of_commit) = if is_there {
            all_committed(worktree, &location, &head, &objects, cancel)?
        } else {
            let tree = git.resolve(&format!("{head}^{{tree}}"), cancel)?;
            (head.clone(), tree.unwrap_or_default())
        };
        let Plan { kind, tree, conflicts } = plan(git, with, &target_commit, &commit, cancel)?;
        let (mut files, mut blocked) = (Vec::new(), Vec::new());
        if conflicts.is_empty() && kind != MergeKind::UpToDate {
            let arguments = [
                "-r",
                "-z",
                "-M",
                "--raw",
                "--numstat",
                &format!("{target_commit}^{{tree}}"),
                &tree,
            ];
            files = changed(&git.output(with, "diff-tree", arguments, cancel)?);
            if let Some(checkout) = checkout {
                blocked = checkout::blocked(git, with, checkout, &target_commit, &tree, cancel)?.0;
            }
        }
        Ok(MergePreview {
            target: target.clone(),
            target_commit,
            is_dirty: commit != head,
            head,
            commit,
            tree: tree_of_commit,
            kind,
            files,
            conflicts,
            checkout: checkout.as_ref().map(|checkout| checkout.work_tree.clone()),
            blocked,
        })
    }

    /// Merges the commit of a preview into its target. If the target got other commits since, these
    /// are merged too. The user's checkout is updated if it has the target checked out: files that
    /// are not committed there are never overwritten. Neither hooks nor filters are run.
    ///
    /// # Errors
    /// [`Error::Changed`] if the worktree's branch has other commits than in the preview, and
    /// [`Error::Uncommitted`] if it has uncommitted files; the same as of the preview; the user's
    /// checkout is locked, or in the middle of another operation.
    pub fn merge(
        &self,
        worktree: &Worktree,
        preview: &MergePreview,
        message: &str,
        fallback: &Identity,
        cancel: &AtomicBool,
    ) -> Result<MergeOutcome, Error> {
        let _lock = self.lock(worktree)?;
        let (location, is_there) = worktree.location_to_merge()?;
        if is_there {
            let status = self.status(worktree, cancel)?;
            if status.changed + status.untracked > 0 {
                return Err(Error::Uncommitted);
            }
        }
        for _ in 0..TRIES {
            let sides = Sides::of(worktree, &location, Some(&preview.target), cancel)?;
            match sides.merge(worktree, &location, preview, message, fallback, cancel) {
                // Somebody committed to the target at this moment.
                Err(Error::Changed) if sides.commits(worktree, cancel)?.1 == preview.commit => {}
                done => return done,
            }
        }
        Err(Error::Changed)
    }
}

impl Sides {
    fn of(
        worktree: &Worktree,
        location: &Location,
        target: Option<&str>,
        cancel: &AtomicBool,
    ) -> Result<Self, Error> {
        let target = target.or(worktree.target()).ok_or(Error::NoTarget)?.to_owned();
        if target == worktree.branch() {
            return Err(Error::NoTarget);
        }
        // The checkout may be gone; the branch is merged all the same.
        let parent = Location::find(&worktree.record.checkout).ok();
        let parent = parent.filter(|parent| parent.common == location.common);
        let is_on = |parent: &Location| parent.head() == Head::Branch(target.clone());
        let checkout = parent.clone().filter(is_on);
        let around = parent.as_ref().unwrap_or(location);
        let mut git = GitDir::new(around, cancel)?;
        let is_bare = git.settings().is_bare;
        for (own, place) in holders(&location.common, is_bare) {
            let is_checkout = checkout.as_ref().is_some_and(|checkout| checkout.own == own);
            if !is_checkout && head(&own) == Head::Branch(target.clone()) {
                return Err(Error::CheckedOutElsewhere(place));
            }
        }
        if checkout.is_none() {
            git = git.without_head()?;
        }
        git = git.with_logs(around, &target)?;
        Ok(Self { git, target, checkout })
    }

    /// The commits of the target and of the worktree's branch.
    fn commits(&self, worktree: &Worktree, cancel: &AtomicBool) -> Result<(String, String), Error> {
        let of = |branch: &str| {
            let found = self.git.branch(branch, cancel)?;
            found.ok_or_else(|| Error::NoBranch(branch.to_owned()))
        };
        Ok((of(&self.target)?, of(worktree.branch())?))
    }

    fn merge(
        &self,
        worktree: &Worktree,
        location: &Location,
        preview: &MergePreview,
        message: &str,
        fallback: &Identity,
        cancel: &AtomicBool,
    ) -> Result<MergeOutcome, Error> {
        let (old, work) = self.commits(worktree, cancel)?;
        if work != preview.commit {
            return Err(Error::Changed);
        }
        // With conflicts, nothing at all is stored.
        let objects = self.git.place("new-objects");
        fs::create_dir_all(&objects).map_err(Error::io(&objects))?;
        let apart = With { index: None, objects: Some(&objects) };
        let Plan { kind, conflicts, .. } = plan(&self.git, apart, &old, &work, cancel)?;
        if !conflicts.is_empty() {
            return Ok(MergeOutcome::Conflicts(conflicts));
        }
        let new = match kind {
            MergeKind::UpToDate => return Ok(MergeOutcome::UpToDate),
            MergeKind::FastForward => work,
            MergeKind::Merge => {
                let Plan { tree, .. } = plan(&self.git, With::default(), &old, &work, cancel)?;
                let author = identity(&self.git, location, fallback, cancel)?;
                let (with, parents) = (With::default(), [&*old, &work]);
                commit_tree(&self.git, with, &tree, &parents, message, &author, cancel)?
            }
        };
        match &self.checkout {
            None => self.git.set_branch(&self.target, &new, Some(&old), cancel)?,
            Some(checkout) => {
                let reason = format!("merge {}", worktree.branch());
                let update =
                    checkout::Update { target: &self.target, old: &old, new: &new, reason };
                let blocked = update.apply(&self.git, checkout, cancel)?;
                if !blocked.is_empty() {
                    return Ok(MergeOutcome::Blocked(blocked));
                }
                // As git does it, so that the user can go back. It is merged in any case.
                let name = checkout.own.join("ORIG_HEAD");
                if let Err(error) = link::replace(&name, format!("{old}\n").as_bytes()) {
                    tracing::warn!(%error, "the commit before a merge is not noted");
                }
            }
        }
        Ok(MergeOutcome::Merged { commit: new, kind })
    }
}

/// The commit that the worktree's branch would have with all of its files committed, and its tree. What
/// is new in it is stored only in `objects`.
fn all_committed(
    worktree: &Worktree,
    location: &Location,
    head: &str,
    objects: &Path,
    cancel: &AtomicBool,
) -> Result<(String, String), Error> {
    let git = GitDir::new(location, cancel)?;
    let (stored, objects) = (worktree.index(), Some(objects));
    let work = WorkIndex::read(&git, location, &stored, head, objects, u64::MAX, cancel)?;
    let with = With { index: Some(&work.path), objects };
    let tree = Output::line(&git.output(with, "write-tree", None::<&str>, cancel)?);
    if git.resolve(&format!("{head}^{{tree}}"), cancel)?.as_ref() == Some(&tree) {
        return Ok((head.to_owned(), tree));
    }
    let author = Identity { name: "natter".to_owned(), email: "natter@localhost".to_owned() };
    let commit = commit_tree(&git, with, &tree, &[head], "Uncommitted", &author, cancel)?;
    Ok((commit, tree))
}

/// Merges two commits without a checkout.
fn plan(
    git: &GitDir,
    with: With,
    target: &str,
    work: &str,
    cancel: &AtomicBool,
) -> Result<Plan, Error> {
    let contains = |one: &str, other: &str| -> Result<bool, Error> {
        let mut command = git.command(with);
        command.args(["merge-base", "--is-ancestor", other, one]);
        Ok(run(&mut command, cancel)?.code == Some(0))
    };
    let plain = |kind, tree: &str| Ok(Plan { kind, tree: tree.to_owned(), conflicts: Vec::new() });
    if contains(target, work)? {
        return plain(MergeKind::UpToDate, target);
    }
    if contains(work, target)? {
        return plain(MergeKind::FastForward, work);
    }
    let mut command = git.command(with);
    command.args(["merge-tree", "--write-tree", "--allow-unrelated-histories"]);
    command.args(["-z", "--name-only", "--no-messages", target, work]);
    let output = run(&mut command, cancel)?;
    if output.code == Some(1) {
        let mut conflicts: Vec<_> =
            names::listed(&output.bytes).skip(1).map(Path::to_owned).collect();
        conflicts.dedup();
        return Ok(Plan { kind: MergeKind::Merge, tree: String::new(), conflicts });
    }
    let tree = output.success("merge-tree")?;
    let tree = Output::line(tree.split(|byte| *byte == 0).next().unwrap_or_default());
    Ok(Plan { kind: MergeKind::Merge, tree, conflicts: Vec::new() })
}

/// The checkouts of a repository: their git folders, and where they are.
fn holders(common: &Path, is_bare: bool) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    if !is_bare {
        found.push((common.to_owned(), common.parent().unwrap_or(common).to_owned()));
    }
    for entry in fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten() {
        let own = entry.path();
        if let Some(place) = link::checkout_of(&own) {
            found.push((own, place));
        }
    }
    found
}
