//! The line of controls below the text: what the message is about to the left, whom it goes to at
//! the right. Where both have no room the first go above the second.

use gtk::glib;
use gtk::subclass::prelude::*;
use relm4::gtk::prelude::*;

/// Between the two, in pixels.
const GAP: i32 = 8;
/// Beside the first, the second are content with this width, in pixels: names may be cut.
const CONTENT: i32 = 220;

mod imp {
    use super::{
        CONTENT, GAP, LayoutManagerImpl, ObjectImpl, ObjectSubclass, WidgetExt, glib, height_of,
        two, width_of,
    };

    #[derive(Debug, Default)]
    pub struct Line;

    #[glib::object_subclass]
    impl ObjectSubclass for Line {
        const NAME: &'static str = "NatterComposerLine";
        type Type = super::Line;
        type ParentType = gtk::LayoutManager;
    }

    impl ObjectImpl for Line {}

    impl LayoutManagerImpl for Line {
        fn request_mode(&self, _widget: &gtk::Widget) -> gtk::SizeRequestMode {
            gtk::SizeRequestMode::HeightForWidth
        }

        fn measure(
            &self,
            widget: &gtk::Widget,
            orientation: gtk::Orientation,
            for_size: i32,
        ) -> (i32, i32, i32, i32) {
            let Some((first, second)) = two(widget) else { return (0, 0, -1, -1) };
            let (one, other) = (width_of(&first), width_of(&second));
            if orientation == gtk::Orientation::Horizontal {
                return (one.0.max(other.0), one.1 + GAP + other.1, -1, -1);
            }
            let (one, other) = (height_of(&first), height_of(&second));
            let beside = for_size < 0 || fits(&first, &second, for_size);
            let height = if beside { one.max(other) } else { one + other };
            (height, height, -1, -1)
        }

        fn allocate(&self, widget: &gtk::Widget, width: i32, height: i32, _baseline: i32) {
            let Some((first, second)) = two(widget) else { return };
            let (one, other) = (width_of(&first), width_of(&second));
            let (high_one, high_other) = (height_of(&first), height_of(&second));
            let (wide_one, wide_other, top_one, top_other);
            if fits(&first, &second, width) {
                wide_other = other.1.min(width - GAP - one.0);
                wide_one = one.1.min(width - GAP - wide_other);
                top_one = (height - high_one) / 2;
                top_other = (height - high_other) / 2;
            } else {
                (wide_one, wide_other) = (one.1.min(width), other.1.min(width));
                (top_one, top_other) = (0, height - high_other);
            }
            let to_left = widget.direction() == gtk::TextDirection::Rtl;
            let (left, right) = (0, width - wide_other);
            let (x_one, x_other) = if to_left { (width - wide_one, 0) } else { (left, right) };
            let place = gtk::Allocation::new(x_one, top_one, wide_one, high_one);
            first.size_allocate(&place, -1);
            let place = gtk::Allocation::new(x_other, top_other, wide_other, high_other);
            second.size_allocate(&place, -1);
        }
    }

    /// Whether the second has room enough beside the first.
    fn fits(first: &gtk::Widget, second: &gtk::Widget, width: i32) -> bool {
        let second = width_of(second);
        width_of(first).0 + GAP + second.0.max(second.1.min(CONTENT)) <= width
    }
}

glib::wrapper! {
    /// The layout.
    pub struct Line(ObjectSubclass<imp::Line>) @extends gtk::LayoutManager;
}

/// A line of these two.
pub(super) fn of(first: &impl IsA<gtk::Widget>, second: &impl IsA<gtk::Widget>) -> gtk::Box {
    let line = gtk::Box::builder().css_classes(["send-line"]).build();
    line.append(first);
    line.append(second);
    line.set_layout_manager(Some(glib::Object::new::<Line>()));
    line
}

fn two(widget: &gtk::Widget) -> Option<(gtk::Widget, gtk::Widget)> {
    let first = widget.first_child()?;
    let second = first.next_sibling()?;
    Some((first, second))
}

/// The least width, and the one that is wanted.
fn width_of(widget: &gtk::Widget) -> (i32, i32) {
    let (least, wanted, ..) = widget.measure(gtk::Orientation::Horizontal, -1);
    (least, wanted)
}

fn height_of(widget: &gtk::Widget) -> i32 {
    widget.measure(gtk::Orientation::Vertical, -1).1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[gtk::test]
    fn what_has_no_room_goes_above_and_nothing_is_cut_away() {
        let part =
            |width, height| gtk::Box::builder().width_request(width).height_request(height).build();
        let (first, second) = (part(100, 20), part(180, 30));
        let line = of(&first, &second);
        let high = |width| line.measure(gtk::Orientation::Vertical, width).1;
        assert_eq!(high(100 + GAP + 180), 30);
        assert_eq!(high(100 + GAP + 179), 50);
        assert_eq!(line.measure(gtk::Orientation::Horizontal, -1).0, 180);
    }

    #[gtk::test]
    fn a_long_name_may_be_cut_before_a_second_line_is_begun() {
        let name = gtk::Label::builder()
            .label("a-model-of-a-very-long-name".repeat(3))
            .ellipsize(gtk::pango::EllipsizeMode::End)
            .build();
        let line = of(&gtk::Box::builder().width_request(60).build(), &name);
        let one = line.measure(gtk::Orientation::Vertical, 2000).1;
        assert_eq!(line.measure(gtk::Orientation::Vertical, 60 + GAP + CONTENT).1, one);
    }
}
