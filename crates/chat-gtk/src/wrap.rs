//! Lays out widgets in a row and starts a new line where one does not fit, like words in a text.

use relm4::gtk::prelude::*;

use crate::layout::{self, Layout, place, width_of};

/// The gap between two widgets, in pixels.
const GAP: i32 = 4;

struct Wrap {
    /// Whether each line stands at the end of the width.
    at_end: bool,
}

impl Layout for Wrap {
    fn measure(
        &self,
        widget: &gtk::Widget,
        orientation: gtk::Orientation,
        for_size: i32,
    ) -> (i32, i32) {
        if orientation == gtk::Orientation::Horizontal {
            let widths: Vec<_> = layout::children(widget).map(|child| width_of(&child)).collect();
            let least = widths.iter().map(|(least, _)| *least).max().unwrap_or(0);
            let all: i32 = widths.iter().map(|(_, wanted)| wanted + GAP).sum();
            return (least, (all - GAP).max(least));
        }
        let lines = lines(widget, if for_size < 0 { i32::MAX } else { for_size });
        let high: i32 = lines.iter().map(|line| line.height + GAP).sum();
        ((high - GAP).max(0), (high - GAP).max(0))
    }

    fn allocate(&self, widget: &gtk::Widget, width: i32, _height: i32) {
        let mut y = 0;
        for line in lines(widget, width) {
            let wide: i32 = line.widgets.iter().map(|(_, wide)| wide + GAP).sum();
            let mut x = if self.at_end { (width - wide + GAP).max(0) } else { 0 };
            for (child, wide) in line.widgets {
                place(&child, width, x, y, (wide, line.height));
                x += wide + GAP;
            }
            y += line.height + GAP;
        }
    }
}

/// Creates an empty box with this layout.
pub(crate) fn wrap() -> gtk::Box {
    with(Wrap { at_end: false })
}

/// Creates one whose lines stand at the end of its width.
pub(crate) fn wrap_at_end() -> gtk::Box {
    with(Wrap { at_end: true })
}

fn with(wrap: Wrap) -> gtk::Box {
    let root = gtk::Box::default();
    root.set_layout_manager(Some(layout::manager(wrap)));
    root
}

struct Line {
    widgets: Vec<(gtk::Widget, i32)>,
    height: i32,
}

fn lines(widget: &gtk::Widget, width: i32) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut left = 0;
    for widget in layout::children(widget) {
        let (least, wanted) = width_of(&widget);
        let wide = wanted.min(width).max(least);
        let high = layout::height_of(&widget, wide);
        if let Some(line) = lines.last_mut().filter(|_| left >= wide) {
            line.widgets.push((widget, wide));
            line.height = line.height.max(high);
            left -= wide + GAP;
        } else {
            lines.push(Line { widgets: vec![(widget, wide)], height: high });
            left = width.saturating_sub(wide + GAP);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[gtk::test]
    fn lines_stand_at_the_end_where_that_is_wanted() {
        let all = wrap_at_end();
        let parts = [100, 80, 60]
            .map(|width| gtk::Box::builder().width_request(width).height_request(20).build());
        for part in &parts {
            all.append(part);
        }
        let high = all.measure(gtk::Orientation::Vertical, 200).1;
        all.allocate(200, high, -1, None);
        let places = parts.each_ref().map(|part| {
            part.compute_bounds(&all).map(|place| (place.x() as i32, place.y() as i32))
        });
        let first = 200 - 100 - GAP - 80;
        let second = 20 + GAP;
        assert_eq!(
            places,
            [Some((first, 0)), Some((first + 100 + GAP, 0)), Some((200 - 60, second))]
        );
    }

    #[gtk::test]
    fn what_has_no_room_begins_a_line() {
        let all = wrap();
        for width in [100, 80, 60] {
            all.append(&gtk::Box::builder().width_request(width).height_request(20).build());
        }
        let high = |width| all.measure(gtk::Orientation::Vertical, width).1;
        let (least, wanted, ..) = all.measure(gtk::Orientation::Horizontal, -1);
        assert_eq!((least, wanted), (100, 100 + GAP + 80 + GAP + 60));
        assert_eq!(high(wanted), 20);
        assert_eq!(high(wanted - 1), 20 + GAP + 20);
        assert_eq!(high(100), 3 * 20 + 2 * GAP);
        assert_eq!(high(-1), 20, "where nobody says how wide, there is room");
    }
}
