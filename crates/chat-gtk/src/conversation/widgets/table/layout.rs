//! Lays a table out: columns get the room that there is, and cells wrap where that is little.
//!
//! A `Grid` in a `ScrolledWindow` never learns its width before its height is asked for, so that no
//! cell could wrap.

use gtk::prelude::*;
use gtk::{Orientation, glib};

mod imp {
    use std::cell::RefCell;

    use gtk::prelude::*;
    use gtk::subclass::prelude::*;
    use gtk::{Orientation, glib};

    use super::{bounds, children, row_height, widths};

    /// How tall the bar is before it was ever shown, in pixels.
    const LEAST_BAR: i32 = 14;

    /// Gives each column its width and each row its height.
    #[derive(Debug, Default)]
    pub struct Columns {
        /// How wide the columns must be and would be. GTK asks for the width first whenever a cell changed.
        bounds: RefCell<Vec<(i32, i32)>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Columns {
        const NAME: &'static str = "NatterTableColumns";
        type Type = super::Columns;
        type ParentType = gtk::LayoutManager;
    }

    impl ObjectImpl for Columns {}

    impl LayoutManagerImpl for Columns {
        fn request_mode(&self, _widget: &gtk::Widget) -> gtk::SizeRequestMode {
            gtk::SizeRequestMode::HeightForWidth
        }

        fn measure(
            &self,
            widget: &gtk::Widget,
            orientation: Orientation,
            for_size: i32,
        ) -> (i32, i32, i32, i32) {
            if orientation == Orientation::Horizontal {
                self.bounds.replace(bounds(widget));
            }
            let bounds = self.bounds.borrow();
            if orientation == Orientation::Horizontal {
                let least = bounds.iter().map(|(least, _)| least).sum();
                let natural = bounds.iter().map(|(_, natural)| natural).sum();
                return (least, natural, -1, -1);
            }
            let widths = widths(&bounds, if for_size < 0 { i32::MAX } else { for_size });
            let height = children(widget).map(|row| row_height(&row, &widths)).sum();
            (height, height, -1, -1)
        }

        fn allocate(&self, widget: &gtk::Widget, width: i32, _height: i32, _baseline: i32) {
            let widths = widths(&self.bounds.borrow(), width);
            let across = widths.iter().sum::<i32>();
            let mut y = 0;
            for row in children(widget) {
                let height = row_height(&row, &widths);
                if let Some(cells) = row.layout_manager().and_downcast::<super::Cells>() {
                    cells.imp().widths.replace(widths.clone());
                }
                row.size_allocate(&gtk::Allocation::new(0, y, across, height), -1);
                y += height;
            }
        }
    }

    /// Puts the cells of a row where their columns are.
    #[derive(Debug, Default)]
    pub struct Cells {
        pub(super) widths: RefCell<Vec<i32>>,
    }

    #[glib::object_subclass]
    impl ObjectSubclass for Cells {
        const NAME: &'static str = "NatterTableCells";
        type Type = super::Cells;
        type ParentType = gtk::LayoutManager;
    }

    impl ObjectImpl for Cells {}

    impl LayoutManagerImpl for Cells {
        // The table measures the cells themselves.
        fn measure(
            &self,
            _widget: &gtk::Widget,
            _orientation: Orientation,
            _for_size: i32,
        ) -> (i32, i32, i32, i32) {
            (0, 0, -1, -1)
        }

        fn allocate(&self, widget: &gtk::Widget, _width: i32, height: i32, _baseline: i32) {
            let mut x = 0;
            for (cell, width) in children(widget).zip(&*self.widths.borrow()) {
                cell.size_allocate(&gtk::Allocation::new(x, 0, *width, height), -1);
                x += width;
            }
        }
    }

    /// Makes a frame as tall as the table in it is at the frame's width.
    #[derive(Debug, Default)]
    pub struct Frame;

    #[glib::object_subclass]
    impl ObjectSubclass for Frame {
        const NAME: &'static str = "NatterTableFrame";
        type Type = super::Frame;
        type ParentType = gtk::LayoutManager;
    }

    impl ObjectImpl for Frame {}

    impl LayoutManagerImpl for Frame {
        fn request_mode(&self, _widget: &gtk::Widget) -> gtk::SizeRequestMode {
            gtk::SizeRequestMode::HeightForWidth
        }

        fn measure(
            &self,
            widget: &gtk::Widget,
            orientation: Orientation,
            for_size: i32,
        ) -> (i32, i32, i32, i32) {
            let scroller = widget.first_child().and_downcast::<gtk::ScrolledWindow>();
            let Some(scroller) = scroller else { return (0, 0, -1, -1) };
            let table = scroller.child().and_then(|viewport| viewport.first_child());
            let Some(table) = table else { return (0, 0, -1, -1) };
            let (frame, ..) = scroller.measure(orientation, -1);
            let (least, natural, ..) = table.measure(Orientation::Horizontal, -1);
            if orientation == Orientation::Horizontal {
                return (frame, natural.max(frame), -1, -1);
            }
            let width = if for_size < 0 { natural } else { for_size };
            let bar = if least > width {
                scroller.hscrollbar().measure(Orientation::Vertical, -1).1.max(LEAST_BAR)
            } else {
                0
            };
            let height = table.measure(Orientation::Vertical, width.max(least)).1 + bar;
            let height = height.max(frame);
            (height, height, -1, -1)
        }

        fn allocate(&self, widget: &gtk::Widget, width: i32, height: i32, _baseline: i32) {
            if let Some(scroller) = widget.first_child() {
                scroller.size_allocate(&gtk::Allocation::new(0, 0, width, height), -1);
            }
        }
    }
}

glib::wrapper! {
    /// The layout of a table, whose children are rows.
    pub struct Columns(ObjectSubclass<imp::Columns>) @extends gtk::LayoutManager;
}

glib::wrapper! {
    /// The layout of a row.
    pub struct Cells(ObjectSubclass<imp::Cells>) @extends gtk::LayoutManager;
}

glib::wrapper! {
    /// The layout of the frame round a scroller with a table in it.
    pub struct Frame(ObjectSubclass<imp::Frame>) @extends gtk::LayoutManager;
}

impl Default for Columns {
    fn default() -> Self {
        glib::Object::new()
    }
}

impl Default for Cells {
    fn default() -> Self {
        glib::Object::new()
    }
}

impl Default for Frame {
    fn default() -> Self {
        glib::Object::new()
    }
}

fn children(widget: &gtk::Widget) -> impl Iterator<Item = gtk::Widget> {
    std::iter::successors(widget.first_child(), gtk::Widget::next_sibling)
}

/// For every column how wide its cells must be, and how wide they would be.
fn bounds(table: &gtk::Widget) -> Vec<(i32, i32)> {
    let mut out: Vec<(i32, i32)> = Vec::new();
    for row in children(table) {
        for (column, cell) in children(&row).enumerate() {
            let (least, natural, ..) = cell.measure(Orientation::Horizontal, -1);
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
    let heights = children(row)
        .zip(widths)
        .map(|(cell, width)| cell.measure(Orientation::Vertical, *width).1);
    heights.max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_share_what_room_there_is() {
        let bounds = [(20, 40), (30, 230)];
        assert_eq!(widths(&bounds, 400), [40, 230]);
        assert_eq!(widths(&bounds, 160), [30, 130]);
        assert_eq!(widths(&bounds, 10), [20, 30]);
        assert!(widths(&[], 10).is_empty());
    }
}
