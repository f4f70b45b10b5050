//! Finds the rows of a message that has other versions, and makes those of the one that is shown next.

use std::ops::Range;

use chat_core::message::{MessageId, Role};

use super::Rows;
use super::making::{AHEAD, KEPT};
use super::offsets::EntryOffsets;
use super::row::RowWidget;
use crate::conversation::model::entry::Entry;
use crate::conversation::model::row_kind::RowKind;
use crate::conversation::widgets::context::Side;

impl Rows {
    /// The button that goes to the version at this side of a message, if that is drawn and has others beside it.
    pub fn step(&self, entries: &[Entry], message: MessageId, side: Side) -> Option<gtk::Button> {
        let first = entries.iter().position(|entry| entry.id() == message)?;
        self.all[Self::of_message(entries, first)].iter().find_map(|row| match &row.widget {
            Some(RowWidget::Footer(footer)) => footer.step(side),
            Some(RowWidget::OwnLine(line)) => line.step(side),
            _ => None,
        })
    }

    /// The rows of a message, and of all rounds of the reply that it begins.
    pub fn of_message(entries: &[Entry], first: usize) -> Range<usize> {
        let start = EntryOffsets::new(entries).starts[first];
        // A reply of several rounds ends before what the person says next.
        let is_own = entries[first].message.role == Role::User;
        let count = if is_own {
            1
        } else {
            entries[first..].iter().take_while(|entry| entry.message.role != Role::User).count()
        };
        let rows: usize = entries[first..first + count].iter().map(|entry| entry.rows).sum();
        start..start + rows
    }

    /// The row with the buttons that go to other versions, among those of a message.
    pub fn switch_row(&self, rows: Range<usize>) -> Option<usize> {
        let mut rows = rows;
        rows.rfind(|row| matches!(self.all[*row].kind, RowKind::Footer | RowKind::OwnLine))
    }

    /// Reads as many of the entries before a message as are seen above it, if they were not read yet.
    pub fn read_above(&mut self, entries: &mut [Entry], first: usize) {
        let room = self.sight_height() * AHEAD;
        let start = EntryOffsets::new(entries).starts[first];
        if !self.are_taller(entries, 0..start, room) {
            let unread = entries.iter().take_while(|entry| !entry.read).count();
            self.prepend(&mut entries[..unread], &|height| height > room);
        }
    }

    /// Sees to it that a row and those round it have widgets, and those up to `end` unless that is far. Those that there
    /// are stay, if this one goes on from them.
    pub fn make_from(&mut self, index: usize, end: usize, entries: &[Entry], last: Option<usize>) {
        let page = self.sight_height();
        let goes_on = self.made.start <= index
            && (index < self.made.end
                || !self.are_taller(entries, self.made.end..index, page * KEPT));
        if self.made.is_empty() || !goes_on {
            self.make_near(index, entries, last);
        }
        let offsets = EntryOffsets::new(entries);
        let missing = self.height(entries, self.made.end.min(index)..index);
        let there = self.height(entries, index..self.made.end.max(index));
        self.make_below(missing + page * AHEAD - there, entries, &offsets, last);
        let above = self.height(entries, self.made.start..index);
        self.make_above(page * AHEAD - above, entries, &offsets, last);
        if !self.are_taller(entries, index..end, page * KEPT) {
            while self.made.end < end {
                self.make_below(f64::MIN_POSITIVE, entries, &offsets, last);
            }
        }
    }
}
