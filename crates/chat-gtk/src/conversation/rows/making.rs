//! Makes the widgets of rows before the reader comes to them, and drops those far from the sight.

use std::cell::Cell;
use std::ops::Range;

use chat_core::message::Role;

use super::heights::{estimate, gap};
use super::offsets::EntryOffsets;
use super::row::RowWidget;
use super::{Highlights, Row, Rows};
use crate::conversation::model::entry::Entry;

/// How far beyond the sight rows are made, in pages.
pub(super) const AHEAD: f64 = 1.5;
/// How far beyond the sight rows are kept, in pages.
pub(super) const KEPT: f64 = 4.0;
/// The height of the sight before it is known, in pixels.
const UNKNOWN_PAGE: f64 = 900.0;

impl Rows {
    /// Makes the widget of a row, for its place among those that have one.
    pub(super) fn make(&mut self, index: usize, entry: &Entry, last: bool) {
        let kind = self.all[index].kind;
        let widget = RowWidget::new(kind, entry, last, &self.context);
        let gap = gap(kind, entry, self.above(index));
        self.column.insert(index - self.made.start, &widget.widget(), gap);
        self.all[index].widget = Some(widget);
        self.all[index].highlights = Some(Highlights::default());
    }

    /// Reads the last of entries that have no rows yet and stand before all others, until they are
    /// enough: `enough` is told how tall, in pixels, those are that were read. Their widgets come when
    /// they are near the sight.
    pub fn prepend(&mut self, entries: &mut [Entry], enough: &dyn Fn(f64) -> bool) {
        let mut height = 0.0;
        let mut read = Vec::new();
        for entry in entries.iter_mut().rev() {
            let kinds = entry.kinds();
            entry.rows = kinds.len();
            entry.dirty = !entry.is_settled();
            height += kinds.iter().map(|kind| estimate(*kind, entry)).sum::<f64>();
            read.push(kinds);
            if enough(height) {
                break;
            }
        }
        let kinds = read.into_iter().rev().flatten();
        let new: Vec<Row> =
            kinds.map(|kind| Row { kind, widget: None, highlights: None }).collect();
        let first = new.len();
        self.made = self.made.start + first..self.made.end + first;
        self.all.splice(0..0, new);
        self.space(first);
    }

    /// Reads the last of entries that have no rows yet, back to the nearest message of the user.
    pub fn prepend_to_own(&mut self, entries: &mut [Entry]) {
        let own = entries.iter().rposition(|entry| entry.message.role == Role::User);
        self.prepend_to(entries, own.unwrap_or(0));
    }

    /// Reads the last of entries that have no rows yet, back to this one.
    pub fn prepend_to(&mut self, entries: &mut [Entry], first: usize) {
        let left = Cell::new(entries.len().saturating_sub(first));
        if left.get() > 0 {
            self.prepend(entries, &|_| {
                left.set(left.get() - 1);
                left.get() == 0
            });
        }
    }

    /// Reads as many of these entries as are seen from where the reader is, if they are near.
    pub fn read_near(&mut self, entries: &mut [Entry]) {
        let (value, page, _) = self.column.extent();
        let page = if page < 1.0 { UNKNOWN_PAGE } else { page };
        if self.made.is_empty() || (self.made.start == 0 && value < page * AHEAD) {
            self.prepend(entries, &|height| height > page * (AHEAD + 1.0));
        }
    }

    /// Sees to it that this row and those round it have widgets.
    pub fn make_near(&mut self, index: usize, entries: &[Entry], last: Option<usize>) {
        if index >= self.all.len() || self.made.contains(&index) {
            return;
        }
        self.drop_rows(self.made.clone());
        self.made = index..index;
        let page = self.sight_height();
        let offsets = EntryOffsets::new(entries);
        self.make_below(page * AHEAD, entries, &offsets, last);
        self.make_above(page * AHEAD, entries, &offsets, last);
    }

    /// How tall the sight is, or will about be, in pixels.
    pub(super) fn sight_height(&self) -> f64 {
        let page = self.column.extent().1;
        if page < 1.0 { UNKNOWN_PAGE } else { page }
    }

