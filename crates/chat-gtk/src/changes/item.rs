//! Defines the rows of the list of changes as data, without widgets.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_core::review::diff::{Kind, Line, Row};
use chat_core::review::{FileKind, HunkId};

use super::listing::{Changed, Listing, Verdict};

/// The number of unchanged lines shown before and after a change.
const AROUND: usize = 3;

/// A row.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A file, which expands to its changes.
    File { file: Arc<Changed>, open: bool, note: Option<String> },
    /// A change of a file: it consists of the rows up to the next change.
    Hunk { file: Arc<Changed>, number: usize, note: Option<String> },
    /// A line.
    Line { file: Arc<Changed>, line: usize },
    /// Two lines next to each other.
    Pair { file: Arc<Changed>, row: Row },
    /// A remark for a file without lines.
    Remark { file: Arc<Changed> },
    /// The gap that answered rows leave, so that the other rows stay where they are.
    Gap { file: Arc<Changed>, verdict: Verdict, height: i32 },
}

/// A file or change that was answered with the pointer over it. Its rows leave a gap of the same
/// height, so that no other button slides under the pointer.
#[derive(Clone, Debug)]
pub(super) struct Gap {
    pub(super) file: Arc<Changed>,
    /// The change; none if the whole file was answered.
    pub(super) hunk: Option<HunkId>,
    pub(super) verdict: Verdict,
    /// The height of its rows, in pixels.
    pub(super) height: i32,
    /// The height of the file's row, which disappears with the last change.
    pub(super) head: i32,
    /// The changes after it in the file.
    pub(super) hunks: Vec<HunkId>,
    /// The files after it.
    pub(super) files: Vec<Arc<Changed>>,
}

impl Gap {
    fn item(&self, head: i32) -> Item {
        let (file, verdict) = (Arc::clone(&self.file), self.verdict);
        Item::Gap { file, verdict, height: self.height + head }
    }

    /// The change that follows it among the file's current ones; none after the last one.
    fn stands_before(&self, file: &Changed) -> Option<HunkId> {
        let left = |hunk: &&HunkId| file.change.hunks.iter().any(|one| one.id == **hunk);
        self.hunks.iter().find(left).copied()
    }
}

/// The view state of the list.
#[derive(Debug, Default)]
pub(super) struct ListOptions {
    /// The files that the user opened or closed.
    pub(super) open: HashMap<PathBuf, bool>,
    /// Whether old and new are shown side by side.
    pub(super) side_by_side: bool,
    /// The outcome of answers, by the file and the change in it.
    pub(super) notes: HashMap<(PathBuf, Option<HunkId>), String>,
    /// What was answered with the pointer, in the order of the rows.
    pub(super) gaps: Vec<Gap>,
}

impl ListOptions {
    /// Remembers what is being answered with the pointer.
    pub(super) fn leave_gap(&mut self, gap: Gap) {
        let key = |gap: &Gap| (Reverse(gap.files.len()), Reverse(gap.hunks.len()));
        let at = self.gaps.partition_point(|other| key(other) <= key(&gap));
        self.gaps.insert(at, gap);
    }

