//! Lays a table out: columns get the room that there is, and cells wrap where that is little.
//!
//! A `Grid` in a `ScrolledWindow` never learns its width before its height is asked for, so that no
//! cell could wrap.

use std::cell::RefCell;
use std::rc::Rc;

use gtk::Orientation;
use gtk::prelude::*;

use crate::layout::{Layout, children, height_of, place, width_of};

/// How tall the bar is before it was ever shown, in pixels.
const LEAST_BAR: i32 = 14;

/// The widths of a table's columns.
pub type Widths = Rc<RefCell<Vec<i32>>>;

/// Gives each column its width and each row its height.
#[derive(Default)]
pub struct Columns {
    /// How wide the columns must be and would be. GTK asks for the width first whenever a cell changed.
    bounds: RefCell<Vec<(i32, i32)>>,
    pub widths: Widths,
}

impl Layout for Columns {
    fn measure(&self, widget: &gtk::Widget, orientation: Orientation, for_size: i32) -> (i32, i32) {
        if orientation == Orientation::Horizontal {
            self.bounds.replace(bounds(widget));
        }
        let bounds = self.bounds.borrow();
        if orientation == Orientation::Horizontal {
            let least = bounds.iter().map(|(least, _)| least).sum();
            let natural = bounds.iter().map(|(_, natural)| natural).sum();
            return (least, natural);
        }
        let widths = widths(&bounds, if for_size < 0 { i32::MAX } else { for_size });
        let height = children(widget).map(|row| row_height(&row, &widths)).sum();
        (height, height)
    }

    fn allocate(&self, widget: &gtk::Widget, width: i32, _height: i32) {
        let widths = widths(&self.bounds.borrow(), width);
        self.widths.replace(widths.clone());
        let across = widths.iter().sum::<i32>();
        let mut y = 0;
        for row in children(widget) {
            let height = row_height(&row, &widths);
            row.size_allocate(&gtk::Allocation::new(0, y, across, height), -1);
            y += height;
        }
    }
}

/// Puts the cells of a row where their columns are.
pub struct Cells(pub Widths);

impl Layout for Cells {
    // The table measures the cells themselves.
    fn measure(&self, _widget: &gtk::Widget, _: Orientation, _for_size: i32) -> (i32, i32) {
        (0, 0)
    }

    fn allocate(&self, widget: &gtk::Widget, _width: i32, height: i32) {
        let mut x = 0;
        for (cell, width) in children(widget).zip(&*self.0.borrow()) {
            cell.size_allocate(&gtk::Allocation::new(x, 0, *width, height), -1);
            x += width;
        }
    }
}

/// In less room than this the button of a table stands above it, if the table needs all of that: the button would
/// cover much of a heading. In pixels.
const NARROW: i32 = 420;

/// How much room a button needs above a table of this natural width.
fn above(button: Option<&gtk::Widget>, natural: i32, width: i32) -> i32 {
    let Some(button) = button.filter(|_| width < NARROW) else { return 0 };
    let (_, across) = width_of(button);
    if natural + across > width { height_of(button, across) } else { 0 }
}

/// Makes a frame as tall as the table in it is at the frame's width.
pub struct Frame;

impl Layout for Frame {
    fn measure(&self, widget: &gtk::Widget, orientation: Orientation, for_size: i32) -> (i32, i32) {
        let scroller = widget.first_child().and_downcast::<gtk::ScrolledWindow>();
        let Some(scroller) = scroller else { return (0, 0) };
        let table = scroller.child().and_then(|viewport| viewport.first_child());
        let Some(table) = table else { return (0, 0) };
        let (frame, ..) = scroller.measure(orientation, -1);
        let (least, natural) = width_of(&table);
        if orientation == Orientation::Horizontal {
            return (frame, natural.max(frame));
        }
        let width = if for_size < 0 { natural } else { for_size };
        let bar = if least > width {
            height_of(scroller.hscrollbar().as_ref(), -1).max(LEAST_BAR)
        } else {
            0
        };
        let button = scroller.next_sibling();
        let above = if for_size < 0 { 0 } else { above(button.as_ref(), natural, width) };
        let height = above + (height_of(&table, width.max(least)) + bar).max(frame);
        (height, height)
    }

    fn allocate(&self, widget: &gtk::Widget, width: i32, height: i32) {
        let mut parts = children(widget);
        let (scroller, button) = (parts.next(), parts.next());
        if let Some(scroller) = scroller.and_downcast::<gtk::ScrolledWindow>() {
            let table = scroller.child().and_then(|viewport| viewport.first_child());
            let natural = table.map_or(0, |table| width_of(&table).1);
            let above = above(button.as_ref(), natural, width);
            let room = gtk::Allocation::new(0, above, width, height - above);
            scroller.size_allocate(&room, -1);
        }
        // The button stands over the end of the head, or above that.
        if let Some(button) = button {
            let (_, across) = width_of(&button);
            let tall = height_of(&button, across);
            place(&button, width, width - across, 0, (across, tall));
        }
    }
}

/// For every column how wide its cells must be, and how wide they would be.
fn bounds(table: &gtk::Widget) -> Vec<(i32, i32)> {
    let mut out: Vec<(i32, i32)> = Vec::new();
    for row in children(table) {
        for (column, cell) in children(&row).enumerate() {
            let (least, natural) = width_of(&cell);
            match out.get_mut(column) {
                Some(known) => *known = (known.0.max(least), known.1.max(natural)),
                None => out.push((least, natural)),
            }
        }
    }
    out
}

/// How wide columns are in so much room: as they would be where it is enough, else they share it; no
/// less than they must be.
fn widths(bounds: &[(i32, i32)], room: i32) -> Vec<i32> {
    let least: i32 = bounds.iter().map(|(least, _)| least).sum();
    let natural: i32 = bounds.iter().map(|(_, natural)| natural).sum();
    if natural <= room {
        return bounds.iter().map(|(_, natural)| *natural).collect();
    }
    let (free, wanted) = ((room - least).max(0), (natural - least).max(1));
    let share = |want: i32| (i64::from(free) * i64::from(want) / i64::from(wanted)) as i32;
    bounds.iter().map(|(least, natural)| least + share(natural - least)).collect()
}

fn row_height(row: &gtk::Widget, widths: &[i32]) -> i32 {
    let heights = children(row).zip(widths).map(|(cell, width)| height_of(&cell, *width));
    heights.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[gtk::test]
    fn the_button_stands_above_a_table_that_needs_all_of_little_room() {
        crate::init();
        let button = gtk::Button::builder().height_request(60).width_request(60).build();
        let above = |natural, width| above(Some(button.upcast_ref()), natural, width);
        assert_eq!(above(300, 330), 60);
        assert_eq!(above(200, 330), 0, "it stands beside it");
        assert_eq!(above(900, 760), 0, "there is room enough for both");
    }

    #[test]
    fn columns_share_what_room_there_is() {
        let bounds = [(20, 40), (30, 230)];
        assert_eq!(widths(&bounds, 400), [40, 230]);
        assert_eq!(widths(&bounds, 160), [30, 130]);
        assert_eq!(widths(&bounds, 10), [20, 30]);
        assert!(widths(&[], 10).is_empty());
    }
}
