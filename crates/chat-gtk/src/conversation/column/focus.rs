//! Moves the focus with Tab from row to row, also to rows that are out of sight or have no widgets yet. What gets
//! the focus is brought into sight.

use gtk::prelude::*;
use gtk::subclass::prelude::*;

use super::imp;
use crate::conversation::widgets::position::RowPosition;

impl imp::Column {
    /// Moves the focus on, or back. Whether it stays in the column.
    pub(super) fn move_focus(&self, forward: bool) -> bool {
        let column = self.obj();
        let direction =
            if forward { gtk::DirectionType::TabForward } else { gtk::DirectionType::TabBackward };
        let inside = self.child_with_focus();
        if inside.as_ref().is_some_and(|inside| inside.child_focus(direction)) {
            if let Some(index) = inside.and_then(|row| self.index_of(&row)) {
                self.reveal_focus(index);
            }
            return true;
        }
        let tail = self.tail.borrow().clone().filter(gtk::Widget::is_visible);
        let rows = column.len();
        let mut next = match inside.as_ref().map(|inside| self.index_of(inside)) {
            Some(Some(index)) if forward => index + 1,
            Some(Some(index)) => index,
            // Out of what stands below the rows.
            Some(None) if forward => return false,
            Some(None) => rows,
            // Who comes from outside begins with what they see.
            None if forward => column.first_in_sight().unwrap_or(0),
            None if tail.as_ref().is_some_and(|tail| tail.child_focus(direction)) => return true,
            None => self.end_of_sight(),
        };
        loop {
            let (end, rows) = (if forward { column.len() } else { 0 }, column.len());
            if next == end {
                let beyond = self.beyond.borrow();
                if !beyond.as_ref().is_some_and(|beyond| beyond(forward)) {
                    break;
                }
                // What was made above stands where the first row stood.
                next = if forward { rows } else { column.len() - rows };
            }
            let index = if forward { next } else { next - 1 };
            if self.enter(index, forward) {
                return true;
            }
            next = if forward { index + 1 } else { index };
        }
        forward && tail.is_some_and(|tail| tail.child_focus(direction))
    }

    /// Gives a row the focus. Whether it can have it.
    fn enter(&self, index: usize, forward: bool) -> bool {
        let row = self.rows.borrow().get(index).map(|row| (row.widget.clone(), row.text.clone()));
        let Some((widget, text)) = row else { return false };
        let seen = widget.is_child_visible();
        // What is not mapped cannot have the focus. It gets its place before the next frame.
        widget.set_child_visible(true);
        // The first link comes first, and on the way back the last one.
        if let Some(buffer) = text.map(|text| text.buffer()).filter(|text| !text.has_selection()) {
            let (start, end) = buffer.bounds();
            buffer.place_cursor(if forward { &start } else { &end });
        }
        let direction =
            if forward { gtk::DirectionType::TabForward } else { gtk::DirectionType::TabBackward };
        if widget.child_focus(direction) {
            self.reveal_focus(index);
            return true;
        }
        widget.set_child_visible(seen);
        false
    }

    /// Brings what has the focus in this row into sight.
    pub(super) fn reveal_focus(&self, index: usize) {
        let row = self.rows.borrow().get(index).map(|row| row.widget.clone());
        let focus = self.obj().root().and_then(|root| root.focus());
        if let (Some(row), Some(focus)) = (row, focus) {
            self.obj().reveal(index, RowPosition::of_focus(&focus, &row), self.live.get());
        }
    }

    /// The row with the window's focus, or the tail if that has it. Unlike `focus_child`, which is empty then, it is
    /// known while another window is active.
    pub(super) fn child_with_focus(&self) -> Option<gtk::Widget> {
        let column = self.obj();
        let mut widget = column.root()?.focus()?;
        loop {
            let parent = widget.parent()?;
            if parent == *column.upcast_ref::<gtk::Widget>() {
                return Some(widget);
            }
            widget = parent;
        }
    }

    /// The row that a widget is, or stands in.
    pub(super) fn index_of(&self, widget: &gtk::Widget) -> Option<usize> {
        let rows = self.rows.borrow();
        rows.iter().position(|row| row.widget == *widget || widget.is_ancestor(&row.widget))
    }

    /// Behind the last row that is seen.
    fn end_of_sight(&self) -> usize {
        let (value, page, _) = self.obj().extent();
        let rows = self.rows.borrow();
        rows.iter().take_while(|row| f64::from(row.y) < value + page).count()
    }
}