    /// Makes rows behind those that there are, for so much room.
    pub(super) fn make_below(
        &mut self,
        mut room: f64,
        entries: &[Entry],
        offsets: &EntryOffsets,
        last: Option<usize>,
    ) {
        while self.made.end < self.all.len() && room > 0.0 {
            let index = self.made.end;
            let entry = offsets.of(index);
            room -= estimate(self.all[index].kind, &entries[entry]);
            self.make(index, &entries[entry], last == Some(entry));
            self.made.end += 1;
        }
    }

    /// Makes rows before those that there are, for so much room.
    pub(super) fn make_above(
        &mut self,
        mut room: f64,
        entries: &[Entry],
        offsets: &EntryOffsets,
        last: Option<usize>,
    ) {
        while self.made.start > 0 && room > 0.0 {
            let index = self.made.start - 1;
            let entry = offsets.of(index);
            room -= estimate(self.all[index].kind, &entries[entry]);
            self.made.start = index;
            self.make(index, &entries[entry], last == Some(entry));
        }
    }

    /// Makes the row behind those that have widgets, or the one before. Whether there is one.
    pub fn make_beyond(&mut self, behind: bool, entries: &[Entry], last: Option<usize>) -> bool {
        let made = self.made.len();
        let offsets = EntryOffsets::new(entries);
        // Every row takes some room, so that this is one.
        if behind {
            self.make_below(f64::MIN_POSITIVE, entries, &offsets, last);
        } else {
            self.make_above(f64::MIN_POSITIVE, entries, &offsets, last);
        }
        self.made.len() > made
    }

    /// Makes and drops widgets so that those round the sight are there. Whether the reader is near
    /// the beginning of what is loaded.
    pub fn tend(&mut self, entries: &[Entry], last: Option<usize>) -> bool {
        let (value, page, below) = self.column.extent();
        let page = if page < 1.0 { UNKNOWN_PAGE } else { page };
        self.drop_far(page * KEPT);
        let follows = self.column.follows();
        if follows
            && self.made.end < self.all.len()
            && self.are_taller(entries, self.made.end..self.all.len(), page * KEPT)
        {
            // Nothing that is there would be seen.
            self.drop_rows(self.made.clone());
            self.made = self.all.len()..self.all.len();
        }
        let offsets = EntryOffsets::new(entries);
        let room = if follows { f64::INFINITY } else { page * AHEAD - below };
        self.make_below(room, entries, &offsets, last);
        let room = if self.made.is_empty() || self.column.extent().1 < 1.0 {
            page * (AHEAD + 1.0) - self.height(entries, self.made.clone())
        } else {
            page * AHEAD - value
        };
        self.make_above(room, entries, &offsets, last);
        self.made.start == 0 && value < page * AHEAD
    }

    /// About how tall these rows are, in pixels.
    pub(super) fn height(&self, entries: &[Entry], range: Range<usize>) -> f64 {
        let offsets = EntryOffsets::new(entries);
        range.map(|index| estimate(self.all[index].kind, &entries[offsets.of(index)])).sum()
    }

    /// Whether these rows are taller than this, in pixels. Reads no more texts than it takes to know.
    pub(super) fn are_taller(
        &self,
        entries: &[Entry],
        mut range: Range<usize>,
        limit: f64,
    ) -> bool {
        let offsets = EntryOffsets::new(entries);
        let mut height = 0.0;
        range.any(|index| {
            height += estimate(self.all[index].kind, &entries[offsets.of(index)]);
            height > limit
        })
    }

    /// Which entries have rows with widgets, and all between them.
    pub fn near(&self, entries: &[Entry]) -> Range<usize> {
        if self.made.is_empty() {
            return 0..0;
        }
        let offsets = EntryOffsets::new(entries);
        offsets.of(self.made.start)..offsets.of(self.made.end - 1) + 1
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
        let range = gone.start - self.made.start..gone.end - self.made.start;
        self.column.take_focus_from(range.clone());
        self.column.remove(range);
        for row in &mut self.all[gone] {
            row.widget = None;
        }
    }

    /// Whether nothing is to be made or dropped with so much above the sight, in it and below it.
    pub fn is_settled(&self, above: f64, page: f64, below: f64) -> bool {
        let above_done = above >= page * AHEAD || self.made.start == 0;
        let below_done = below >= page * AHEAD || self.reach_end();
        let far = self.column.far(page * KEPT);
        above_done && below_done && far.0 == 0 && (far.1 == 0 || self.column.follows())
    }
}
