//! The rows of a conversation, of which only those round the sight have widgets.

use std::ops::Range;

use super::column::Column;
use super::entry::{Entry, RowKind};
use super::row::{Around, RowWidget, estimate, gap};

/// How far beyond the sight rows are made, in pages.
const AHEAD: f64 = 1.5;
/// How far beyond the sight rows are kept, in pages.
const KEPT: f64 = 4.0;
/// The height of the sight before it is known, in pixels.
const UNKNOWN_PAGE: f64 = 900.0;

/// A row.
struct Row {
    kind: RowKind,
    widget: Option<RowWidget>,
}

/// All rows. Those in `made` have widgets, and stand in the column in the same order.
pub struct Rows {
    column: Column,
    around: Around,
    all: Vec<Row>,
    made: Range<usize>,
}

impl Rows {
    /// No rows.
    pub fn new(column: Column, around: Around) -> Self {
        Self { column, around, all: Vec::new(), made: 0..0 }
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.column.remove(0..self.made.len());
        self.all.clear();
        self.made = 0..0;
    }

    /// Makes the rows of an entry, which begin at `start`, those of its kinds. Rows that stay show
    /// what is new.
    pub fn set(&mut self, start: usize, entry: &mut Entry, last: bool) {
        let kinds = entry.kinds();
        let old = entry.rows;
        let same = self.all[start..start + old]
            .iter()
            .zip(&kinds)
            .take_while(|(row, kind)| row.kind == **kind)
            .count();
        for index in start..start + same {
            self.update(index, entry, last);
        }
        self.remove(start + same..start + old);
        self.insert(start + same, &kinds[same..], entry, last);
        entry.rows = kinds.len();
    }

    fn update(&mut self, index: usize, entry: &Entry, last: bool) {
        let row = &mut self.all[index];
        if let Some(widget) = &mut row.widget
            && widget.update(row.kind, entry, last, &self.around)
        {
            self.column.text_changed(index - self.made.start);
        }
    }

    fn remove(&mut self, gone: Range<usize>) {
        if gone.is_empty() {
            return;
        }
        let from = gone.start.clamp(self.made.start, self.made.end);
        let to = gone.end.clamp(self.made.start, self.made.end);
        if from < to {
            self.column.remove(from - self.made.start..to - self.made.start);
        }
        self.all.drain(gone.clone());
        let before = |at: usize| at - at.saturating_sub(gone.start).min(gone.len());
        self.made = before(self.made.start)..before(self.made.end);
    }

    fn insert(&mut self, at: usize, kinds: &[RowKind], entry: &Entry, last: bool) {
        if kinds.is_empty() {
            return;
        }
        let new = kinds.iter().map(|kind| Row { kind: *kind, widget: None });
        self.all.splice(at..at, new);
        let inside = self.made.start < at && at < self.made.end;
        if at <= self.made.start && !(at == self.made.start && self.made.is_empty()) {
            self.made = self.made.start + kinds.len()..self.made.end + kinds.len();
        } else if inside {
            // Rows with widgets have no others between them.
            for (offset, _) in kinds.iter().enumerate() {
                self.make(at + offset, entry, last);
            }
            self.made.end += kinds.len();
        }
    }

    /// Makes the widget of a row, for its place among those that have one.
    fn make(&mut self, index: usize, entry: &Entry, last: bool) {
        let kind = self.all[index].kind;
        let widget = RowWidget::new(kind, entry, last, &self.around);
        self.column.insert(index - self.made.start, &widget.widget(), gap(kind, entry));
        self.all[index].widget = Some(widget);
    }

