//! Holds the changes of a chat that are to be reviewed: files with their diffs, ready to be shown.

use std::path::PathBuf;
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
    /// Computes the diffs of changed files; unchanged ones are taken from `before`. Slow.
    pub(crate) fn of(changes: Vec<FileChange>, before: &Self) -> Self {
        let files = changes.into_iter().map(|change| {
            let same = before.files.iter().find(|file| file.change == change);
            same.map_or_else(|| Arc::new(Changed::of(change)), Arc::clone)
        });
        Self { files: files.collect() }
    }

    pub(crate) fn files(&self) -> &[Arc<Changed>] {
        &self.files
    }

    /// How many lines were added and removed in all files.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let changes = || self.files.iter().map(|file| &file.change);
        (changes().map(|change| change.added).sum(), changes().map(|change| change.removed).sum())
    }
}

impl Changed {
    fn of(change: FileChange) -> Self {
        let diff = if change.binary { Diff::default() } else { change.diff() };
        Self { change, diff }
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

    pub(crate) fn file(verdict: Verdict, path: PathBuf) -> Self {
        Self { verdict, what: Some((path, ReviewScope::File)) }
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
