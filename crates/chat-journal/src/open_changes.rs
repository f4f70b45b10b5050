//! Computes a session's changes that are not reviewed yet, entry by entry.
//!
//! Each path has two states: `base`, the file without the session's open changes, and `now`, the
//! file with them. They differ only by what the session did: whatever somebody else changed in
//! between is merged into both. Where somebody rewrote the very lines that the session had changed,
//! these lines are no longer the session's.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::diff::{changed, changed_items, split};
use crate::entry::{ChangeSource, Changed, EntryKind, HunkId, Seq};
use crate::merge::{self, Contested};
use crate::node::{Node, State};
use crate::state::Contents;

/// All paths with open changes of the session.
#[derive(Clone, Debug, Default)]
pub struct OpenChanges {
    session: String,
    pub files: BTreeMap<PathBuf, OpenFile>,
    /// What was open before a restore, to be reopened when that is undone.
    saved: HashMap<(Seq, PathBuf), SavedFile>,
}

/// What a restore found at a path.
#[derive(Clone, Debug)]
struct SavedFile {
    open_file: Option<OpenFile>,
    /// What it left there.
    left: State,
    /// The file without what stayed open.
    base: State,
}

/// A path with open changes.
#[derive(Clone, Debug)]
pub struct OpenFile {
    /// Its path before the session moved it.
    pub origin: Option<PathBuf>,
    pub base: State,
    pub now: State,
    /// Whether somebody else made a change that cannot be merged: to a file that the session
    /// created, or to the same lines.
    pub touched: bool,
    pub hunks: Vec<Hunk>,
    /// The last entry.
    pub last: Seq,
}

/// A place where both states differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    pub id: HunkId,
    /// Lines of `base`.
    pub old: Range<usize>,
    /// Lines of `now`.
    pub new: Range<usize>,
    /// A hash of both texts.
    mark: u64,
}

impl OpenChanges {
    /// Those of a session before its first entry.
    pub fn of(session: &str) -> Self {
        Self { session: session.to_owned(), ..Self::default() }
    }

    /// Applies an entry. `restores_are_own` is set to find out what sessions did, rather than what
    /// is to be reviewed: a user who restores a checkpoint does not want to review that.
    pub fn follow(
        &mut self,
        seq: Seq,
        what: &EntryKind,
        contents: &Contents,
        restores_are_own: bool,
    ) {
        match what {
            EntryKind::Change(change) => {
                let (before, after) = (contents.state(change.before), contents.state(change.after));
                match change.by {
                    ChangeSource::Person => {}
                    ChangeSource::Restore if !restores_are_own => {
                        self.restored(seq, change, &before, after);
                    }
                    _ => self.own(seq, change, &before, after),
                }
            }
            EntryKind::Accepted { path, hunks, .. } => self.accepted(seq, path, hunks.as_deref()),
            EntryKind::Reopened { path, origin, base, now, touched, .. } => {
                let (base, now) = (contents.state(*base), contents.state(*now));
                let (origin, touched) = (origin.clone(), *touched);
                let mut open_file =
                    OpenFile { origin, base, now, touched, hunks: Vec::new(), last: seq };
                open_file.refresh(seq, &[]);
                self.put(path, open_file);
            }
            EntryKind::Forgotten { .. } => self.files.clear(),
            EntryKind::Checkpoint { .. } | EntryKind::Restored { .. } => {}
        }
        if what.settles() {
            self.saved.clear();
        }
    }

    fn own(&mut self, seq: Seq, change: &Changed, before: &State, after: State) {
        let path = &change.path;
        if let Some(from) = &change.from {
            if self.files.contains_key(path) {
                // Two things happened: one file was removed, and another one changed.
                self.change(seq, from, before, None, &[]);
                self.change(seq, path, &None, after, &[]);
                return;
            }
            let mut open_file =
                self.files.remove(from).unwrap_or_else(|| OpenFile::new(before.clone()));
            open_file.outside(before);
            if open_file.base.is_some() {
                let origin = open_file.origin.take().unwrap_or_else(|| from.clone());
                open_file.origin = Some(origin).filter(|origin| origin != path);
            }
            open_file.now = after;
            open_file.refresh(seq, &[]);
            self.put(path, open_file);
            return;
        }
        self.change(seq, path, before, after, change.hunks.as_deref().unwrap_or_default());
    }

    fn change(&mut self, seq: Seq, path: &Path, before: &State, after: State, gone: &[HunkId]) {
        let open_file = self.files.remove(path);
        let mut open_file = open_file.unwrap_or_else(|| OpenFile::new(before.clone()));
        open_file.outside(before);
        open_file.now = after;
        open_file.refresh(seq, gone);
        self.put(path, open_file);
    }

