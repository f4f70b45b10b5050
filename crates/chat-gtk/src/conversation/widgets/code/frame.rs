//! Gives a code block its height: that of its lines, of the first ones while the rest is folded, and of lines that
//! wrap.

use std::cell::Cell;
use std::rc::Rc;

use gtk::glib;
use gtk::prelude::*;

use crate::conversation::widgets::fitted::height_of;
use crate::layout::Layout;

/// What the height depends on.
#[derive(Default)]
pub struct Measures {
    /// How many lines the code has.
    pub lines: Cell<i32>,
    /// How tall one is, in pixels.
    pub line: Cell<i32>,
    /// How many are shown at most.
    pub most: Cell<i32>,
    /// Whether those behind them are folded away, rather than scrolled to.
    pub is_folded: Cell<bool>,
    /// Whether lines wrap.
    pub wraps: Cell<bool>,
}

/// Free space above and below the code together, in pixels; the style sheet says the same.
pub const PADDING: i32 = 12;

/// So many lines have a place at most while some are folded away.
const MOST_PLACED: i32 = 1_000;

/// The layout of the frame round the code.
pub struct Frame {
    pub view: glib::WeakRef<gtk::TextView>,
    pub measures: Rc<Measures>,
}

impl Frame {
    /// How tall the first lines are at a width: at most so many.
    fn height(&self, width: i32, most: i32) -> i32 {
        let measures = &self.measures;
        let tallest = most.saturating_mul(measures.line.get()).saturating_add(PADDING);
        let lines = measures.lines.get() * measures.line.get() + PADDING;
        let view = self.view.upgrade().filter(|_| measures.wraps.get() && width > 0);
        let Some(view) = view else { return lines.min(tallest) };
        height_of(&view, width, tallest).min(tallest)
    }
}

impl Layout for Frame {
    fn measure(
        &self,
        widget: &gtk::Widget,
        orientation: gtk::Orientation,
        for_size: i32,
    ) -> (i32, i32) {
        let Some(scroller) = widget.first_child() else { return (0, 0) };
        let (least, natural, ..) = scroller.measure(orientation, for_size);
        if orientation == gtk::Orientation::Horizontal {
            return (least, natural);
        }
        let height = self.height(for_size, self.measures.most.get());
        (height, height)
    }

    fn allocate(&self, widget: &gtk::Widget, width: i32, height: i32) {
        let Some(scroller) = widget.first_child() else { return };
        // What is folded away has its place below the edge, where nobody sees it.
        let tall =
            if self.measures.is_folded.get() { self.height(width, MOST_PLACED) } else { height };
        let (least, ..) = scroller.measure(gtk::Orientation::Vertical, width);
        scroller.size_allocate(&gtk::Allocation::new(0, 0, width, tall.max(height).max(least)), -1);
    }
}
