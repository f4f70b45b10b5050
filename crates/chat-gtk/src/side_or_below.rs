//! A layout of two: the second beside the first where both have room, else below it.

use gtk::glib;
use gtk::subclass::prelude::*;
use relm4::gtk::prelude::*;

/// What is left to words must be at least this wide, in pixels, or what stands beside them goes
/// below.
const WORDS: i32 = 240;
/// Between the two, in pixels.
const GAP: i32 = 10;

mod imp {
    use super::{
        GAP, LayoutManagerImpl, ObjectImpl, ObjectSubclass, WidgetExt, glib, left_beside, two,
    };

    #[derive(Debug, Default)]
    pub struct SideOrBelow;

    #[glib::object_subclass]
    impl ObjectSubclass for SideOrBelow {
        const NAME: &'static str = "NatterSideOrBelow";
        type Type = super::SideOrBelow;
        type ParentType = gtk::LayoutManager;
    }

    impl ObjectImpl for SideOrBelow {}

    impl LayoutManagerImpl for SideOrBelow {
        fn request_mode(&self, _widget: &gtk::Widget) -> gtk::SizeRequestMode {
            gtk::SizeRequestMode::HeightForWidth
        }

        fn measure(
            &self,
            widget: &gtk::Widget,
            orientation: gtk::Orientation,
            for_size: i32,
        ) -> (i32, i32, i32, i32) {
            let (Some(first), second) = two(widget) else { return (0, 0, -1, -1) };
            let Some(second) = second else {
                let (minimum, natural, ..) = first.measure(orientation, for_size);
                return (minimum, natural, -1, -1);
            };
            let (one, other) = (first.measure(orientation, -1), second.measure(orientation, -1));
            if orientation == gtk::Orientation::Horizontal {
                return (one.0.max(other.0), one.1 + GAP + other.1, -1, -1);
            }
            let height = match left_beside(&second, for_size) {
                Some(left) => first.measure(orientation, left).1.max(other.1),
                None => first.measure(orientation, for_size).1 + GAP + other.1,
            };
            (height, height, -1, -1)
        }

        fn allocate(&self, widget: &gtk::Widget, width: i32, height: i32, _baseline: i32) {
            let (Some(first), second) = two(widget) else { return };
            let Some(second) = second else {
                first.size_allocate(&gtk::Allocation::new(0, 0, width, height), -1);
                return;
            };
            let (_, wide, ..) = second.measure(gtk::Orientation::Horizontal, -1);
            let (_, high, ..) = second.measure(gtk::Orientation::Vertical, -1);
            let wide = wide.min(width);
            let (of_first, top) = match left_beside(&second, width) {
                Some(left) => ((left, height), (height - high) / 2),
                None => ((width, height - GAP - high), height - high),
            };
            let to_left = widget.direction() == gtk::TextDirection::Rtl;
            let (first_x, second_x) =
                if to_left { (width - of_first.0, 0) } else { (0, width - wide) };
            let place = gtk::Allocation::new(first_x, 0, of_first.0, of_first.1);
            first.size_allocate(&place, -1);
            second.size_allocate(&gtk::Allocation::new(second_x, top, wide, high), -1);
        }
    }
}

glib::wrapper! {
    /// The layout.
    pub struct SideOrBelow(ObjectSubclass<imp::SideOrBelow>) @extends gtk::LayoutManager;
}

/// A box of words and of what can be done about them.
pub(crate) fn pair(words: &impl IsA<gtk::Widget>, actions: &impl IsA<gtk::Widget>) -> gtk::Box {
    let pair = gtk::Box::builder().hexpand(true).build();
    pair.append(words);
    pair.append(actions);
    pair.set_layout_manager(Some(glib::Object::new::<SideOrBelow>()));
    pair
}

/// The two children, as far as they are shown.
fn two(widget: &gtk::Widget) -> (Option<gtk::Widget>, Option<gtk::Widget>) {
    let mut shown = std::iter::successors(widget.first_child(), WidgetExt::next_sibling)
        .filter(gtk::Widget::should_layout);
    (shown.next(), shown.next())
}

/// The width that is left to the first beside the second; none where the second goes below.
fn left_beside(second: &gtk::Widget, width: i32) -> Option<i32> {
    if width < 0 {
        // So a widget is asked how high it is at any width.
        return Some(-1);
    }
    let left = width - GAP - second.measure(gtk::Orientation::Horizontal, -1).1;
    (left >= WORDS).then_some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[gtk::test]
    fn what_has_no_room_beside_the_words_goes_below_them() {
        let words = gtk::Label::builder().label("word ".repeat(20)).wrap(true).build();
        let actions = gtk::Box::builder().width_request(150).height_request(1).build();
        let pair = pair(&words, &actions);
        let (_, width, ..) = pair.measure(gtk::Orientation::Horizontal, -1);
        let high = |width| pair.measure(gtk::Orientation::Vertical, width).1;
        let narrow = WORDS + GAP + 150 - 1;

        assert!(high(width) < high(narrow), "below, it needs another line");
        assert_eq!(
            high(narrow),
            words.measure(gtk::Orientation::Vertical, narrow).1 + GAP + 1,
            "the words have the whole width"
        );
        assert_eq!(high(-1), high(width), "where nobody says how wide, there is room");
    }
}
