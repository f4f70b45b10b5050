//! Restores a checkpoint, and undoes a restore.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::apply::{AppliedChange, Conflict, PlannedChange};
use crate::entry::{ChangeSource, Changed, Entry, EntryKind, Origin, Seq};
use crate::node::Node;
use crate::open_changes::OpenChanges;
use crate::resolve_moves::resolve_moves;
use crate::state::Inner;
use crate::{Error, Journal};

/// The outcome of a restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restored {
    /// Its number, for undoing it.
    pub seq: Seq,
    /// The checkpoint that was created before.
    pub before: Seq,
    /// Files that have changed.
    pub changed: Vec<RestoredFile>,
    /// Files that were left alone.
    pub conflicts: Vec<Conflict>,
}

/// A file that has changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RestoredFile {
    /// Where it is now.
    pub path: PathBuf,
    /// Its old path if it was moved.
    pub from: Option<PathBuf>,
    /// Whether it is new.
    pub created: bool,
    /// Whether it was deleted.
    pub deleted: bool,
}

impl Journal {
    /// Restores every file that these sessions changed since a checkpoint: the one that restores it is
    /// the first, and then come those that worked for it. What the user and other sessions changed in
    /// between stays; where it cannot, the file is left alone and reported.
    ///
    /// # Errors
    ///
    /// There is no such checkpoint, no session is given, `git` fails, or the disk cannot be written.
    pub fn restore(
        &self,
        sessions: &[impl AsRef<str>],
        checkpoint: Seq,
    ) -> Result<Restored, Error> {
        self.with(|inner| {
            let known = inner.log.find(checkpoint);
            let is_one =
                known.is_some_and(|entry| matches!(entry.kind, EntryKind::Checkpoint { .. }));
            let Some(session) = sessions.first().filter(|_| is_one) else {
                return Err(Error::NoCheckpoint(checkpoint));
            };
            let is_of = |entry: &Entry| {
                sessions.iter().any(|session| session.as_ref() == entry.kind.session())
            };
            let since: Vec<Entry> = inner
                .log
                .entries()
                .iter()
                .filter(|entry| {
                    entry.seq > checkpoint
                        && matches!(entry.kind, EntryKind::Change(_))
                        && is_of(entry)
                })
                .cloned()
                .collect();
            let contents = inner.load(since.iter().flat_map(Entry::stored_nodes))?;
            let mut open = OpenChanges::default();
            for entry in &since {
                open.follow(entry.seq, &entry.kind, &contents, true);
            }
            let planned =
                |(at, open_file): (PathBuf, crate::open_changes::OpenFile)| PlannedChange {
                    to: open_file.origin.unwrap_or_else(|| at.clone()),
                    at,
                    now: open_file.now,
                    then: open_file.base,
                    touched: open_file.touched,
                };
            let changes = open.files.into_iter().map(planned).collect();
            let others = sessions[1..].iter().map(|other| other.as_ref().to_owned()).collect();
            let to = Target { entry: checkpoint, undoes: false, others };
            inner.restore(session.as_ref(), to, changes)
        })
    }

    /// Undoes a restore: every file is as it was before, and what was changed since stays. This can
    /// be undone, too.
    ///
    /// # Errors
    ///
    /// There is no such restore, `git` fails, or the disk cannot be written.
    pub fn undo_restore(&self, session: &str, restore: Seq) -> Result<Restored, Error> {
        self.with(|inner| {
            let known = inner.log.find(restore).map(|entry| &entry.kind);
            let Some(EntryKind::Restored { session: first, others, .. }) = known else {
                return Err(Error::NoRestore(restore));
            };
            let all = std::iter::once(first).chain(others);
            let others = all.filter(|other| *other != session).cloned().collect();
            let to = Target { entry: restore, undoes: true, others };
            let done: Vec<Entry> = inner
                .log
                .entries()
                .iter()
                .filter(|entry| entry.seq > restore && entry.is_of(restore))
                .cloned()
                .collect();
            let contents = inner.load(done.iter().flat_map(Entry::stored_nodes))?;
            let changes =
                done.iter().filter_map(|entry| PlannedChange::back(entry, &contents)).collect();
            inner.restore(session, to, changes)
        })
    }
}

impl Entry {
    fn is_of(&self, restore: Seq) -> bool {
        matches!(&self.kind, EntryKind::Change(change) if change.restore == Some(restore))
    }
}

/// What is restored.
struct Target {
    /// The checkpoint, or the restore that is undone.
    entry: Seq,
    undoes: bool,
    /// The sessions whose changes are taken back, other than the one that restores.
    others: Vec<String>,
}

impl Inner {
    fn restore(
        &mut self,
        session: &str,
        to: Target,
        changes: Vec<PlannedChange>,
    ) -> Result<Restored, Error> {
        let Target { entry: to, undoes, others } = to;
        let before = self.checkpoint(session, "", true)?.seq;
        let (applied, conflicts) = self.apply(resolve_moves(changes))?;
        let seq = self.log.next();
        let origin = Origin { session: session.to_owned(), ..Origin::default() };
        let mut happened =
            vec![EntryKind::Restored { session: session.to_owned(), to, undoes, before, others }];
        let mut changed = BTreeMap::new();
        for AppliedChange { planned, before, after } in applied {
            let is_there = before == after && !planned.moves();
            if is_there && planned.now == planned.then {
                continue;
            }
            let from = planned.moves().then(|| planned.at.clone());
            happened.push(EntryKind::Change(Changed {
                path: planned.to.clone(),
                from: from.clone(),
                before: before.as_ref().map(Node::stored),
                after: after.as_ref().map(Node::stored),
                restore: Some(seq),
                undoes: undoes.then_some(to),
                ..Changed::new(&origin, ChangeSource::Restore)
            }));
            // Somebody did it by hand before: it was written for the review alone.
            if is_there {
                continue;
            }
            let file = RestoredFile {
                path: planned.to.clone(),
                from,
                created: before.is_none(),
                deleted: after.is_none(),
            };
            changed.insert(planned.to, file);
        }
        self.append(happened)?;
        Ok(Restored { seq, before, changed: changed.into_values().collect(), conflicts })
    }
}
