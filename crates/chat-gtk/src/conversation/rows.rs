//! Holds the rows of a conversation. Only those near the sight have widgets.

mod heights;
mod making;
mod offsets;
pub mod row;
mod switching;
mod text_places;

use std::ops::Range;

use chat_core::message::{ApprovalId, Fid};
use gtk::prelude::*;

use super::column::Column;
use crate::conversation::model::entry::Entry;
use crate::conversation::model::hits::Hit;
use crate::conversation::model::row_kind::RowKind;
use crate::conversation::widgets::context::WidgetContext;
use crate::conversation::widgets::position::RowPosition;
use crate::free_memory;
use heights::line_gap;
use offsets::EntryOffsets;
use row::RowWidget;

/// A row.
struct Row {
    kind: RowKind,
    widget: Option<RowWidget>,
    /// What is marked in the widget; none where that is not known.
    highlights: Option<Highlights>,
}

/// What is marked in a widget: places, and which of them is the current one.
#[derive(Default, PartialEq)]
struct Highlights {
    hits: Vec<Hit>,
    current: Option<usize>,
}

/// All rows. Those in `made` have widgets, and stand in the column in the same order.
pub struct Rows {
    column: Column,
    pub context: WidgetContext,
    all: Vec<Row>,
    made: Range<usize>,
}

impl Rows {
    /// No rows.
    pub fn new(column: Column, context: WidgetContext) -> Self {
        Self { column, context, all: Vec::new(), made: 0..0 }
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
        self.space(start + entry.rows);
    }

    /// Removes the rows from here on.
    pub fn truncate(&mut self, len: usize) {
        self.remove(len..self.all.len());
    }