    /// The gaps of removed files before this file; after the last file if there is none.
    fn gaps_before<'a>(
        &'a self,
        file: Option<&'a Changed>,
        listing: &'a Listing,
    ) -> impl Iterator<Item = Item> + 'a {
        let is_left =
            move |gone: &Changed| listing.files().iter().any(|file| file.key() == gone.key());
        let gaps = self.gaps.iter().enumerate().filter(move |(_, gap)| {
            let next = gap.files.iter().find(|file| is_left(file));
            !is_left(&gap.file) && next.map(|next| next.key()) == file.map(Changed::key)
        });
        gaps.map(|(at, gap)| {
            let is_same = |other: &Gap| other.file.key() == gap.file.key();
            // The file's row disappeared only once: with the whole file, or with its last change.
            let is_counted = self.gaps[..at].iter().any(is_same)
                || self.gaps.iter().any(|other| is_same(other) && other.hunk.is_none());
            gap.item(if is_counted { 0 } else { gap.head })
        })
    }

    /// The gaps of removed changes before this change of a file; after the last one if there is
    /// none.
    fn gaps_within<'a>(
        &'a self,
        file: &'a Changed,
        before: Option<HunkId>,
    ) -> impl Iterator<Item = Item> + 'a {
        let gaps = self.gaps.iter().filter(move |gap| {
            let is_left = |hunk| file.change.hunks.iter().any(|one| one.id == hunk);
            gap.file.key() == file.key()
                && gap.hunk.is_some_and(|hunk| !is_left(hunk))
                && gap.stands_before(file) == before
        });
        gaps.map(|gap| gap.item(0))
    }

    fn note(&self, path: &Path, hunk: Option<HunkId>) -> Option<String> {
        self.notes.get(&(path.to_owned(), hunk)).cloned()
    }
}

/// All rows.
pub(super) fn items(listing: &Listing, options: &ListOptions) -> Vec<Item> {
    let mut items = Vec::new();
    for file in listing.files() {
        items.extend(options.gaps_before(Some(file), listing));
        let path = &file.change.path;
        let open = options.open.get(path).copied().unwrap_or_default();
        items.push(Item::File { file: Arc::clone(file), open, note: options.note(path, None) });
        if !open {
            continue;
        }
        if file.has_hunks() {
            for number in 0..file.diff.changes.len() {
                items.extend(options.gaps_within(file, Some(file.change.hunks[number].id)));
                add_hunk(file, number, options, &mut items);
            }
            items.extend(options.gaps_within(file, None));
        } else {
            items.push(Item::Remark { file: Arc::clone(file) });
        }
    }
    items.extend(options.gaps_before(None, listing));
    items
}

/// Adds a change with the lines around it. Lines between two changes are added only once.
fn add_hunk(file: &Arc<Changed>, number: usize, options: &ListOptions, items: &mut Vec<Item>) {
    let hunk = file.change.hunks[number].id;
    let note = options.note(&file.change.path, Some(hunk));
    items.push(Item::Hunk { file: Arc::clone(file), number, note });
    let changes = &file.diff.changes;
    let this = &changes[number];
    // The change's offset in all lines: before a change, each new line was either kept or added.
    let removed_before: usize = changes[..number].iter().map(|one| one.old.len()).sum();
    let start = this.new.start + removed_before;
    let end = start + this.old.len() + this.new.len();
    let free = match number.checked_sub(1) {
        // The lines in between belong to the earlier change first.
        Some(before) => this.old.start.saturating_sub(changes[before].old.end + AROUND),
        None => this.old.start,
    };
    let after = match changes.get(number + 1) {
        Some(next) => next.old.start - this.old.end,
        None => file.diff.lines.len() - end,
    };
    let lines = start - free.min(AROUND)..end + after.min(AROUND);
    if !options.side_by_side {
        items.extend(lines.map(|line| Item::Line { file: Arc::clone(file), line }));
        return;
    }
    let pair = |left, right| Item::Pair { file: Arc::clone(file), row: Row { left, right } };
    items.extend((lines.start..start).map(|line| pair(Some(line), Some(line))));
    let middle = start + this.old.len();
    for row in 0..this.old.len().max(this.new.len()) {
        let within = |at: usize, end: usize| Some(at).filter(|at| *at < end);
        items.push(pair(within(start + row, middle), within(middle + row, end)));
    }
    items.extend((end..lines.end).map(|line| pair(Some(line), Some(line))));
}

impl Item {
    pub(super) fn file(&self) -> &Arc<Changed> {
        match self {
            Self::File { file, .. }
            | Self::Hunk { file, .. }
            | Self::Line { file, .. }
            | Self::Pair { file, .. }
            | Self::Remark { file }
            | Self::Gap { file, .. } => file,
        }
    }

