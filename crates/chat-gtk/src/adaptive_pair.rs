//! Lays out two widgets: next to each other where both fit, otherwise one below the other.

use relm4::gtk::prelude::*;

use crate::layout::{self, Layout, height_of, place, width_of};

/// The gap between the two, in pixels.
const GAP: i32 = 10;

/// How far the two widgets may shrink to stay side by side.
#[derive(Clone, Copy)]
struct PairLimits {
    /// The widths that are enough for them, in pixels. A widget that wants less, or needs more,
    /// gets what it wants or needs.
    first: i32,
    second: i32,
    /// The gap between them when one is below the other, in pixels.
    row_gap: i32,
}

/// Text, and its actions: text with less width than this goes above.
const WORDS: PairLimits = PairLimits { first: 240, second: i32::MAX, row_gap: 10 };
/// A title, and additional information.
const TITLE: PairLimits = PairLimits { first: 160, second: i32::MAX, row_gap: 2 };
/// Two buttons, which are never cut off.
const BUTTONS: PairLimits = PairLimits { first: i32::MAX, second: i32::MAX, row_gap: 6 };
/// A small control, and a text at the end of the line, which takes the space that is left.
const AT_END: PairLimits = PairLimits { first: 0, second: 0, row_gap: 0 };
/// Two groups of controls, which may both be cut a little.
const CONTROLS: PairLimits = PairLimits { first: 0, second: 220, row_gap: 0 };

impl Layout for PairLimits {
    fn measure(
        &self,
        widget: &gtk::Widget,
        orientation: gtk::Orientation,
        for_size: i32,
    ) -> (i32, i32) {
        let (Some(first), second) = two(widget) else { return (0, 0) };
        let Some(second) = second else {
            let (minimum, natural, ..) = first.measure(orientation, for_size);
            return (minimum, natural);
        };
        if orientation == gtk::Orientation::Horizontal {
            let (one, other) = (width_of(&first), width_of(&second));
            return (one.0.max(other.0), one.1 + GAP + other.1);
        }
        let height = if let Some((one, other)) = self.widths(&first, &second, for_size) {
            height_of(&first, one).max(height_of(&second, other))
        } else {
            let wide = width_of(&second).1.min(for_size);
            height_of(&first, for_size) + self.row_gap + height_of(&second, wide)
        };
        (height, height)
    }

    fn allocate(&self, widget: &gtk::Widget, width: i32, height: i32) {
        let (Some(first), second) = two(widget) else { return };
        let Some(second) = second else {
            place(&first, width, 0, 0, (width, height));
            return;
        };
        let (of_first, of_second, top);
        if let Some((one, other)) = self.widths(&first, &second, width) {
            let high = height_of(&second, other);
            (of_first, of_second, top) = ((one, height), (other, high), (height - high) / 2);
        } else {
            let other = width_of(&second).1.min(width);
            let high = height_of(&second, other);
            let above = height - self.row_gap - high;
            (of_first, of_second, top) = ((width, above), (other, high), height - high);
        }
        place(&first, width, 0, 0, of_first);
        place(&second, width, width - of_second.0, top, of_second);
    }
}

impl PairLimits {
    /// The widths side by side: the first gets everything that the second does not want. None if
    /// there is not enough space.
    fn widths(&self, first: &gtk::Widget, second: &gtk::Widget, width: i32) -> Option<(i32, i32)> {
        if width < 0 {
            // GTK asks for a widget's height at any width like this.
            return Some((-1, -1));
        }
        let needed = |(least, wanted): (i32, i32), content: i32| least.max(wanted.min(content));
        let (one, other) = (width_of(first), width_of(second));
        let least = needed(one, self.first);
        if least + GAP + needed(other, self.second) > width {
            return None;
        }
        let wide = other.1.min(width - GAP - least);
        Some((width - GAP - wide, wide))
    }
}

/// A box with text and its actions.
pub(crate) fn words(words: &impl IsA<gtk::Widget>, actions: &impl IsA<gtk::Widget>) -> gtk::Box {
    of(words, actions, WORDS)
}

/// A box with a title and additional information.
pub(crate) fn title(title: &impl IsA<gtk::Widget>, aside: &impl IsA<gtk::Widget>) -> gtk::Box {
    of(title, aside, TITLE)
}

/// A box with two buttons at its end.
pub(crate) fn buttons(one: &impl IsA<gtk::Widget>, other: &impl IsA<gtk::Widget>) -> gtk::Box {
    one.set_halign(gtk::Align::End);
    of(one, other, BUTTONS)
}