    fn put(&mut self, path: &Path, open_file: OpenFile) {
        if open_file.is_open() {
            self.files.insert(path.to_owned(), open_file);
        }
    }

    /// A restore is not reviewed: what it reverted is no longer open. When it is undone, it is open
    /// again.
    fn restored(&mut self, seq: Seq, change: &Changed, before: &State, after: State) {
        match &change.from {
            None => self.restored_at(seq, change, &change.path, before, after),
            Some(from) => {
                self.restored_at(seq, change, from, before, None);
                self.restored_at(seq, change, &change.path, &None, after);
            }
        }
    }

    fn restored_at(
        &mut self,
        seq: Seq,
        change: &Changed,
        path: &Path,
        before: &State,
        after: State,
    ) {
        let mut open_file = self.files.remove(path);
        if let Some(open_file) = &mut open_file {
            open_file.outside(before);
        }
        let found = open_file.clone();
        let undone = change.undoes.and_then(|undone| self.saved.get(&(undone, path.to_owned())));
        let is_open = open_file.as_ref().is_some_and(OpenFile::is_open);
        match (undone, &mut open_file) {
            (Some(undone), open_file) if !is_open => {
                open_file.clone_from(&undone.open_file);
                if let Some(open_file) = open_file {
                    // Somebody may have changed it since.
                    open_file.now.clone_from(&undone.left);
                    open_file.outside(before);
                }
            }
            (Some(SavedFile { open_file: Some(was), base, .. }), Some(open_file)) => {
                // What others did in the file is there again, too.
                if let Ok(base) = merge::states(base, &was.base, &open_file.base) {
                    open_file.base = base;
                }
            }
            (_, Some(open_file)) if change.undoes.is_none() => {
                let is_own = change.origin.session == self.session;
                match merge::states(&open_file.now, &open_file.base, &after) {
                    Ok(base) => open_file.base = base,
                    Err(_) if after.is_none() => open_file.base = None,
                    // It may be the user's line that is there again.
                    Err(Contested(Some(base))) if !is_own => open_file.base = base,
                    Err(_) if !is_own => open_file.base.clone_from(&after),
                    Err(_) => {}
                }
                open_file.origin = None;
            }
            // What is there again is not known as the session's.
            (_, Some(open_file)) => open_file.outside(&after),
            _ => {}
        }
        let base = open_file.as_ref().and_then(|open_file| open_file.base.clone());
        let saved = SavedFile { open_file: found, left: after.clone(), base };
        self.saved.insert((change.restore.unwrap_or(seq), path.to_owned()), saved);
        if let Some(mut open_file) = open_file {
            open_file.now = after;
            open_file.refresh(seq, &[]);
            self.put(path, open_file);
        }
    }

    fn accepted(&mut self, seq: Seq, path: &Path, hunks: Option<&[HunkId]>) {
        let Some(mut open_file) = self.files.remove(path) else { return };
        if let Some(gone) = hunks {
            open_file.base = open_file.with(gone);
            open_file.refresh(seq, gone);
            self.put(path, open_file);
        }
    }
}

/// Whether two line ranges overlap or touch; an empty one touches its neighbours.
fn meets(one: &Range<usize>, other: &Range<usize>) -> bool {
    if one.is_empty() || other.is_empty() {
        one.start <= other.end && other.start <= one.end
    } else {
        one.start < other.end && other.start < one.end
    }
}

impl OpenFile {
    pub fn new(base: State) -> Self {
        let now = base.clone();
        Self { origin: None, base, now, touched: false, hunks: Vec::new(), last: 0 }
    }

    /// Whether something is left to review.
    pub fn is_open(&self) -> bool {
        self.base != self.now || self.origin.is_some()
    }

    /// Somebody else changed the file to this.
    pub fn outside(&mut self, found: &State) {
        if *found == self.now {
            return;
        }
        match merge::states(&self.now, &self.base, found) {
            Ok(base) => {
                // If they deleted it, it no longer comes from another path.
                self.origin = self.origin.take().filter(|_| base.is_some());
                self.base = base;
            }
            Err(contested) => {
                self.touched = true;
                match contested.0 {
                    Some(base) => self.base = base,
                    // A file that the session created stays one, whoever edits it.
                    None if self.base.is_none() => {}
                    None => {
                        self.base.clone_from(found);
                        self.origin = None;
                    }
                }
            }
        }
        self.now.clone_from(found);
    }

