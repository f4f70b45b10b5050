//! Reports rejected changes to the model that made them, each in the direction in which it was
//! made.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use super::{FileKind, Rejection};
use crate::diff::{self, changed, split};
use crate::entry::{ChangeSource, Changed, Entry, EntryKind, Seq};
use crate::node::{Node, State};
use crate::state::{Contents, Inner};
use crate::{Error, Journal, log};

impl Journal {
    /// What the user took back of the changes of these sessions from a moment on (milliseconds since 1970), the oldest first,
    /// by rejecting or by restoring; and the moment until which that is: what they reject later is from then on.
    /// What they took back and wanted after all since then is left out; what they had taken back before and wanted
    /// after all is told as that. A restore to before a message counts only where `is_said` knows that message:
    /// where the conversation went back too, the changes were never made in it.
    ///
    /// # Errors
    /// `git` fails, or the disk says no.
    pub fn rejections(
        &self,
        sessions: &[impl AsRef<str>],
        since: u64,
        is_said: impl Fn(&str) -> bool,
    ) -> Result<(Vec<Rejection>, u64), Error> {
        self.with(|inner| {
            let newest = inner.log.entries().last().map_or(0, |newest| newest.at);
            let sessions: Vec<_> = sessions.iter().map(AsRef::as_ref).collect();
            let rejections = inner.rejections(&sessions, since, &is_said)?;
            Ok((rejections, log::now().max(newest + 1)))
        })
    }
}

/// Identifies a place that the session changed, by a hash of the file's path and of the lines
/// before and after.
type RegionHash = u64;

/// A place of a file that the session changed.
#[derive(Clone)]
struct ChangedRegion {
    mark: RegionHash,
    /// The hash of the change that undoes this one.
    reverse: RegionHash,
    /// Its lines; none if the whole file is a single place.
    lines: Option<diff::Changed>,
}

impl ChangedRegion {
    fn new<T: Hash>(path: &Path, old: T, new: T, lines: Option<diff::Changed>) -> Self {
        let mark = |one: &T, other: &T| {
            let mut hasher = DefaultHasher::new();
            (path, one, other).hash(&mut hasher);
            hasher.finish()
        };
        Self { mark: mark(&old, &new), reverse: mark(&new, &old), lines }
    }
}

/// A change of a file that the user undid or restored, in the direction in which the session made
/// it.
struct Withdrawal {
    /// The answer or the restore that it belongs to.
    act: Option<Seq>,
    /// The path on disk where it happened.
    at: PathBuf,
    /// The file's path in the session.
    path: PathBuf,
    kind: FileKind,
    old: State,
    new: State,
    regions: Vec<ChangedRegion>,
    /// Its effect on how often each place is undone.
    effect: Vec<(RegionHash, i32)>,
    is_undone: bool,
}

/// How often a place is undone.
#[derive(Clone, Copy, Default)]
struct Count {
    /// As reported to the model.
    reported: i32,
    now: i32,
}

impl Withdrawal {
    /// `old` and `new` are the session's versions, whatever the entry did to the file.
    fn new(change: &Changed, path: PathBuf, from: Option<PathBuf>, old: State, new: State) -> Self {
        let kind = match (&old, &new, from) {
            (Some(_), Some(_), Some(from)) => FileKind::Moved { from },
            (None, ..) => FileKind::Created,
            (_, None, _) => FileKind::Deleted,
            _ => FileKind::Modified,
        };
        let mut regions = Vec::new();
        let is_moved = matches!(kind, FileKind::Moved { .. });
        match (&old, &new) {
            (Some(old), Some(new)) if !is_moved && old.mode == new.mode && is_text(old, new) => {
                let (old, new) = (split(&old.bytes), split(&new.bytes));
                regions.extend(changed(&old, &new).into_iter().map(|part| {
                    let (old, new) = (&old[part.old.clone()], &new[part.new.clone()]);
                    ChangedRegion::new(&path, old, new, Some(part))
                }));
            }
            _ if old != new || is_moved => {
                let whole =
                    |state: &State| state.as_ref().map(|node| (node.mode, node.bytes.clone()));
                regions.push(ChangedRegion::new(&path, whole(&old), whole(&new), None));
            }
            _ => {}
        }
        let act = change.answer.or(change.restore);
        let at = change.path.clone();
        Self { act, at, path, kind, old, new, regions, effect: Vec::new(), is_undone: false }
    }