/// A box with a text at its end, and a small control right before it.
pub(crate) fn at_end(control: &impl IsA<gtk::Widget>, text: &impl IsA<gtk::Widget>) -> gtk::Box {
    control.set_halign(gtk::Align::End);
    of(control, text, AT_END)
}

/// A box with controls at its start and at its end.
pub(crate) fn controls(start: &impl IsA<gtk::Widget>, end: &impl IsA<gtk::Widget>) -> gtk::Box {
    start.set_halign(gtk::Align::Start);
    start.set_valign(gtk::Align::Center);
    of(start, end, CONTROLS)
}

fn of(
    first: &impl IsA<gtk::Widget>,
    second: &impl IsA<gtk::Widget>,
    limits: PairLimits,
) -> gtk::Box {
    let both = gtk::Box::builder().hexpand(true).build();
    both.append(first);
    both.append(second);
    both.set_layout_manager(Some(layout::manager(limits)));
    both
}

/// The two children, if they are visible.
fn two(widget: &gtk::Widget) -> (Option<gtk::Widget>, Option<gtk::Widget>) {
    let mut shown = layout::children(widget);
    (shown.next(), shown.next())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(width: i32, height: i32) -> gtk::Box {
        gtk::Box::builder().width_request(width).height_request(height).build()
    }

    #[gtk::test]
    fn what_has_no_room_next_to_the_words_goes_below_them() {
        let label = gtk::Label::builder().label("word ".repeat(20)).wrap(true).build();
        let pair = words(&label, &part(150, 1));
        let (_, width, ..) = pair.measure(gtk::Orientation::Horizontal, -1);
        let high = |width| height_of(pair.upcast_ref(), width);
        let narrow = WORDS.first + GAP + 150 - 1;

        assert!(high(width) < high(narrow), "below, it needs another line");
        assert_eq!(
            high(narrow),
            height_of(label.upcast_ref(), narrow) + WORDS.row_gap + 1,
            "the words have the whole width"
        );
        assert_eq!(high(-1), high(width), "where nobody says how wide, there is room");
    }

    #[gtk::test]
    fn buttons_that_have_no_room_stand_one_below_the_other_in_their_words_place() {
        let both = buttons(&part(100, 20), &part(180, 30));
        let field = gtk::Label::builder().label("word ".repeat(20)).wrap(true).build();
        let all = words(&field, &both);
        let high = |width| height_of(all.upcast_ref(), width);
        let row = 100 + GAP + 180;
        let above = |width| height_of(field.upcast_ref(), width) + WORDS.row_gap;
        assert_eq!(high(row), above(row) + 30);
        assert_eq!(high(row - 1), above(row - 1) + 20 + BUTTONS.row_gap + 30);
        assert_eq!(width_of(all.upcast_ref()).0, 180, "the narrowest is that of one of them");
    }

    #[gtk::test]
    fn a_long_text_at_the_end_wraps_next_to_its_control() {
        let label = gtk::Label::builder().label("word ".repeat(20)).wrap(true).build();
        let line = at_end(&part(30, 20), &label);
        let high = |width| height_of(line.upcast_ref(), width);
        assert_eq!(high(300), height_of(label.upcast_ref(), 300 - GAP - 30));
        let (least, ..) = width_of(line.upcast_ref());
        assert!(least < 100, "{least}");
    }

    #[gtk::test]
    fn controls_without_room_go_above_and_nothing_is_cut_away() {
        let line = controls(&part(100, 20), &part(180, 30));
        let high = |width| height_of(line.upcast_ref(), width);
        assert_eq!(high(100 + GAP + 180), 30);
        assert_eq!(high(100 + GAP + 179), 50);
        assert_eq!(width_of(line.upcast_ref()).0, 180);
    }

    #[gtk::test]
    fn a_long_name_may_be_cut_before_a_second_line_is_begun() {
        let name = gtk::Label::builder()
            .label("a-model-of-a-very-long-name".repeat(3))
            .ellipsize(gtk::pango::EllipsizeMode::End)
            .build();
        let line = controls(&part(60, 1), &name);
        let high = |width| height_of(line.upcast_ref(), width);
        assert_eq!(high(60 + GAP + CONTROLS.second), high(2000));
        assert!(high(60 + GAP + CONTROLS.second - 1) > high(2000));
    }
}