    /// Compares both states again. Unchanged hunks keep their ids.
    pub fn refresh(&mut self, seq: Seq, gone: &[HunkId]) {
        let mut new = self.compared();
        let old: Vec<&Hunk> = self.hunks.iter().filter(|hunk| !gone.contains(&hunk.id)).collect();
        let mut numbers = HashMap::new();
        let mut number = |mark: u64| {
            let next = numbers.len() as u32;
            *numbers.entry(mark).or_insert(next)
        };
        let before: Vec<u32> = old.iter().map(|hunk| number(hunk.mark)).collect();
        let after: Vec<u32> = new.iter().map(|hunk| number(hunk.mark)).collect();
        let mut index = 0;
        let (mut at_old, mut at_new) = (0, 0);
        let differing = changed_items(&before, &after);
        let ends = (before.len()..before.len(), after.len()..after.len());
        let ranges = differing.into_iter().map(|part| (part.old, part.new)).chain([ends]);
        for (gone, come) in ranges {
            while at_new < come.start {
                new[at_new].id = old[at_old].id;
                (at_old, at_new) = (at_old + 1, at_new + 1);
            }
            for hunk in &mut new[come.clone()] {
                hunk.id = HunkId { seq, index };
                index += 1;
            }
            (at_old, at_new) = (gone.end, come.end);
        }
        self.hunks = new;
        self.last = seq;
    }

    fn compared(&self) -> Vec<Hunk> {
        let empty: &[u8] = &[];
        let text = |state: &State| match state {
            None => Some(None),
            Some(node) if node.is_text() => Some(Some(node.bytes.clone())),
            Some(_) => None,
        };
        let (Some(old), Some(new)) = (text(&self.base), text(&self.now)) else { return Vec::new() };
        let (old, new) = (old.as_deref().unwrap_or(empty), new.as_deref().unwrap_or(empty));
        let (old, new) = (split(old), split(new));
        let hunk = |old_range: Range<usize>, new_range: Range<usize>| {
            let mut hasher = DefaultHasher::new();
            (&old[old_range.clone()], &new[new_range.clone()]).hash(&mut hasher);
            let id = HunkId { seq: 0, index: 0 };
            Hunk { id, old: old_range, new: new_range, mark: hasher.finish() }
        };
        changed(&old, &new).into_iter().map(|part| hunk(part.old, part.new)).collect()
    }

    /// `base` with these hunks in their `now` version.
    pub fn with(&self, hunks: &[HunkId]) -> State {
        self.mixed(&self.base, |hunk| hunks.contains(&hunk.id))
    }

    /// `now` with these hunks in their `base` version.
    pub fn without(&self, hunks: &[HunkId]) -> State {
        self.mixed(&self.now, |hunk| !hunks.contains(&hunk.id))
    }

    /// The file without the session's changes since somebody saw this content, and the hunks of
    /// these changes; none if it changed nothing since.
    pub fn as_seen(&self, seen: &[u8]) -> Option<(State, Vec<HunkId>)> {
        let now = self.now.as_ref()?;
        if self.base.is_none() {
            // A file that the session created is a single hunk, and stays.
            let bytes = seen.into();
            return (*now.bytes != *seen)
                .then(|| (Some(Node { bytes, ..now.clone() }), Vec::new()));
        }
        let since = changed(&split(seen), &split(&now.bytes));
        let is_since = |hunk: &&Hunk| since.iter().any(|part| meets(&part.new, &hunk.new));
        let hunks: Vec<_> = self.hunks.iter().filter(is_since).map(|hunk| hunk.id).collect();
        (!hunks.is_empty()).then(|| (self.without(&hunks), hunks))
    }

    /// The lines of both, using for each hunk those of `now` or of `base`.
    fn mixed(&self, like: &State, is_new: impl Fn(&Hunk) -> bool) -> State {
        if self.hunks.is_empty() {
            return like.clone();
        }
        let (Some(old), Some(new)) = (&self.base, &self.now) else {
            // The whole file is a single hunk.
            return if self.hunks.iter().all(is_new) {
                self.now.clone()
            } else {
                self.base.clone()
            };
        };
        let (old, new) = (split(&old.bytes), split(&new.bytes));
        let (mut text, mut at) = (Vec::new(), 0);
        for hunk in &self.hunks {
            old[at..hunk.old.start].iter().copied().for_each(|line| text.extend_from_slice(line));
            let lines = if is_new(hunk) { &new[hunk.new.clone()] } else { &old[hunk.old.clone()] };
            for line in lines {
                text.extend_from_slice(line);
            }
            at = hunk.old.end;
        }
        old[at..].iter().copied().for_each(|line| text.extend_from_slice(line));
        let like = like.as_ref()?;
        Some(Node { bytes: text.into(), ..like.clone() })
    }
}
