//! Where one message has what is looked for, row by row. Rows that did not change are not read
//! again.

use std::ops::Range;

use chat_core::tool::Toolbox;

use super::Pattern;
use super::texts::{Cell, each_text, stamp};
use crate::conversation::model::entry::{Entry, RowKind};

/// A place that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Where in a table.
    pub cell: Cell,
    /// The bytes of the text.
    pub bytes: Range<usize>,
    /// The same in characters.
    pub letters: Range<usize>,
    /// How likely a search of the chats means it.
    aptness: Aptness,
}

/// How a place fits what was looked for: a search of the chats comes to the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Aptness {
    /// As it was typed.
    Meant,
    /// Short, and at the beginning of a word.
    BeginsWord,
    /// Short, and within a word.
    Within,
}

/// What was found in a message.
#[derive(Default)]
pub struct Found {
    /// Which search this is of.
    search: u64,
    /// Whether rows are to be read.
    stale: bool,
    rows: Vec<Row>,
    count: usize,
}

struct Row {
    kind: RowKind,
    stamp: u64,
    hits: Vec<Hit>,
}

impl Found {
    /// Rows may have changed.
    pub fn touch(&mut self) {
        self.stale = true;
    }

    /// Whether all was read for this search.
    pub fn is_of(&self, search: u64) -> bool {
        self.search == search && !self.stale
    }

    /// How many places there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The places in a row of the message.
    pub fn hits(&self, row: usize) -> &[Hit] {
        self.rows.get(row).map_or(&[], |row| &row.hits)
    }

    /// The first place in this row or behind it.
    pub fn first_from(&self, row: usize) -> Option<(usize, usize)> {
        (row..self.rows.len()).find(|row| !self.rows[*row].hits.is_empty()).map(|row| (row, 0))
    }

    /// The first of the places that a search of the chats means the most.
    pub fn first_meant(&self) -> Option<(usize, usize)> {
        let first = |aptness| {
            let meant = |row: &Row| row.hits.iter().position(|hit| hit.aptness == aptness);
            let mut rows = self.rows.iter().enumerate();
            rows.find_map(|(row, hits)| Some((row, meant(hits)?)))
        };
        first(Aptness::Meant).or_else(|| first(Aptness::BeginsWord)).or_else(|| self.first_from(0))
    }

    /// The last place before this row.
    pub fn last_before(&self, row: usize) -> Option<(usize, usize)> {
        let mut rows = self.rows[..row.min(self.rows.len())].iter();
        let row = rows.rposition(|row| !row.hits.is_empty())?;
        Some((row, self.rows[row].hits.len() - 1))
    }

    /// How many places stand before this one.
    pub fn before(&self, row: usize, hit: usize) -> usize {
        self.rows.iter().take(row).map(|row| row.hits.len()).sum::<usize>() + hit
    }
}

/// Reads the rows of a message that changed since they were read for this search.
pub fn read(entry: &mut Entry, tools: &Toolbox, pattern: &Pattern, search: u64) {
    let mut found = std::mem::take(&mut entry.found);
    if found.search != search {
        found.rows.clear();
        found.search = search;
    }
    let kinds = entry.shown_kinds();
    found.rows.truncate(kinds.len());
    for (index, kind) in kinds.into_iter().enumerate() {
        let stamp = stamp(kind, entry);
        if found.rows.get(index).is_some_and(|row| row.kind == kind && row.stamp == stamp) {
            continue;
        }
        let mut hits = Vec::new();
        each_text(kind, entry, tools, &mut |cell, text| add(pattern, cell, text, &mut hits));
        let row = Row { kind, stamp, hits };
        match found.rows.get_mut(index) {
            Some(old) => *old = row,
            None => found.rows.push(row),
        }
    }
    found.count = found.rows.iter().map(|row| row.hits.len()).sum();
    found.stale = false;
    entry.found = found;
}

fn add(pattern: &Pattern, cell: Cell, text: &str, hits: &mut Vec<Hit>) {
    let (mut at, mut letter) = (0, 0);
    for bytes in pattern.find(text) {
        let start = letter + text[at..bytes.start].chars().count();
        let end = start + text[bytes.clone()].chars().count();
        (at, letter) = (bytes.end, end);
        let aptness = if pattern.is_meant(text, &bytes) {
            Aptness::Meant
        } else if pattern.begins_word(text, &bytes) {
            Aptness::BeginsWord
        } else {
            Aptness::Within
        };
        hits.push(Hit { cell, bytes, letters: start..end, aptness });
    }
}
