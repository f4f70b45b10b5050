//! Accepts and rejects changes.

use super::parts::AnswerPart;
use super::{ReviewOutcome, ReviewScope};
use crate::Error;
use crate::apply::{AppliedChange, PlannedChange};
use crate::entry::{ChangeSource, Changed, EntryKind, HunkId, Origin};
use crate::merge;
use crate::node::Node;
use crate::open_changes::{OpenChanges, OpenFile};
use crate::state::Inner;

/// The hunks of a part, unless it is the whole file.
fn hunks(open_file: &OpenFile, part: &ReviewScope) -> Option<Vec<HunkId>> {
    let ReviewScope::Hunks(wanted) = part else { return None };
    // A file that was created or deleted has a single hunk.
    let whole = open_file.base.is_none() || open_file.now.is_none();
    (!whole).then(|| wanted.clone())
}

impl Inner {
    pub(super) fn accept(
        &mut self,
        given: &AnswerPart,
        answer: &mut ReviewOutcome,
    ) -> Result<(), Error> {
        let mut open = self.open_changes(&given.session)?.clone();
        let mut happened = Vec::new();
        for (path, part) in &given.wanted {
            let Some(open_file) = open.files.get(path) else { continue };
            answer.done.push(path.clone());
            happened.push(EntryKind::Accepted {
                session: given.session.clone(),
                path: path.clone(),
                hunks: hunks(open_file, part),
                answer: Some(given.number),
                settled: false,
            });
        }
        self.log_answer(given, answer, &mut open, happened)
    }

    /// Logs a part of an answer.
    fn log_answer(
        &mut self,
        given: &AnswerPart,
        answer: &mut ReviewOutcome,
        open: &mut OpenChanges,
        mut happened: Vec<EntryKind>,
    ) -> Result<(), Error> {
        if !happened.is_empty() {
            answer.undo = Some(given.number);
        }
        self.follow(open, &mut happened)?;
        self.append(happened)
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

    pub(super) fn reject(
        &mut self,
        given: &AnswerPart,
        answer: &mut ReviewOutcome,
    ) -> Result<(), Error> {
        let mut open = self.open_changes(&given.session)?.clone();
        let (mut changes, mut named) = (Vec::new(), Vec::new());
        for (path, part) in &given.wanted {
            let Some(open_file) = open.files.get(path) else { continue };
            let hunks = hunks(open_file, part);
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
        let mut happened = Vec::new();
        let origin = Origin { session: given.session.clone(), ..Origin::default() };
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
                answer: Some(given.number),
                ..Changed::new(&origin, ChangeSource::Reject)
            }));
            answer.done.push(planned.at);
        }
        for mut conflict in conflicts {
            let asked = named.iter().find(|(path, _)| *path == conflict.path);
            if let (Some(open_file), Some((_, asked))) = (open.files.get(&conflict.path), asked) {
                conflict.hunks = self.contested(open_file, &conflict.path, asked.as_deref());
            }
            answer.conflicts.push(conflict);
        }
        self.log_answer(given, answer, &mut open, happened)
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