    /// The change whose heading this is.
    pub(super) fn hunk(&self) -> Option<HunkId> {
        match self {
            Self::Hunk { file, number, .. } => Some(file.change.hunks[*number].id),
            _ => None,
        }
    }

    /// Whether the keyboard can move to it.
    pub(super) fn is_stop(&self) -> bool {
        matches!(self, Self::File { .. } | Self::Hunk { .. })
    }

    /// Whether it shows the same about the same thing, so that its widget can stay.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let (one, two) = (self.file(), other.file());
        if one.key() != two.key() || one.agent != two.agent {
            return false;
        }
        match (self, other) {
            (Self::File { open, note, .. }, Self::File { open: o, note: n, .. }) => {
                let (one, two) = (&one.change, &two.change);
                (open, note, &one.kind) == (o, n, &two.kind)
                    && (one.added, one.removed) == (two.added, two.removed)
                    && one.changed_since == two.changed_since
            }
            (Self::Hunk { number, note, .. }, Self::Hunk { number: m, note: n, .. }) => {
                note == n
                    && one.change.hunks[*number] == two.change.hunks[*m]
                    && one.place(*number) == two.place(*m)
            }
            (Self::Line { line, .. }, Self::Line { line: l, .. }) => {
                one.diff.lines[*line] == two.diff.lines[*l] && one.digits() == two.digits()
            }
            (Self::Pair { row, .. }, Self::Pair { row: r, .. }) => {
                let same = |a: Option<usize>, b: Option<usize>| {
                    a.map(|at| &one.diff.lines[at]) == b.map(|at| &two.diff.lines[at])
                };
                same(row.left, r.left) && same(row.right, r.right) && one.digits() == two.digits()
            }
            (Self::Gap { height, verdict, .. }, Self::Gap { height: h, verdict: v, .. }) => {
                (height, verdict) == (h, v)
            }
            (Self::Remark { .. }, Self::Remark { .. }) => {
                (&one.change.kind, one.change.binary) == (&two.change.kind, two.change.binary)
            }
            _ => false,
        }
    }
}

impl Changed {
    /// The number of digits of its largest line number.
    pub(super) fn digits(&self) -> usize {
        self.diff.lines.len().max(100).ilog10() as usize + 1
    }

    /// The first and last line of a change, counted from 1: its new lines if it has any, otherwise
    /// the removed ones.
    pub(super) fn place(&self, number: usize) -> (usize, usize) {
        let change = &self.diff.changes[number];
        let lines = if change.new.is_empty() { &change.old } else { &change.new };
        (lines.start + 1, lines.end.max(lines.start + 1))
    }

    /// The line of a change in the file on disk, counted from 1.
    pub(super) fn line_on_disk(&self, number: Option<usize>) -> usize {
        let hunk = self.change.hunks.get(number.unwrap_or_default());
        hunk.map_or(1, |hunk| hunk.line + 1)
    }

    /// Whether there is a file to open.
    pub(super) fn exists(&self) -> bool {
        self.change.kind != FileKind::Deleted
    }
}

/// The gutter before a line: its numbers and its kind of change.
pub(super) fn gutter(line: &Line, digits: usize) -> String {
    let number = |at: Option<usize>| at.map(|at| (at + 1).to_string()).unwrap_or_default();
    format!("{:>digits$} {:>digits$} {}", number(line.old), number(line.new), sign(line.kind))
}

/// The gutter of one side in side by side view.
pub(super) fn side_gutter(number: Option<usize>, kind: Kind, digits: usize) -> String {
    let number = number.map(|at| (at + 1).to_string()).unwrap_or_default();
    format!("{number:>digits$} {}", sign(kind))
}

fn sign(kind: Kind) -> char {
    match kind {
        Kind::Same => ' ',
        Kind::Removed => '−',
        Kind::Added => '+',
    }
}

#[cfg(test)]
mod tests;
