//! Holds the changes of a chat that are to be reviewed: files with their diffs, ready to be shown.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_core::review::diff::Diff;
use chat_core::review::{FileChange, HunkId, ReviewScope};

/// All changes of a chat to review. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    files: Vec<Arc<Changed>>,
}

/// A file with its diff.
#[derive(Debug)]
pub struct Changed {
    pub(crate) change: FileChange,
    pub(crate) diff: Diff,
    /// The name of the agent that changed it; none for the chat itself.
    pub(crate) agent: Option<String>,
}

/// The user's answer to changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Keep them.
    Accept,
    /// Undo them.
    Reject,
}

/// An answer to some changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewAction {
    /// The user's answer.
    pub verdict: Verdict,
    /// The file and the part of it; none means all changes.
    pub what: Option<(PathBuf, ReviewScope)>,
}

impl Listing {
    /// Computes the diffs of changed files; unchanged ones are taken from `before`. `agent` names who a
    /// session is; none for the chat itself. Slow.
    pub(crate) fn of(
        changes: Vec<FileChange>,
        before: &Self,
        agent: impl Fn(&str) -> Option<String>,
    ) -> Self {
        let files = changes.into_iter().map(|change| {
            let agent = agent(&change.session);
            let is_same = |file: &&Arc<Changed>| file.change == change && file.agent == agent;
            let same = before.files.iter().find(is_same).map(Arc::clone);
            same.unwrap_or_else(|| Arc::new(Changed::of(change, agent)))
        });
        Self { files: files.collect() }
    }

    pub(crate) fn files(&self) -> &[Arc<Changed>] {
        &self.files
    }

    /// How many files were changed: one that several agents changed counts once.
    pub(crate) fn count(&self) -> usize {
        let paths: HashSet<_> = self.files.iter().map(|file| &file.change.path).collect();
        paths.len()
    }

    /// The part of a file's changes that is shown with it: all, unless another agent changed it, too.
    pub(crate) fn part(&self, file: &Changed) -> ReviewScope {
        let is_other = |other: &Arc<Changed>| {
            other.change.path == file.change.path && other.change.session != file.change.session
        };
        if self.files.iter().any(is_other) {
            ReviewScope::By(file.change.session.clone())
        } else {
            ReviewScope::File
        }
    }

    /// How many lines were added and removed in all files.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let changes = || self.files.iter().map(|file| &file.change);
        (changes().map(|change| change.added).sum(), changes().map(|change| change.removed).sum())
    }
}

impl Changed {
    fn of(change: FileChange, agent: Option<String>) -> Self {
        let diff = if change.binary { Diff::default() } else { change.diff() };
        Self { change, diff, agent }
    }

    /// Tells it from others: several agents may have changed a file.
    pub(crate) fn key(&self) -> (&Path, &str) {
        (&self.change.path, &self.change.session)
    }

    /// Whether its changes can be answered one by one.
    pub(crate) fn has_hunks(&self) -> bool {
        !self.change.hunks.is_empty() && self.change.hunks.len() == self.diff.changes.len()
    }
}

impl ReviewAction {
    pub(crate) fn all(verdict: Verdict) -> Self {
        Self { verdict, what: None }
    }

    pub(crate) fn file(verdict: Verdict, path: PathBuf, part: ReviewScope) -> Self {
        Self { verdict, what: Some((path, part)) }
    }

    pub(crate) fn hunk(verdict: Verdict, path: PathBuf, hunk: HunkId) -> Self {
        Self { verdict, what: Some((path, ReviewScope::Hunks(vec![hunk]))) }
    }
}

#[cfg(test)]
impl Listing {
    pub(super) fn with(files: Vec<Arc<Changed>>) -> Self {
        Self { files }
    }
}
