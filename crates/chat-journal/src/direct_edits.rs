//! Records edits that Natter itself makes to single files, by tools and in the editor: one at a
//! time, so that they are not attributed to a command, and nothing that was written in between is
//! overwritten.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use crate::entry::{ChangeSource, Changed, EntryKind, Origin};
use crate::node::Node;
use crate::record::Change;
use crate::state::Inner;
use crate::{Error, Journal, disk};

/// The edits that are not in the log yet. Locked during an edit. Lock it after the journal itself,
/// never before.
pub type DirectEdits = Mutex<Vec<DirectEdit>>;

/// One edit.
#[derive(Clone, Debug)]
pub struct DirectEdit {
    origin: Origin,
    by: ChangeSource,
    change: Change,
    /// The last known content of a file whose later changes the user overwrote.
    seen: Option<Arc<[u8]>>,
}

impl Journal {
    /// What is at a path. A folder counts as nothing.
    ///
    /// # Errors
    ///
    /// It cannot be read, or there is a link on the way.
    pub fn read(&self, path: &Path) -> Result<Option<Node>, Error> {
        Ok(disk::read(self.project(), path)?)
    }

    /// Makes sure that what is at a path can be restored later, whatever happens to it.
    ///
    /// # Errors
    ///
    /// It cannot be read, `git` fails, or the disk cannot be written.
    pub fn keep(&self, path: &Path) -> Result<(), Error> {
        self.with(|inner| {
            let found = disk::read(&inner.project, path)?;
            inner.store(found.iter())
        })
    }

    /// Runs a tool's action on a file, or (with `from`) a move, and remembers whose change it is;
    /// also returns whether the file changed. A failed move is not remembered. It waits only for
    /// actions on other files: [`note`](Self::note) writes it to the log.
    ///
    /// `act` must not call this journal.
    ///
    /// # Errors
    ///
    /// What is there cannot be read. Then nothing was done.
    pub fn by_tool<T, E>(
        &self,
        origin: &Origin,
        from: Option<&Path>,
        path: &Path,
        act: impl FnOnce() -> Result<T, E>,
    ) -> Result<(Result<T, E>, bool), Error> {
        let mut direct_edits = self.direct_edits().lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.read(from.unwrap_or(path))?;
        let came = act();
        let is_kept = from.is_none() || came.is_ok();
        let done = is_kept.then(|| self.done(from, path, before)).flatten();
        let is_another = done.is_some();
        let (origin, by) = (origin.clone(), ChangeSource::Tool);
        direct_edits.extend(done.map(|change| DirectEdit { origin, by, change, seen: None }));
        Ok((came, is_another))
    }

    /// The same for what the user does to a file in Natter, which is always allowed. It belongs to
    /// no session, and is not attributed to a running command.
    pub fn by_person<T>(&self, path: &Path, act: impl FnOnce() -> T) -> (T, bool) {
        self.by_person_who_saw(path, None, act)
    }

    /// The same if the user decides to replace the file's changes since they last read it as
    /// `seen`: what sessions changed since then, and nobody reviewed, counts as rejected.
    pub fn overwritten_by_person<T>(
        &self,
        path: &Path,
        seen: &[u8],
        act: impl FnOnce() -> T,
    ) -> (T, bool) {
        self.by_person_who_saw(path, Some(seen.into()), act)
    }

    fn by_person_who_saw<T>(
        &self,
        path: &Path,
        seen: Option<Arc<[u8]>>,
        act: impl FnOnce() -> T,
    ) -> (T, bool) {
        let mut direct_edits = self.direct_edits().lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.read(path);
        let came = act();
        let done = before.ok().and_then(|before| self.done(None, path, before));
        let is_another = done.is_some();
        let (origin, by) = (Origin::default(), ChangeSource::Person);
        direct_edits.extend(done.map(|change| DirectEdit { origin, by, change, seen }));
        (came, is_another)
    }

    /// Records the change of a file that had this content before.
    fn done(&self, from: Option<&Path>, path: &Path, before: Option<Node>) -> Option<Change> {
        let after = self.read(path).inspect_err(|error| {
            tracing::error!(%error, "what was changed cannot be read, and is not kept");
        });
        let (from, path) = (from.map(Path::to_owned), path.to_owned());
        Some(Change { path, from, before, after: after.ok()? }).filter(Change::is_one)
    }

    /// Writes the edits to the log.
    ///
    /// # Errors
    ///
    /// `git` fails, or the disk cannot be written: then it is tried again with the next call of the
    /// journal.
    pub fn note(&self) -> Result<(), Error> {
        self.with(Inner::note)
    }
}

impl Inner {
    /// Writes all edits so far to the log; waits for one that is in progress.
    pub fn note(&mut self) -> Result<(), Error> {
        let direct_edits = std::sync::Arc::clone(&self.direct_edits);
        let mut direct_edits = direct_edits.lock().unwrap_or_else(PoisonError::into_inner);
        while !direct_edits.is_empty() {
            // Overwriting is judged by everything that came before it.
            let plain = direct_edits
                .iter()
                .position(|done| done.seen.is_some())
                .unwrap_or(direct_edits.len());
            let (next, mut happened) = match direct_edits.first() {
                Some(DirectEdit { change, seen: Some(seen), .. }) => {
                    (&direct_edits[..1], self.overwritten(change, seen)?)
                }
                _ => (&direct_edits[..plain], Vec::new()),
            };
            let changes = || next.iter().map(|done| &done.change);
            self.store(changes().flat_map(|change| change.before.iter().chain(&change.after)))?;
            let kept = next.iter().map(|done| done.change.stored(&done.origin, done.by));
            happened.extend(kept.map(EntryKind::Change));
            let count = next.len();
            self.append(happened)?;
            direct_edits.drain(..count);
        }
        Ok(())
    }

    /// Rejects the unreviewed changes of sessions to a file since somebody saw this content.
    fn overwritten(&mut self, change: &Change, seen: &[u8]) -> Result<Vec<EntryKind>, Error> {
        let sessions: BTreeSet<String> = {
            let changes = self.log.entries().iter().filter_map(|entry| match &entry.kind {
                EntryKind::Change(change) => Some(change),
                _ => None,
            });
            let here =
                changes.filter(|one| one.path == change.path && one.by != ChangeSource::Person);
            here.map(|one| one.origin.session.clone()).collect()
        };
        let mut happened = Vec::new();
        for session in sessions {
            let open = self.open_changes(&session)?;
            let Some(mut open_file) = open.files.get(&change.path).cloned() else { continue };
            open_file.outside(&change.before);
            let Some((after, hunks)) = open_file.as_seen(seen) else { continue };
            self.store(after.iter())?;
            let origin = Origin { session, ..Origin::default() };
            happened.push(EntryKind::Change(Changed {
                path: change.path.clone(),
                before: change.before.as_ref().map(Node::stored),
                after: after.as_ref().map(Node::stored),
                hunks: Some(hunks),
                ..Changed::new(&origin, ChangeSource::Reject)
            }));
        }
        Ok(happened)
    }
}
