//! Undoes an answer: what was rejected is restored, and what was accepted is open for review again.

use std::path::PathBuf;

use super::ReviewOutcome;
use crate::apply::{AppliedChange, Conflict, ConflictReason, PlannedChange};
use crate::entry::{ChangeSource, Changed, Entry, EntryKind, HunkId, Origin, Seq};
use crate::node::Node;
use crate::open_changes::{OpenChanges, OpenFile};
use crate::resolve_moves::resolve_moves;
use crate::state::Inner;
use crate::{Error, Journal, disk, merge};

/// What was accepted in a file.
type Accepted = (PathBuf, Option<Vec<HunkId>>);

impl Journal {
    /// Undoes an answer, by [its number](ReviewOutcome::undo). What was rejected is restored on disk, and
    /// what others changed since stays; a file for which that is impossible is left alone and
    /// reported. What was accepted is open for review again. A second call does nothing.
    ///
    /// # Errors
    ///
    /// There is no such answer of these sessions (any more), `git` fails, or the disk cannot be
    /// written.
    pub fn undo(&self, sessions: &[impl AsRef<str>], answer: Seq) -> Result<ReviewOutcome, Error> {
        self.with(|inner| {
            let is_of = |entry: &&Entry| {
                let session = entry.kind.session();
                entry.kind.answer() == Some(answer)
                    && sessions.iter().any(|one| one.as_ref() == session)
            };
            let given: Vec<Entry> = inner.log.entries().iter().filter(is_of).cloned().collect();
            if given.is_empty() {
                return Err(Error::NoAnswer(answer));
            }
            let mut undone = ReviewOutcome::default();
            // Where several sessions changed a file, the last one that was answered comes first.
            let same = |one: &Entry, other: &Entry| one.kind.session() == other.kind.session();
            for part in given.chunk_by(same).rev() {
                inner.undo(answer, part, &mut undone)?;
            }
            undone.conflicts.sort_by(|one, other| one.path.cmp(&other.path));
            Ok(undone)
        })
    }
}

impl Inner {
    /// Undoes the part of an answer that is about one session's changes.
    fn undo(
        &mut self,
        number: Seq,
        given: &[Entry],
        answer: &mut ReviewOutcome,
    ) -> Result<(), Error> {
        let Some(session) = given.first().map(|entry| entry.kind.session()) else { return Ok(()) };
        let mut open = self.open_changes(session)?.clone();
        let mut happened = self.bring_back(session, number, given, answer)?;
        let accepted = given.iter().filter_map(|entry| match &entry.kind {
            EntryKind::Accepted { path, hunks, .. } => Some((path.clone(), hunks.clone())),
            _ => None,
        });
        let accepted: Vec<Accepted> = accepted.collect();
        happened.extend(self.reopen(session, number, &accepted, &open, answer)?);
        self.follow(&mut open, &mut happened)?;
        self.append(happened)
    }

    /// Restores what was rejected.
    fn bring_back(
        &mut self,
        session: &str,
        number: Seq,
        given: &[Entry],
        answer: &mut ReviewOutcome,
    ) -> Result<Vec<EntryKind>, Error> {
        let contents = self.load(given.iter().flat_map(Entry::stored_nodes))?;
        let changes =
            given.iter().filter_map(|entry| PlannedChange::back(entry, &contents)).collect();
        let (applied, conflicts) = self.apply(resolve_moves(changes))?;
        answer.conflicts.extend(conflicts);
        let origin = Origin { session: session.to_owned(), ..Origin::default() };
        let mut happened = Vec::new();
        for AppliedChange { planned, before, after } in applied {
            answer.done.push(planned.to.clone());
            if before == after && !planned.moves() {
                continue;
            }
            let from = planned.moves().then(|| planned.at.clone());
            happened.push(EntryKind::Change(Changed {
                path: planned.to,
                from,
                before: before.as_ref().map(Node::stored),
                after: after.as_ref().map(Node::stored),
                undoes: Some(number),
                ..Changed::new(&origin, ChangeSource::Undo)
            }));
        }
        Ok(happened)
    }

    /// Reopens what was accepted.
    fn reopen(
        &mut self,
        session: &str,
        number: Seq,
        accepted: &[Accepted],
        open: &OpenChanges,
        answer: &mut ReviewOutcome,
    ) -> Result<Vec<EntryKind>, Error> {
        if accepted.is_empty() {
            return Ok(Vec::new());
        }
        let before = self.fold_until(session, number)?;
        let mut happened = Vec::new();
        for (path, hunks) in accepted {
            let Some(open_file) = before.files.get(path) else { continue };
            let now = open.files.get(path);
            let Some(open) = self.as_open(path, open_file, hunks.as_deref(), now) else {
                let (path, hunks) = (path.clone(), hunks.clone().unwrap_or_default());
                answer.conflicts.push(Conflict { path, hunks, reason: ConflictReason::Changed });
                continue;
            };
            answer.done.push(path.clone());
            if now.is_some_and(|now| (&now.base, &now.origin) == (&open.base, &open.origin)) {
                continue;
            }
            // The result of a merge may not be stored yet.
            self.store(open.base.iter().chain(&open.now))?;
            happened.push(EntryKind::Reopened {
                session: session.to_owned(),
                path: path.clone(),
                origin: open.origin,
                base: open.base.as_ref().map(Node::stored),
                now: open.now.as_ref().map(Node::stored),
                touched: open.touched,
            });
        }
        Ok(happened)
    }

    /// What is open at a path once the accepted part is open again; none if it has changed too much
    /// since.
    fn as_open(
        &self,
        path: &std::path::Path,
        before: &OpenFile,
        hunks: Option<&[HunkId]>,
        now: Option<&OpenFile>,
    ) -> Option<OpenFile> {
        let mut open = before.clone();
        let Some(now) = now else {
            let found = disk::read(&self.project, path).ok()?;
            return (found.is_some() == open.now.is_some()).then_some(open);
        };
        let accepted = hunks.map_or_else(|| before.now.clone(), |hunks| before.with(hunks));
        open.base = merge::states(&accepted, &now.base, &before.base).ok()?;
        open.now.clone_from(&now.now);
        open.origin = now.origin.clone().or(open.origin);
        open.touched |= now.touched;
        Some(open)
    }
}
