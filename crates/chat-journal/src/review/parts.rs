//! Splits an answer to the changes of several sessions into parts, each about one of them.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{ReviewOutcome, ReviewScope};
use crate::apply::{Conflict, ConflictReason};
use crate::entry::{HunkId, Seq};
use crate::state::Inner;
use crate::{Error, Journal};

/// The part of an answer that is about one session's changes.
pub(super) struct AnswerPart {
    pub session: String,
    /// The number of the whole answer.
    pub number: Seq,
    pub wanted: Vec<(PathBuf, ReviewScope)>,
}

/// Applies a part of an answer, and adds the result to the whole.
type Act = fn(&mut Inner, &AnswerPart, &mut ReviewOutcome) -> Result<(), Error>;

/// What is wanted of a file of a session.
struct Wanted {
    session: String,
    path: PathBuf,
    part: ReviewScope,
    /// The entry that changed it last.
    last: Seq,
}

impl Journal {
    /// Answers to what these sessions changed in a file, or to everything.
    pub(super) fn answer(
        &self,
        sessions: &[impl AsRef<str>],
        what: Option<(&Path, &ReviewScope)>,
        act: Act,
    ) -> Result<ReviewOutcome, Error> {
        self.with(|inner| {
            let mut answer = ReviewOutcome::default();
            let mut wanted = Vec::new();
            for session in sessions.iter().map(AsRef::as_ref) {
                wanted.extend(inner.wanted(session, what)?);
            }
            if let Some((_, ReviewScope::Hunks(hunks))) = what
                && !wanted.is_empty()
            {
                let is_there = |hunk: &HunkId| {
                    let has = |one: &Wanted| matches!(&one.part, ReviewScope::Hunks(hunks) if hunks.contains(hunk));
                    wanted.iter().any(has)
                };
                answer.gone = hunks.iter().filter(|hunk| !is_there(hunk)).copied().collect();
                if !answer.gone.is_empty() {
                    return Ok(answer);
                }
            }
            let number = inner.log.next();
            let mut parts = parts(wanted, number).into_iter();
            while let Some(part) = parts.next() {
                let mut done = ReviewOutcome::default();
                match act(inner, &part, &mut done) {
                    Ok(()) => answer.add(done),
                    // What is done already must stay known, so that it can be undone.
                    Err(error) if answer.undo.is_some() => {
                        let left = std::iter::once(part).chain(parts).flat_map(|it| it.wanted);
                        answer.leave(left.map(|(path, _)| path), &error);
                        break;
                    }
                    Err(error) => return Err(error),
                }
            }
            Ok(answer)
        })
    }
}

impl ReviewOutcome {
    /// Adds the outcome of another part.
    fn add(&mut self, part: Self) {
        self.done.extend(part.done);
        self.conflicts.extend(part.conflicts);
        self.gone.extend(part.gone);
        self.undo = self.undo.or(part.undo);
    }

    /// Adds files that were left alone because of an error.
    fn leave(&mut self, paths: impl Iterator<Item = PathBuf>, error: &Error) {
        let left: BTreeSet<_> = paths.collect();
        self.conflicts.extend(left.into_iter().map(|path| Conflict {
            path,
            hunks: Vec::new(),
            reason: ConflictReason::Refused(error.to_string()),
        }));
    }
}

impl Inner {
    /// What a session has open of a file, or of everything. Of hunks those that are the session's, which
    /// may be none.
    fn wanted(
        &mut self,
        session: &str,
        what: Option<(&Path, &ReviewScope)>,
    ) -> Result<Vec<Wanted>, Error> {
        if matches!(what, Some((_, ReviewScope::By(by))) if by != session) {
            return Ok(Vec::new());
        }
        let files = &self.open_changes(session)?.files;
        let files = files.iter().filter(|(path, _)| what.is_none_or(|(one, _)| one == *path));
        let wanted = files.map(|(path, open_file)| {
            let part = match what {
                Some((_, ReviewScope::Hunks(hunks))) => {
                    let is_own = |id: &&HunkId| open_file.hunks.iter().any(|hunk| hunk.id == **id);
                    ReviewScope::Hunks(hunks.iter().filter(is_own).copied().collect())
                }
                Some((_, ReviewScope::File | ReviewScope::By(_))) | None => ReviewScope::File,
            };
            let (session, path) = (session.to_owned(), path.clone());
            Wanted { session, path, part, last: open_file.last }
        });
        Ok(wanted.collect())
    }
}

/// Orders what is wanted so that of changes to one file the newest comes first, and otherwise by sessions.
fn parts(wanted: Vec<Wanted>, number: Seq) -> Vec<AnswerPart> {
    let newer = |one: &Wanted| {
        wanted.iter().filter(|other| other.path == one.path && other.last > one.last).count()
    };
    let newest = |one: &Wanted| {
        let of_session = wanted.iter().filter(|other| other.session == one.session);
        of_session.map(|other| other.last).max()
    };
    let ranks: Vec<_> = wanted.iter().map(|one| (newer(one), Reverse(newest(one)))).collect();
    let mut ranked: Vec<_> = ranks.into_iter().zip(wanted).collect();
    // Those of a session stay in the order of their paths.
    ranked.sort_by_key(|(rank, _)| *rank);
    let mut parts: Vec<AnswerPart> = Vec::new();
    for (_, Wanted { session, path, part, .. }) in ranked {
        if matches!(&part, ReviewScope::Hunks(hunks) if hunks.is_empty()) {
            continue;
        }
        match parts.last_mut() {
            Some(last) if last.session == session => last.wanted.push((path, part)),
            _ => parts.push(AnswerPart { session, number, wanted: vec![(path, part)] }),
        }
    }
    parts
}
