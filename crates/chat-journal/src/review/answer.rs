//! Accepts and rejects changes.

use std::path::PathBuf;

use super::{ReviewOutcome, ReviewScope};
use crate::Error;
use crate::apply::{AppliedChange, PlannedChange};
use crate::entry::{ChangeSource, Changed, EntryKind, HunkId, Origin};
use crate::merge;
use crate::node::Node;
use crate::open_changes::{OpenChanges, OpenFile};
use crate::state::Inner;

/// The hunks of a part, unless it is the whole file; `Err` lists those that no longer exist.
fn hunks(open_file: &OpenFile, part: &ReviewScope) -> Result<Option<Vec<HunkId>>, Vec<HunkId>> {
    let ReviewScope::Hunks(wanted) = part else { return Ok(None) };
    let known = |id: &HunkId| open_file.hunks.iter().any(|hunk| hunk.id == *id);
    let gone: Vec<HunkId> = wanted.iter().filter(|id| !known(id)).copied().collect();
    if !gone.is_empty() {
        return Err(gone);
    }
    // A file that was created or deleted has a single hunk.
    let whole = open_file.base.is_none() || open_file.now.is_none();
    Ok((!whole).then(|| wanted.clone()))
}

impl Inner {
    pub fn accept(
        &mut self,
        session: &str,
        wanted: &[(PathBuf, ReviewScope)],
    ) -> Result<ReviewOutcome, Error> {
        let mut open = self.open_changes(session)?.clone();
        let mut answer = ReviewOutcome::default();
        let mut happened = Vec::new();
        let number = self.log.next();
        for (path, part) in wanted {
            let Some(open_file) = open.files.get(path) else { continue };
            match hunks(open_file, part) {
                Err(gone) => answer.gone.extend(gone),
                Ok(hunks) => {
                    let (session, path) = (session.to_owned(), path.clone());
                    answer.done.push(path.clone());
                    let (answer, settled) = (Some(number), false);
                    happened.push(EntryKind::Accepted { session, path, hunks, answer, settled });
                }
            }
        }
        answer.undo = (!happened.is_empty()).then_some(number);
        self.follow(&mut open, &mut happened)?;
        self.append(happened)?;
        Ok(answer)
    }

    /// Applies entries that are about to be logged, and marks those that leave nothing open.
    pub(super) fn follow(
        &mut self,
        open: &mut OpenChanges,
        happened: &mut [EntryKind],
    ) -> Result<(), Error> {
        let contents =
            self.load(happened.iter().flat_map(EntryKind::stored_nodes).collect::<Vec<_>>())?;
        for (seq, what) in (self.log.next()..).zip(happened.iter()) {
            open.follow(seq, what, &contents, false);
        }
        if open.files.is_empty()
            && let Some(
                EntryKind::Accepted { settled, .. } | EntryKind::Change(Changed { settled, .. }),
            ) = happened.last_mut()
        {
            *settled = true;
        }
        Ok(())
    }

    pub fn reject(
        &mut self,
        session: &str,
        wanted: &[(PathBuf, ReviewScope)],
    ) -> Result<ReviewOutcome, Error> {
        let mut open = self.open_changes(session)?.clone();
        let mut answer = ReviewOutcome::default();
        let (mut changes, mut named) = (Vec::new(), Vec::new());
        for (path, part) in wanted {
            let Some(open_file) = open.files.get(path) else { continue };
            let hunks = match hunks(open_file, part) {
                Err(gone) => {
                    answer.gone.extend(gone);
                    continue;
                }
                Ok(hunks) => hunks,
            };
            let (then, to) = match &hunks {
                Some(hunks) => (open_file.without(hunks), path.clone()),
                None => (
                    open_file.base.clone(),
                    open_file.origin.clone().unwrap_or_else(|| path.clone()),
                ),
            };
            named.push((path.clone(), hunks));
            changes.push(PlannedChange {
                at: path.clone(),
                to,
                now: open_file.now.clone(),
                then,
                touched: open_file.base.is_none() && open_file.touched,
            });
        }
        let (applied, conflicts) = self.apply(changes)?;
        let number = self.log.next();
        let mut happened = Vec::new();
        let origin = Origin { session: session.to_owned(), ..Origin::default() };
        for AppliedChange { planned, before, after } in applied {
            let from = planned.moves().then(|| planned.at.clone());
            let hunks = named.iter().find(|(path, _)| *path == planned.at);
            let hunks = hunks.and_then(|(_, hunks)| hunks.clone());
            happened.push(EntryKind::Change(Changed {
                path: planned.to,
                from,
                before: before.as_ref().map(Node::stored),
                after: after.as_ref().map(Node::stored),
                hunks,
                answer: Some(number),
                ..Changed::new(&origin, ChangeSource::Reject)
            }));
            answer.done.push(planned.at);
        }
        answer.undo = (!happened.is_empty()).then_some(number);
        for mut conflict in conflicts {
            let asked = named.iter().find(|(path, _)| *path == conflict.path);
            if let (Some(open_file), Some((_, asked))) = (open.files.get(&conflict.path), asked) {
                conflict.hunks = self.contested(open_file, &conflict.path, asked.as_deref());
            }
            answer.conflicts.push(conflict);
        }
        self.follow(&mut open, &mut happened)?;
        self.append(happened)?;
        Ok(answer)
    }

    /// The hunks that cannot be undone separately.
    fn contested(
        &self,
        open_file: &OpenFile,
        path: &std::path::Path,
        asked: Option<&[HunkId]>,
    ) -> Vec<HunkId> {
        let Ok(found) = crate::disk::read(&self.project, path) else { return Vec::new() };
        let asked = |id: &HunkId| asked.is_none_or(|asked| asked.contains(id));
        let all = open_file.hunks.iter().map(|hunk| hunk.id).filter(asked);
        all.filter(|id| merge::states(&open_file.now, &found, &open_file.without(&[*id])).is_err())
            .collect()
    }
}