    /// The report about these places.
    fn rejection(&self, regions: &[&ChangedRegion], undone: bool) -> Rejection {
        let bytes = |state: &State| match state {
            None => Some(Vec::new()),
            Some(node) => node.is_text().then(|| node.bytes.to_vec()),
        };
        let diff = match (bytes(&self.old), bytes(&self.new)) {
            (Some(old), Some(new)) => {
                let parts = regions.iter().map(|region| region.lines.as_ref());
                let parts: Option<Vec<&diff::Changed>> = parts.collect();
                let new = parts.map_or_else(|| new.clone(), |parts| with(&old, &new, &parts));
                diff::unified(&old, &new)
            }
            _ => String::new(),
        };
        Rejection { path: self.path.clone(), kind: self.kind.clone(), diff, undone }
    }
}

fn is_text(old: &Node, new: &Node) -> bool {
    old.is_text() && new.is_text()
}

/// The old text with some of the changes that lead to the new one.
fn with(old: &[u8], new: &[u8], parts: &[&diff::Changed]) -> Vec<u8> {
    let (old, new) = (split(old), split(new));
    let (mut text, mut at) = (Vec::<&[u8]>::new(), 0);
    for part in parts {
        text.extend(&old[at..part.old.start]);
        text.extend(&new[part.new.clone()]);
        at = part.old.end;
    }
    text.extend(&old[at..]);
    text.concat()
}

/// What was undone and restored, entry by entry.
#[derive(Default)]
struct Ledger {
    withdrawals: Vec<Withdrawal>,
    counts: HashMap<RegionHash, Count>,
}

impl Ledger {
    fn follow(&mut self, change: &Changed, before: State, after: State) {
        let path = change.path.clone();
        let is_undone = |one: &&mut Withdrawal| {
            change.undoes.is_some() && one.act == change.undoes && one.is_at(change)
        };
        let (mut is_known, mut effect) = (false, Vec::new());
        for undone in self.withdrawals.iter_mut().filter(is_undone) {
            is_known = true;
            // Exactly what that one did, whatever else has changed in the same lines since. Files
            // that swapped paths are restored one by one, but count once.
            if !std::mem::replace(&mut undone.is_undone, true) {
                effect.extend(undone.effect.iter().map(|(mark, count)| (*mark, -count)));
            }
        }
        if is_known {
            let back = Withdrawal::new(change, path, None, before, after);
            return self.add(Withdrawal { regions: Vec::new(), effect, ..back });
        }
        if change.by == ChangeSource::Undo || change.undoes.is_some() {
            // The model was already told that it is gone.
            let mut back = Withdrawal::new(change, path, change.from.clone(), before, after);
            for region in &back.regions {
                let count = self.counts.entry(region.mark).or_default();
                if count.now <= 0 {
                    count.reported += 1;
                    count.now += 1;
                }
            }
            back.effect = back.regions.iter().map(|region| (region.mark, -1)).collect();
            return self.add(back);
        }
        let (path, from) = match &change.from {
            Some(from) => (from.clone(), Some(path)),
            None => (path, None),
        };
        let mut gone = Withdrawal::new(change, path, from, after, before);
        if change.by == ChangeSource::Restore {
            // What had been rejected since the checkpoint is there again.
            let is_gone =
                |mark: &RegionHash| self.counts.get(mark).is_some_and(|count| count.now > 0);
            let (back, left): (Vec<_>, Vec<_>) =
                gone.regions.into_iter().partition(|region| is_gone(&region.reverse));
            gone.effect = back.iter().map(|region| (region.reverse, -1)).collect();
            gone.regions = left;
        }
        gone.effect.extend(gone.regions.iter().map(|region| (region.mark, 1)));
        self.add(gone);
    }

    fn add(&mut self, one: Withdrawal) {
        for (mark, count) in &one.effect {
            self.counts.entry(*mark).or_default().now += count;
        }
        self.withdrawals.push(one);
    }

    /// Everything so far was reported to the model.
    fn mark_reported(&mut self) {
        self.counts.values_mut().for_each(|count| count.reported = count.now);
    }

