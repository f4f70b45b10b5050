//! Applies changes to files by three-way merges: what was changed on disk in the meantime stays, or
//! the file is left alone.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

use chat_permission::path::Error as PathError;

use crate::entry::{Entry, EntryKind, HunkId};
use crate::node::{Node, State};
use crate::state::{Contents, Inner};
use crate::{Error, disk, merge};

/// Why a file was left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConflictReason {
    /// Somebody else changed the same lines, or a file that cannot be merged.
    Changed,
    /// Something else is at the path where the file should come back.
    Occupied,
    /// It cannot be written, or is no longer a file. The system's message, in English.
    Refused(String),
}

/// A file that was left alone. Nothing in it was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The file.
    pub path: PathBuf,
    /// Hunks that conflict with the file on disk, if they are known.
    pub hunks: Vec<HunkId>,
    /// Why.
    pub reason: ConflictReason,
}

/// A planned change of a file.
#[derive(Debug)]
pub struct PlannedChange {
    /// Its current path.
    pub at: PathBuf,
    /// Its new path.
    pub to: PathBuf,
    /// Its content if nobody else has changed it.
    pub now: State,
    /// The content that it should get.
    pub then: State,
    /// Whether somebody else is known to have changed it.
    pub touched: bool,
}

/// A change that was made, with the content before and after.
#[derive(Debug)]
pub struct AppliedChange {
    pub planned: PlannedChange,
    pub before: State,
    pub after: State,
}

impl PlannedChange {
    /// The plan that reverts a change.
    pub fn back(entry: &Entry, contents: &Contents) -> Option<Self> {
        let EntryKind::Change(change) = &entry.kind else { return None };
        Some(Self {
            at: change.path.clone(),
            to: change.from.clone().unwrap_or_else(|| change.path.clone()),
            now: contents.state(change.after),
            then: contents.state(change.before),
            touched: false,
        })
    }

    pub fn moves(&self) -> bool {
        self.at != self.to
    }
}

impl Inner {
    /// Makes changes. Both the old and the new contents are in the repository before anything is
    /// written.
    pub fn apply(
        &mut self,
        changes: Vec<PlannedChange>,
    ) -> Result<(Vec<AppliedChange>, Vec<Conflict>), Error> {
        let (mut planned, mut conflicts) = (Vec::new(), Vec::new());
        // Removals come before anything is created.
        let goes = |change: &&PlannedChange| !change.moves() && change.then.is_none();
        let free: HashSet<PathBuf> =
            changes.iter().filter(goes).map(|change| change.at.clone()).collect();
        for change in changes {
            match self.plan(&change, &free) {
                Ok((before, after)) => {
                    planned.push(AppliedChange { planned: change, before, after });
                }
                Err(reason) => {
                    conflicts.push(Conflict { path: change.at, hunks: Vec::new(), reason });
                }
            }
        }
        self.store(planned.iter().flat_map(|plan| plan.before.iter().chain(&plan.after)))?;
        // What is removed first may be where a folder should be.
        planned.sort_by_key(|plan| plan.after.is_some());
        let mut applied = Vec::new();
        // The user saves before or after this, never during it.
        let direct_edits = Arc::clone(&self.direct_edits);
        let _alone = direct_edits.lock().unwrap_or_else(PoisonError::into_inner);
        for plan in planned {
            match self.carry_out(&plan) {
                Ok(()) => applied.push(plan),
                Err(error) => {
                    let reason = reason(&error);
                    conflicts.push(Conflict { path: plan.planned.at, hunks: Vec::new(), reason });
                }
            }
        }
        Ok((applied, conflicts))
    }

    fn plan(
        &self,
        change: &PlannedChange,
        free: &HashSet<PathBuf>,
    ) -> Result<(State, State), ConflictReason> {
        let look = |path: &Path| disk::read(&self.project, path).map_err(|error| reason(&error));
        let before = look(&change.at)?;
        if change.touched {
            return Err(ConflictReason::Changed);
        }
        let after = merge::states(&change.now, &before, &change.then)
            .map_err(|_| ConflictReason::Changed)?;
        if change.moves() && !free.contains(&change.to) && look(&change.to)?.is_some() {
            return Err(ConflictReason::Occupied);
        }
        Ok((before, after))
    }

    fn carry_out(&self, plan: &AppliedChange) -> Result<(), PathError> {
        let AppliedChange { planned, before, after } = plan;
        if !planned.moves() {
            return disk::write(&self.project, &planned.at, before, after);
        }
        // The new file is written before the old one is removed: whatever happens in between, one
        // exists.
        disk::write(&self.project, &planned.to, &None, after)?;
        disk::write(&self.project, &planned.at, before, &None).inspect_err(|_| {
            // Restores the old state. If even this fails, there are two files.
            let _ = disk::write(&self.project, &planned.to, after, &None::<Node>);
        })
    }
}

fn reason(error: &PathError) -> ConflictReason {
    match error {
        PathError::Changed(_) | PathError::NotAFile(_) => ConflictReason::Changed,
        PathError::Exists(_) => ConflictReason::Occupied,
        other => ConflictReason::Refused(other.to_string()),
    }
}