    fn update(&mut self, index: usize, entry: &Entry, last: bool) {
        let row = &mut self.all[index];
        if let Some(widget) = &mut row.widget
            && widget.update(row.kind, entry, last, &self.context)
        {
            row.highlights = None;
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
        let new = kinds.iter().map(|kind| Row { kind: *kind, widget: None, highlights: None });
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

    /// What stands above a row.
    fn above(&self, index: usize) -> Option<RowKind> {
        index.checked_sub(1).map(|above| self.all[above].kind)
    }

    /// Something else stands above this row now: its distance from that may be another one.
    fn space(&self, index: usize) {
        let line = |row: &Row| matches!(row.kind, RowKind::Thinking { .. } | RowKind::Tool { .. });
        if self.made.contains(&index) && line(&self.all[index]) {
            self.column.set_gap(index - self.made.start, line_gap(self.above(index)));
        }
    }

    /// Opens a row that is folded.
    pub fn open(&self, index: usize) {
        if let Some(widget) = &self.all[index].widget {
            widget.open();
        }
    }

    /// Gives what waits for the person in a row the keyboard, and brings all of that into sight if it is
    /// not. `is_last`: nothing else waits below it. Whether it took the keyboard.
    pub fn focus_prompt(&self, index: usize, is_last: bool) -> bool {
        let Some(widget) = self.all.get(index).and_then(|row| row.widget.as_ref()) else {
            return false;
        };
        let row = widget.widget();
        // What is not mapped cannot have the keyboard. It gets its place before the next frame.
        row.set_child_visible(true);
        let took = widget.focus_prompt();
        let at = index - self.made.start;
        let stays = self.column.follows() && self.reach_end();
        if took && !(stays && self.column.shows(at).unwrap_or(is_last)) {
            let focus = row.root().and_then(|root| root.focus()).unwrap_or_else(|| row.clone());
            self.column.reveal(at, RowPosition::card(&focus, &row), true);
        }
        took
    }

    /// Brings the row of a call into sight, and gives the line of this agent in it the keyboard.
    pub fn focus_agent(&self, index: usize, agent: &Fid) {
        let Some(widget) = self.all.get(index).and_then(|row| row.widget.as_ref()) else { return };
        let row = widget.widget();
        row.set_child_visible(true);
        widget.focus_agent(agent);
        self.column.reveal(index - self.made.start, RowPosition::top(&row), true);
    }

    /// The approval request whose card has the focus.
    pub fn focused_prompt(&self) -> Option<ApprovalId> {
        self.all.iter().find_map(|row| row.widget.as_ref()?.focused_prompt())
    }

    /// Brings a row into sight: the place in it that was found, or its top. `holds`: whether it
    /// stays there though text is added to the end.
    pub fn reveal(&self, index: usize, hit: Option<&Hit>, holds: bool) {
        let Some(widget) = self.all.get(index).and_then(|row| row.widget.as_ref()) else { return };
        let position = hit
            .and_then(|hit| widget.position(hit))
            .unwrap_or_else(|| RowPosition::top(&widget.widget()));
        // What is the end of the column now need not be the end of the conversation.
        self.column.reveal(index - self.made.start, position, holds || !self.reach_end());
    }

    /// Marks what was found in the rows that have widgets: `hits_of` says what that is for a row of
    /// an entry, and which place is the current one.
    pub fn highlight<'a>(
        &mut self,
        entries: &'a [Entry],
        hits_of: impl Fn(&'a Entry, usize) -> (&'a [Hit], Option<usize>),
    ) {
        let offsets = EntryOffsets::new(entries);
        for index in self.made.clone() {
            let entry = offsets.of(index);
            let (hits, current) = hits_of(&entries[entry], index - offsets.starts[entry]);
            let row = &mut self.all[index];
            let Some(widget) = &row.widget else { continue };
            if row.highlights.as_ref().is_some_and(|m| m.hits == hits && m.current == current) {
                continue;
            }
            widget.highlight(hits, current, self.context.tags.match_colours());
            row.highlights = Some(Highlights { hits: hits.to_vec(), current });
        }
    }

    /// Draws the caret at the end of the last row, if that is a text.
    pub fn set_caret(&self, live: bool) {
        if self.column.set_live(live) && !live {
            free_memory::give_back_soon();
        }
        let last = self.all.last().and_then(|row| row.widget.as_ref());
        self.column.set_caret(last.filter(|_| live).and_then(RowWidget::caret));
    }

    /// Whether the widgets reach to the last row.
    pub fn reach_end(&self) -> bool {
        self.made.end == self.all.len()
    }

    /// Says whether the session has a project.
    pub fn set_project(&self, has_project: bool) {
        for row in &self.all[self.made.clone()] {
            if let Some(RowWidget::User(said)) = &row.widget {
                said.set_project(has_project);
            }
        }
    }

    /// Has every widget take the theme's colours.
    pub fn recolour(&mut self) {
        for row in &mut self.all[self.made.clone()] {
            row.highlights = None;
            if let Some(widget) = &row.widget {
                widget.recolour(&self.context.tags);
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

    /// The area of the buttons below the last reply, where that ends the conversation: its footer, and
    /// how it ended.
    pub fn last_buttons_bounds(&self, target: &gtk::Widget) -> Option<gtk::graphene::Rect> {
        let last = self.all.iter().rev().map_while(|row| match &row.widget {
            Some(RowWidget::Footer(footer)) => Some(footer.buttons_bounds(target)),
            Some(RowWidget::Ending(ending, _)) => {
                Some(ending.compute_bounds(target).filter(|_| ending.is_mapped()))
            }
            _ => None,
        });
        last.flatten().reduce(|all, part| all.union(&part))
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether this row is a message of the user.
    pub fn is_own(&self, index: usize) -> bool {
        self.all.get(index).is_some_and(|row| row.kind == RowKind::User)
    }

    /// Gives a message of the user the keyboard, if its row has a widget.
    pub fn focus_own(&self, index: usize) {
        if let Some(RowWidget::User(said)) = self.all.get(index).and_then(|row| row.widget.as_ref())
        {
            // What is not mapped cannot have the keyboard. It gets its place before the next frame.
            said.widget().set_child_visible(true);
            said.focus();
        }
    }

    /// Has a row that has a widget begin so far below the top of the sight, in pixels.
    pub fn put_at(&self, index: usize, below: i32) {
        self.column.put_at(index - self.made.start, below);
    }

    /// Where a row begins, from the top of the sight, in pixels; none where it has no widget.
    pub fn top_of(&self, index: usize) -> Option<f64> {
        self.column.top_of(index.checked_sub(self.made.start)?)
    }

    /// The first row that is seen.
    pub fn first_in_sight(&self) -> Option<usize> {
        self.column.first_in_sight().map(|index| self.made.start + index)
    }

    /// The row that a widget is, or stands in.
    pub fn index_of(&self, widget: &gtk::Widget) -> Option<usize> {
        self.column.row_of(widget).map(|index| self.made.start + index)
    }

    /// The row at this height of the sight, or the one before where it is between two of them.
    pub fn between(&self, y: f64) -> Option<usize> {
        let last = self.made.len().checked_sub(1)?;
        let end = self.column.top_of(last)? + f64::from(self.column.height_of(last)?);
        self.at_height(y).filter(|_| y <= end)
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