    /// Makes and drops widgets so that those round the sight are there. Whether the reader is near
    /// the beginning of what is loaded.
    pub fn tend(&mut self, entries: &[Entry], last: Option<usize>) -> bool {
        let (value, page, below) = self.column.extent();
        let page = if page < 1.0 { UNKNOWN_PAGE } else { page };
        self.drop_far(page * KEPT);
        let follows = self.column.follows();
        if follows && self.made.end < self.all.len() {
            let missing = self.height(entries, self.made.end..self.all.len());
            if missing > page * KEPT {
                // Nothing that is there would be seen.
                self.drop_rows(self.made.clone());
                self.made = self.all.len()..self.all.len();
            }
        }
        let places = Places::new(entries);
        let mut room = if follows { f64::INFINITY } else { page * AHEAD - below };
        while self.made.end < self.all.len() && room > 0.0 {
            let index = self.made.end;
            let entry = places.of(index);
            room -= estimate(self.all[index].kind, &entries[entry]);
            self.make(index, &entries[entry], last == Some(entry));
            self.made.end += 1;
        }
        let mut room = if self.made.is_empty() || self.column.extent().1 < 1.0 {
            page * (AHEAD + 1.0) - self.height(entries, self.made.clone())
        } else {
            page * AHEAD - value
        };
        while self.made.start > 0 && room > 0.0 {
            let index = self.made.start - 1;
            let entry = places.of(index);
            room -= estimate(self.all[index].kind, &entries[entry]);
            self.made.start = index;
            self.make(index, &entries[entry], last == Some(entry));
        }
        self.made.start == 0 && value < page * AHEAD
    }

    /// About how tall these rows are, in pixels.
    fn height(&self, entries: &[Entry], range: Range<usize>) -> f64 {
        let places = Places::new(entries);
        range.map(|index| estimate(self.all[index].kind, &entries[places.of(index)])).sum()
    }

    fn drop_far(&mut self, distance: f64) {
        let (above, below) = self.column.far(distance);
        if below > 0 && !self.column.follows() {
            self.drop_rows(self.made.end - below..self.made.end);
            self.made.end -= below;
        }
        if above > 0 {
            self.drop_rows(self.made.start..self.made.start + above);
            self.made.start += above;
        }
    }

    fn drop_rows(&mut self, gone: Range<usize>) {
        self.column.remove(gone.start - self.made.start..gone.end - self.made.start);
        for row in &mut self.all[gone] {
            row.widget = None;
        }
    }

    /// Draws the caret at the end of the last row, if that is a text.
    pub fn set_caret(&self, live: bool) {
        let last = self.all.last().and_then(|row| row.widget.as_ref());
        self.column.set_caret(last.filter(|_| live).and_then(RowWidget::caret));
    }

    /// Whether nothing is to be made or dropped with so much above the sight, in it and below it.
    pub fn is_settled(&self, above: f64, page: f64, below: f64) -> bool {
        let above_done = above >= page * AHEAD || self.made.start == 0;
        let below_done = below >= page * AHEAD || self.reach_end();
        let far = self.column.far(page * KEPT);
        above_done && below_done && far.0 == 0 && (far.1 == 0 || self.column.follows())
    }

    /// Whether the widgets reach to the last row.
    pub fn reach_end(&self) -> bool {
        self.made.end == self.all.len()
    }

    /// Has every widget take the theme's colours.
    pub fn recolour(&self) {
        for row in &self.all[self.made.clone()] {
            if let Some(widget) = &row.widget {
                widget.recolour(&self.around.tags);
            }
        }
    }

    /// Shows the footer of the entry whose rows these are, and hides all others.
    pub fn show_footer(&self, shown: &Range<usize>) {
        for (index, row) in self.all.iter().enumerate().take(self.made.end).skip(self.made.start) {
            if let Some(RowWidget::Footer(footer)) = &row.widget {
                footer.set_shown(shown.contains(&index));
            }
        }
    }

    /// The row at this height of the sight.
    pub fn at_height(&self, y: f64) -> Option<usize> {
        let rows = self.made.len();
        let above = (0..rows)
            .take_while(|index| self.column.top_of(*index).is_some_and(|top| top <= y))
            .count();
        above.checked_sub(1).map(|index| self.made.start + index)
    }
}

/// Which entry a row belongs to, for rows that are asked for near each other.
struct Places {
    /// Where each entry's rows begin, and the end.
    starts: Vec<usize>,
}

impl Places {
    fn new(entries: &[Entry]) -> Self {
        let mut at = 0;
        let mut starts = Vec::with_capacity(entries.len());
        for entry in entries {
            starts.push(at);
            at += entry.rows;
        }
        Self { starts }
    }

    /// The entry of a row.
    fn of(&self, index: usize) -> usize {
        self.starts.partition_point(|start| *start <= index).saturating_sub(1)
    }
}
