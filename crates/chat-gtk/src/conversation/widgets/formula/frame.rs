//! Makes the frame of a formula as tall as the formula, with room for the bar where it is scrolled
//! sideways: a scrolled window does not know of its bar before it has its width.

use gtk::Orientation;
use gtk::prelude::*;

use crate::layout::{Layout, height_of, width_of};

/// How tall the bar is before it was ever shown, in pixels.
const LEAST_BAR: i32 = 14;

/// The layout of a frame whose only child is the scrolled window with a formula.
pub struct Frame;

impl Layout for Frame {
    fn measure(&self, widget: &gtk::Widget, orientation: Orientation, for_size: i32) -> (i32, i32) {
        let scroller = widget.first_child().and_downcast::<gtk::ScrolledWindow>();
        let Some(scroller) = scroller else { return (0, 0) };
        let formula = scroller.child().and_then(|viewport| viewport.first_child());
        let Some(formula) = formula else { return (0, 0) };
        let (width, _) = width_of(&formula);
        if orientation == Orientation::Horizontal {
            let (least, ..) = scroller.measure(orientation, -1);
            return (least, width.max(least));
        }
        let is_scrolled = for_size >= 0 && width > for_size;
        let bar = height_of(scroller.hscrollbar().as_ref(), -1).max(LEAST_BAR);
        let height = height_of(&formula, -1) + if is_scrolled { bar } else { 0 };
        (height, height)
    }
}