    /// Each place whose state the model does not know, with the text of its latest change.
    fn into_rejections(mut self) -> Vec<Rejection> {
        let mut rejections = Vec::new();
        for one in self.withdrawals.iter().rev() {
            for undone in [false, true] {
                let sign = if undone { -1 } else { 1 };
                let mut takes = |region: &&ChangedRegion| {
                    let count = self.counts.entry(region.mark).or_default();
                    let is_other = (count.now - count.reported) * sign > 0;
                    count.reported += i32::from(is_other) * sign;
                    is_other
                };
                let regions: Vec<_> = one.regions.iter().filter(&mut takes).collect();
                if !regions.is_empty() {
                    rejections.push(one.rejection(&regions, undone));
                }
            }
        }
        rejections.reverse();
        rejections
    }
}

impl Withdrawal {
    /// Whether a change that undoes it is about the same file.
    fn is_at(&self, change: &Changed) -> bool {
        let from = change.from.as_ref();
        self.at == change.path || self.path == change.path || from == Some(&self.at)
    }
}

fn change(entry: &Entry) -> Option<&Changed> {
    match &entry.kind {
        EntryKind::Change(change) => Some(change),
        _ => None,
    }
}

impl Inner {
    fn rejections(
        &mut self,
        sessions: &[&str],
        since: u64,
        is_said: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<Rejection>, Error> {
        let is_meant = |change: &Changed| {
            sessions.contains(&change.origin.session.as_str())
                && match change.by {
                    ChangeSource::Reject | ChangeSource::Undo => true,
                    // One that changed nothing only ends a review.
                    ChangeSource::Restore => {
                        (change.before != change.after || change.from.is_some())
                            && self.is_reported(sessions, change, is_said)
                    }
                    _ => false,
                }
        };
        // Entries that those to be reported undo are needed, too.
        let mut start = Seq::MAX;
        let mut found = Vec::new();
        for entry in self.log.entries().iter().rev() {
            if entry.at < since && entry.seq < start {
                break;
            }
            let Some(change) = change(entry).filter(|change| is_meant(change)) else { continue };
            let reaches = change.undoes.or_else(|| self.checkpoint_of(change.restore?));
            start = start.min(entry.seq).min(reaches.unwrap_or(entry.seq));
            found.push(entry.clone());
        }
        found.reverse();
        let contents: Contents = self.load(found.iter().flat_map(Entry::stored_nodes))?;
        let mut ledger = Ledger::default();
        let mut is_new = false;
        for (entry, change) in found.iter().filter_map(|entry| Some((entry, change(entry)?))) {
            if entry.at >= since && !std::mem::replace(&mut is_new, true) {
                ledger.mark_reported();
            }
            ledger.follow(change, contents.state(change.before), contents.state(change.after));
        }
        if !is_new {
            ledger.mark_reported();
        }
        Ok(ledger.into_rejections())
    }

    /// The checkpoint that a restore used; if it undid another restore, that one's.
    fn checkpoint_of(&self, mut restore: Seq) -> Option<Seq> {
        while let EntryKind::Restored { to, undoes, .. } = &self.log.find(restore)?.kind {
            if !undoes {
                return Some(*to);
            }
            restore = *to;
        }
        None
    }

    /// Whether the model needs to know what a restore did to a file: one of the sessions changed that file
    /// since the checkpoint, and the message before which it was restored is still in its
    /// conversation.
    fn is_reported(
        &self,
        sessions: &[&str],
        change: &Changed,
        is_said: &dyn Fn(&str) -> bool,
    ) -> bool {
        let Some(checkpoint) = change.restore.and_then(|restore| self.checkpoint_of(restore))
        else {
            return false;
        };
        let said = self.log.find(checkpoint).is_some_and(
            |entry| matches!(&entry.kind, EntryKind::Checkpoint { message, .. } if is_said(message)),
        );
        let is_own = |entry: &Entry| {
            let paths = [Some(&change.path), change.from.as_ref()];
            self::change(entry).is_some_and(|other| {
                entry.seq > checkpoint
                    && sessions.contains(&other.origin.session.as_str())
                    && other.by != ChangeSource::Restore
                    && (paths.contains(&Some(&other.path))
                        || other.from.is_some() && paths.contains(&other.from.as_ref()))
            })
        };
        said && self.log.entries().iter().rev().any(is_own)
    }
}
