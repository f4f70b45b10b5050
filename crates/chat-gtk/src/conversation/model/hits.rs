//! Keeps where a message has what is looked for, row by row. Rows that did not change are not read again.

use std::ops::Range;

use super::row_kind::RowKind;

/// Where a text stands in a table: the row and the column; none elsewhere. In Markdown that a person wrote: the
/// segment, and the cell in that, counted row by row.
pub type TableCell = Option<(usize, usize)>;

/// A place that has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// Where in a table.
    pub cell: TableCell,
    /// The bytes of the text.
    pub bytes: Range<usize>,
    /// The same in characters.
    pub letters: Range<usize>,
    /// How likely a search of the chats means it.
    pub quality: MatchQuality,
}

/// How a place fits what was looked for: a search of the chats comes to the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatchQuality {
    /// As it was typed.
    Meant,
    /// Short, and at the beginning of a word.
    BeginsWord,
    /// Short, and within a word.
    Within,
}

/// What was found in a message, row by row.
#[derive(Default)]
pub struct EntryHits {
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

impl EntryHits {
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
    pub fn in_row(&self, row: usize) -> &[Hit] {
        self.rows.get(row).map_or(&[], |row| &row.hits)
    }

    /// The first place in this row or behind it.
    pub fn first_from(&self, row: usize) -> Option<(usize, usize)> {
        (row..self.rows.len()).find(|row| !self.rows[*row].hits.is_empty()).map(|row| (row, 0))
    }

    /// The first of the places that a search of the chats means the most.
    pub fn first_meant(&self) -> Option<(usize, usize)> {
        let first = |quality| {
            let meant = |row: &Row| row.hits.iter().position(|hit| hit.quality == quality);
            let mut rows = self.rows.iter().enumerate();
            rows.find_map(|(row, hits)| Some((row, meant(hits)?)))
        };
        first(MatchQuality::Meant)
            .or_else(|| first(MatchQuality::BeginsWord))
            .or_else(|| self.first_from(0))
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

    /// Takes the rows that the message has now, each with a number that differs where its text may, for this
    /// search: `find` is asked for the places of those that changed since they were read for it.
    pub fn read(
        &mut self,
        search: u64,
        rows: impl Iterator<Item = (RowKind, u64)>,
        mut find: impl FnMut(RowKind) -> Vec<Hit>,
    ) {
        if self.search != search {
            self.rows.clear();
            self.search = search;
        }
        let mut count = 0;
        for (index, (kind, stamp)) in rows.enumerate() {
            count = index + 1;
            if self.rows.get(index).is_some_and(|row| row.kind == kind && row.stamp == stamp) {
                continue;
            }
            let row = Row { kind, stamp, hits: find(kind) };
            match self.rows.get_mut(index) {
                Some(old) => *old = row,
                None => self.rows.push(row),
            }
        }
        self.rows.truncate(count);
        self.count = self.rows.iter().map(|row| row.hits.len()).sum();
        self.stale = false;
    }
}
