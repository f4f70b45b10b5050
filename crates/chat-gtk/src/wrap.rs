//! Lays out widgets in a row and starts a new line where one does not fit, like words in a text.

use gtk::glib;
use gtk::subclass::prelude::*;
use relm4::gtk::prelude::*;

/// The gap between two widgets, in pixels.
const GAP: i32 = 4;

mod imp {
    use super::{
        GAP, LayoutManagerImpl, ObjectImpl, ObjectSubclass, WidgetExt, glib, lines, shown, width_of,
    };

    #[derive(Debug, Default)]
    pub struct Wrap;

    #[glib::object_subclass]
    impl ObjectSubclass for Wrap {
        const NAME: &'static str = "NatterWrap";
        type Type = super::Wrap;
        type ParentType = gtk::LayoutManager;
    }

    impl ObjectImpl for Wrap {}

    impl LayoutManagerImpl for Wrap {
        fn request_mode(&self, _widget: &gtk::Widget) -> gtk::SizeRequestMode {
            gtk::SizeRequestMode::HeightForWidth
        }

        fn measure(
            &self,
            widget: &gtk::Widget,
            orientation: gtk::Orientation,
            for_size: i32,
        ) -> (i32, i32, i32, i32) {
            let shown = shown(widget);
            if orientation == gtk::Orientation::Horizontal {
                let widths: Vec<_> = shown.iter().map(width_of).collect();
                let least = widths.iter().map(|(least, _)| *least).max().unwrap_or(0);
                let all: i32 = widths.iter().map(|(_, wanted)| wanted + GAP).sum();
                return (least, (all - GAP).max(least), -1, -1);
            }
            let width = if for_size < 0 { i32::MAX } else { for_size };
            let lines = lines(&shown, width);
            let high: i32 = lines.iter().map(|line| line.height + GAP).sum();
            ((high - GAP).max(0), (high - GAP).max(0), -1, -1)
        }

        fn allocate(&self, widget: &gtk::Widget, width: i32, _height: i32, _baseline: i32) {
            let to_left = widget.direction() == gtk::TextDirection::Rtl;
            let mut y = 0;
            for line in lines(&shown(widget), width) {
                let mut x = 0;
                for (child, wide) in line.widgets {
                    let left = if to_left { width - x - wide } else { x };
                    let place = gtk::Allocation::new(left, y, wide, line.height);
                    child.size_allocate(&place, -1);
                    x += wide + GAP;
                }
                y += line.height + GAP;
            }
        }
    }
}

glib::wrapper! {
    /// The layout.
    pub struct Wrap(ObjectSubclass<imp::Wrap>) @extends gtk::LayoutManager;
}

/// Creates an empty box with this layout.
pub(crate) fn wrap() -> gtk::Box {
    let root = gtk::Box::default();
    root.set_layout_manager(Some(glib::Object::new::<Wrap>()));
    root
}

struct Line {
    widgets: Vec<(gtk::Widget, i32)>,
    height: i32,
}

fn lines(widgets: &[gtk::Widget], width: i32) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    let mut left = 0;
    for widget in widgets {
        let (least, wanted) = width_of(widget);
        let wide = wanted.min(width).max(least);
        let (_, high, ..) = widget.measure(gtk::Orientation::Vertical, wide);
        if let Some(line) = lines.last_mut().filter(|_| left >= wide) {
            line.widgets.push((widget.clone(), wide));
            line.height = line.height.max(high);
            left -= wide + GAP;
        } else {
            lines.push(Line { widgets: vec![(widget.clone(), wide)], height: high });
            left = width.saturating_sub(wide + GAP);
        }
    }
    lines
}

fn shown(widget: &gtk::Widget) -> Vec<gtk::Widget> {
    std::iter::successors(widget.first_child(), WidgetExt::next_sibling)
        .filter(gtk::Widget::should_layout)
        .collect()
}

/// The minimum and the natural width.
fn width_of(widget: &gtk::Widget) -> (i32, i32) {
    let (least, wanted, ..) = widget.measure(gtk::Orientation::Horizontal, -1);
    (least, wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

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
