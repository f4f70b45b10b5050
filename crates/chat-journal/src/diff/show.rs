//! Prepares a diff to be shown, in one column or in two.

use std::ops::Range;

use super::lines::{Changed, changed, split};
use super::words::marked;

/// The kind of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It is in both texts.
    Same,
    /// It is only in the old text.
    Removed,
    /// It is only in the new text.
    Added,
}

/// The ending of a line, which is not part of its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Unix.
    Newline,
    /// Windows.
    CarriageReturn,
    /// It is the last one, and has none.
    Nothing,
}

/// A line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its kind.
    pub kind: Kind,
    /// Its number in the old text, from 0.
    pub old: Option<usize>,
    /// Its number in the new text.
    pub new: Option<usize>,
    /// Its text without its ending. Invalid UTF-8 is shown as replacement characters.
    pub text: String,
    /// The byte ranges that differ from the opposite line.
    pub spans: Vec<Range<usize>>,
    /// Its ending.
    pub ending: Ending,
}

/// A row in two columns: opposite lines, by their indices in [`Diff::lines`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// The line on the left.
    pub left: Option<usize>,
    /// The line on the right; the same as on the left if it did not change.
    pub right: Option<usize>,
}

/// Neighbouring changes with the lines around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// Lines of the old text.
    pub old: Range<usize>,
    /// Lines of the new text.
    pub new: Range<usize>,
    /// The changes in it.
    pub changes: Vec<Changed>,
    /// The index of the first change among all.
    pub first: usize,
}

/// All lines of two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff {
    /// In the order of a single column: removed lines come before the added lines that replace
    /// them.
    pub lines: Vec<Line>,
    /// The changes, in order.
    pub changes: Vec<Changed>,
}

/// How many pairs of lines are compared by words: more than anybody reads.
const PAIRS: usize = 2000;

impl Diff {
    /// Compares two texts.
    pub fn new(old: &[u8], new: &[u8]) -> Self {
        let (old, new) = (split(old), split(new));
        let changes = changed(&old, &new);
        let mut lines = Vec::with_capacity(old.len().max(new.len()));
        let (mut in_old, mut in_new, mut pairs) = (0, 0, 0);
        let same = |from: usize, to: usize, by: usize, lines: &mut Vec<Line>| {
            lines.extend(
                (from..to).map(|at| Line::new(Kind::Same, Some(at), Some(at + by - from), old[at])),
            );
        };
        for part in &changes {
            same(in_old, part.old.start, in_new, &mut lines);
            let first = lines.len();
            let removed =
                part.old.clone().map(|at| Line::new(Kind::Removed, Some(at), None, old[at]));
            lines.extend(removed);
            let added = part.new.clone().map(|at| Line::new(Kind::Added, None, Some(at), new[at]));
            lines.extend(added);
            let (removed, added) = lines[first..].split_at_mut(part.old.len());
            for (one, other) in removed.iter_mut().zip(added) {
                pairs += 1;
                if pairs <= PAIRS {
                    (one.spans, other.spans) = marked(&one.text, &other.text);
                }
            }
            (in_old, in_new) = (part.old.end, part.new.end);
        }
        same(in_old, old.len(), in_new, &mut lines);
        Self { lines, changes }
    }

    /// How many lines were added, and how many removed.
    pub fn counts(&self) -> (usize, usize) {
        let count = |side: fn(&Changed) -> &Range<usize>| {
            self.changes.iter().map(|part| side(part).len()).sum()
        };
        (count(|part| &part.new), count(|part| &part.old))
    }

    /// The changes with this many lines around them; those that would touch are joined.
    pub fn blocks(&self, around: usize) -> Vec<Block> {
        let old = self.lines.iter().filter(|line| line.old.is_some()).count();
        blocks(&self.changes, old, around)
    }

    /// The rows in two columns. Removed lines are opposite the added lines that replace them, line
    /// by line.
    pub fn rows(&self) -> Vec<Row> {
        let mut rows = Vec::with_capacity(self.lines.len());
        let mut at = 0;
        while let Some(line) = self.lines.get(at) {
            if line.kind == Kind::Same {
                rows.push(Row { left: Some(at), right: Some(at) });
                at += 1;
                continue;
            }
            let run = |from: usize, kind| {
                let lines = self.lines[from..].iter();
                from + lines.take_while(|line| line.kind == kind).count()
            };
            let middle = run(at, Kind::Removed);
            let end = run(middle, Kind::Added);
            for row in 0..(middle - at).max(end - middle) {
                let within = |at: usize, end: usize| Some(at).filter(|at| *at < end);
                rows.push(Row { left: within(at + row, middle), right: within(middle + row, end) });
            }
            at = end;
        }
        rows
    }
}

/// The changes of a text with this many lines, with lines around them.
pub fn blocks(changes: &[Changed], lines: usize, around: usize) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for (number, part) in changes.iter().enumerate() {
        let before = around.min(part.old.start);
        let after = around.min(lines - part.old.end);
        match blocks.last_mut() {
            Some(block) if part.old.start - before <= block.old.end => {
                block.old.end = part.old.end + after;
                block.new.end = part.new.end + after;
                block.changes.push(part.clone());
            }
            _ => blocks.push(Block {
                old: part.old.start - before..part.old.end + after,
                new: part.new.start - before..part.new.end + after,
                changes: vec![part.clone()],
                first: number,
            }),
        }
    }
    blocks
}

impl Line {
    fn new(kind: Kind, old: Option<usize>, new: Option<usize>, line: &[u8]) -> Self {
        let (line, ending) = match line.strip_suffix(b"\n") {
            None => (line, Ending::Nothing),
            Some(line) => match line.strip_suffix(b"\r") {
                None => (line, Ending::Newline),
                Some(line) => (line, Ending::CarriageReturn),
            },
        };
        let text = String::from_utf8_lossy(line).into_owned();
        Self { kind, old, new, text, spans: Vec::new(), ending }
    }
}

#[cfg(test)]
mod tests;
