//! What stands in the list of changes, row by row, before there is any widget.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chat_core::review::diff::{Kind, Line, Row};
use chat_core::review::{FileKind, HunkId};

use super::listing::{Changed, Listing};

/// Unchanged lines that are shown before a change and after it.
const AROUND: usize = 3;

/// A row.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A file, which opens into its changes.
    File { file: Arc<Changed>, open: bool, note: Option<String> },
    /// A change of a file: what follows up to the next one.
    Hunk { file: Arc<Changed>, number: usize, note: Option<String> },
    /// A line.
    Line { file: Arc<Changed>, line: usize },
    /// Two lines that stand opposite each other.
    Pair { file: Arc<Changed>, row: Row },
    /// What a file has instead of lines.
    Remark { file: Arc<Changed> },
}

/// How the list is to be looked at.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// Which files were opened or closed.
    pub(super) open: HashMap<PathBuf, bool>,
    /// Whether old and new stand beside each other.
    pub(super) beside: bool,
    /// What came of answers, by the file and the change in it.
    pub(super) notes: HashMap<(PathBuf, Option<HunkId>), String>,
}

impl Looks {
    fn note(&self, path: &Path, hunk: Option<HunkId>) -> Option<String> {
        self.notes.get(&(path.to_owned(), hunk)).cloned()
    }
}

/// All rows.
pub(super) fn items(listing: &Listing, looks: &Looks) -> Vec<Item> {
    let mut items = Vec::new();
    for file in listing.files() {
        let path = &file.change.path;
        let open = looks.open.get(path).copied().unwrap_or_default();
        items.push(Item::File { file: Arc::clone(file), open, note: looks.note(path, None) });
        if !open {
            continue;
        }
        if file.has_hunks() {
            for number in 0..file.diff.changes.len() {
                add_hunk(file, number, looks, &mut items);
            }
        } else {
            items.push(Item::Remark { file: Arc::clone(file) });
        }
    }
    items
}

/// Adds a change with the lines around it; of those between two changes none is there twice.
fn add_hunk(file: &Arc<Changed>, number: usize, looks: &Looks, items: &mut Vec<Item>) {
    let hunk = file.change.hunks[number].id;
    let note = looks.note(&file.change.path, Some(hunk));
    items.push(Item::Hunk { file: Arc::clone(file), number, note });
    let changes = &file.diff.changes;
    let this = &changes[number];
    // Where its lines begin among all: before a change each new line was either kept or added.
    let removed_before: usize = changes[..number].iter().map(|one| one.old.len()).sum();
    let start = this.new.start + removed_before;
    let end = start + this.old.len() + this.new.len();
    let free = match number.checked_sub(1) {
        // The lines between belong to the earlier change first.
        Some(before) => this.old.start.saturating_sub(changes[before].old.end + AROUND),
        None => this.old.start,
    };
    let after = match changes.get(number + 1) {
        Some(next) => next.old.start - this.old.end,
        None => file.diff.lines.len() - end,
    };
    let lines = start - free.min(AROUND)..end + after.min(AROUND);
    if !looks.beside {
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
            | Self::Remark { file } => file,
        }
    }

    /// The change that it heads.
    pub(super) fn hunk(&self) -> Option<HunkId> {
        match self {
            Self::Hunk { file, number, .. } => Some(file.change.hunks[*number].id),
            _ => None,
        }
    }

    /// Whether one goes to it by keyboard.
    pub(super) fn is_stop(&self) -> bool {
        matches!(self, Self::File { .. } | Self::Hunk { .. })
    }

    /// Whether it looks the same and is about the same, so that its widget stays.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let (one, two) = (self.file(), other.file());
        if one.change.path != two.change.path {
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
            (Self::Remark { .. }, Self::Remark { .. }) => {
                (&one.change.kind, one.change.binary) == (&two.change.kind, two.change.binary)
            }
            _ => false,
        }
    }
}

impl Changed {
    /// How many figures its greatest line number has.
    pub(super) fn digits(&self) -> usize {
        self.diff.lines.len().max(100).ilog10() as usize + 1
    }

    /// The first and the last line of a change, counted from 1: where it has new lines those, else
    /// those that went.
    pub(super) fn place(&self, number: usize) -> (usize, usize) {
        let change = &self.diff.changes[number];
        let lines = if change.new.is_empty() { &change.old } else { &change.new };
        (lines.start + 1, lines.end.max(lines.start + 1))
    }

    /// The line at which a change is found in the file as it lies on disk, from 1.
    pub(super) fn line_on_disk(&self, number: Option<usize>) -> usize {
        let hunk = self.change.hunks.get(number.unwrap_or_default());
        hunk.map_or(1, |hunk| hunk.line + 1)
    }

    /// Whether there is a file to open.
    pub(super) fn exists(&self) -> bool {
        self.change.kind != FileKind::Deleted
    }
}

/// What stands before a line: its numbers and what became of it.
pub(super) fn gutter(line: &Line, digits: usize) -> String {
    let number = |at: Option<usize>| at.map(|at| (at + 1).to_string()).unwrap_or_default();
    format!("{:>digits$} {:>digits$} {}", number(line.old), number(line.new), sign(line.kind))
}

/// The same for one side of two.
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
