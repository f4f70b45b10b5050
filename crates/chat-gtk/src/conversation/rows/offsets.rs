//! Knows which row belongs to which entry, and tells all rows that have widgets what changed.

use std::rc::Rc;

use gtk::prelude::*;

use super::{RowWidget, Rows};
use crate::conversation::model::entry::Entry;

/// Which entry a row belongs to, for rows that are asked for near each other.
pub struct EntryOffsets {
    /// Where each entry's rows begin, and the end.
    pub starts: Vec<usize>,
}

impl EntryOffsets {
    /// The places of these entries' rows.
    pub fn new(entries: &[Entry]) -> Self {
        let mut at = 0;
        let mut starts = Vec::with_capacity(entries.len());
        for entry in entries {
            starts.push(at);
            at += entry.rows;
        }
        Self { starts }
    }

    /// The entry of a row.
    pub fn of(&self, index: usize) -> usize {
        self.starts.partition_point(|start| *start <= index).saturating_sub(1)
    }
}

impl Rows {
    /// The entry that a row belongs to.
    pub fn entry_of(row: usize, entries: &[Entry]) -> usize {
        EntryOffsets::new(entries).of(row)
    }

    /// The address of the link at a point of the column, in this widget of a row.
    pub fn link_at(&self, row: usize, widget: &gtk::Widget, (x, y): (f64, f64)) -> Option<Rc<str>> {
        if let Some(RowWidget::Prose(prose)) = &self.all[row].widget {
            let (x, y) = self.column.translate_coordinates(prose.widget(), x, y)?;
            return prose.link_below(x, y);
        }
        widget.downcast_ref::<gtk::Label>()?.current_uri().map(|uri| Rc::from(uri.as_str()))
    }

    /// The formula at a point of the column, in a row, as it was written.
    pub fn formula_at(&self, row: usize, (x, y): (f64, f64)) -> Option<String> {
        match &self.all[row].widget {
            Some(RowWidget::Prose(prose)) => {
                let (x, y) = self.column.translate_coordinates(prose.widget(), x, y)?;
                prose.formula_below(x, y)
            }
            Some(RowWidget::Formula(block)) => block.source(),
            _ => None,
        }
    }

    /// The project has other files: their names lead there, and others do not any more.
    pub fn mark_files(&self) {
        for row in &self.all[self.made.clone()] {
            match &row.widget {
                Some(RowWidget::Prose(prose)) => prose.mark_files(),
                Some(RowWidget::Table(table)) => table.mark_files(),
                Some(RowWidget::Details(block)) => block.mark_files(),
                Some(RowWidget::Tool(card)) => card.mark_file(),
                Some(RowWidget::User(said)) => said.mark_files(),
                _ => {}
            }
        }
    }
}
