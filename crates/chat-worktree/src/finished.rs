//! Finds out what became of a worktree that was removed.

use std::collections::HashSet;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use sha2::{Digest, Sha256};

use crate::git::private::GitDir;
use crate::location::Location;
use crate::snapshot::Snapshot;
use crate::status::ahead;
use crate::worktrees::Worktrees;
use crate::{Error, shadow};

/// A worktree that was removed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// What was stored of it before.
    pub snapshot: Snapshot,
    /// The branch that has all its commits, if it had any: it was merged into that.
    pub merged_into: Option<String>,
}

impl Worktrees {
    /// What became of the worktree that a path was in; none if no snapshot is left of it. Changes nothing.
    ///
    /// # Errors
    /// The snapshots cannot be read; it was cancelled.
    pub fn finished(&self, path: &Path, cancel: &AtomicBool) -> Result<Option<Finished>, Error> {
        let Ok(inside) = path.strip_prefix(&self.root) else { return Ok(None) };
        let folder = self.root.join(inside.components().take(2).collect::<PathBuf>());
        let mark = folder_mark(&folder);
        let is_of_it = |snapshot: &Snapshot| {
            snapshot.id.split_once('-').is_some_and(|(_, folder)| folder == mark)
        };
        let found = self.snapshots(cancel)?.into_iter().find(is_of_it);
        let finished = |snapshot: Snapshot| {
            // Where the repository does not tell, it is not said to be merged.
            let has_all = has_all(&snapshot, cancel).unwrap_or(false);
            let merged_into = snapshot.target.clone().filter(|_| has_all);
            Finished { snapshot, merged_into }
        };
        Ok(found.map(finished))
    }

    /// The marks of the folders that snapshots name; none where they cannot be read. Waits for nobody
    /// who holds them.
    pub(crate) fn stored_marks(&self, cancel: &AtomicBool) -> HashSet<String> {
        let ids = shadow::ids(&self.shadow, cancel).unwrap_or_else(|error| {
            tracing::warn!(%error, "the snapshots of worktrees cannot be listed");
            Vec::new()
        });
        ids.iter().filter_map(|id| id.split_once('-')).map(|(_, mark)| mark.to_owned()).collect()
    }
}

/// Identifies the folder of a worktree in the names of its snapshots.
pub fn folder_mark(folder: &Path) -> String {
    let hash = Sha256::digest(folder.as_os_str().as_bytes());
    format!("{:02x}{:02x}{:02x}{:02x}", hash[0], hash[1], hash[2], hash[3])
}

/// Whether the worktree had commits, and its target has all of them.
fn has_all(snapshot: &Snapshot, cancel: &AtomicBool) -> Result<bool, Error> {
    let (Some(target), Some(tip)) = (&snapshot.target, &snapshot.tip) else { return Ok(false) };
    if snapshot.commits == 0 {
        return Ok(false);
    }
    let git = GitDir::new(&Location::find(&snapshot.project)?, cancel)?;
    let Some(target) = git.branch(target, cancel)? else { return Ok(false) };
    Ok(ahead(&git, &target, tip, cancel)? == 0)
}
