//! Makes a text as tall as it needs, up to a height from which on it scrolls.
//!
//! A `TextView` knows how tall it is only where it was laid out before, and as far as it was seen. So
//! its height for a width is taken from Pango.

use gtk::prelude::*;
use gtk::{glib, pango};

use crate::layout::{self, Layout};
use crate::nested_scroll;

/// No more of a line is measured, in bytes: it is taller than any text may be.
const MOST_OF_LINE: usize = 8_192;
/// The least height of a line, in pixels, by which is known how many lines are to be measured.
const LEAST_LINE: usize = 8;
/// What a line keeps free for the cursor, in pixels: a text breaks its lines so much earlier.
const CURSOR: i32 = 2;

struct Fitted {
    text: glib::WeakRef<gtk::TextView>,
    tallest: i32,
}

impl Layout for Fitted {
    fn measure(
        &self,
        widget: &gtk::Widget,
        orientation: gtk::Orientation,
        for_size: i32,
    ) -> (i32, i32) {
        let Some(scroller) = widget.first_child() else { return (0, 0) };
        let (least, natural, ..) = scroller.measure(orientation, for_size);
        let text = self.text.upgrade().filter(|_| for_size >= 0);
        match text.filter(|_| orientation == gtk::Orientation::Vertical) {
            Some(text) => {
                let height = height_of(&text, for_size, self.tallest).min(self.tallest).max(least);
                (height, height)
            }
            None => (least, natural),
        }
    }
}

/// The text in a frame that is no taller than this, in pixels. Long lines of one that does not wrap
/// reach beyond the right edge and are not scrolled to.
pub fn fitted(text: &gtk::TextView, tallest: i32, classes: &[&str]) -> gtk::Box {
    let across = match text.wrap_mode() {
        gtk::WrapMode::None => gtk::PolicyType::External,
        _ => gtk::PolicyType::Never,
    };
    let scroller = gtk::ScrolledWindow::builder().hscrollbar_policy(across).child(text).build();
    nested_scroll::pass_on(&scroller);
    let frame = gtk::Box::new(gtk::Orientation::Vertical, 0);
    frame.set_css_classes(classes);
    frame.append(&scroller);
    frame.set_layout_manager(Some(layout::manager(Fitted { text: text.downgrade(), tallest })));
    // The text itself asks for another size only once it was laid out again.
    let weak = frame.downgrade();
    text.buffer().connect_changed(move |_| {
        if let Some(frame) = weak.upgrade() {
            frame.queue_resize();
        }
    });
    frame
}

/// How tall a text is at this width; of one taller than `tallest`, so much that it is taller.
pub fn height_of(view: &gtk::TextView, width: i32, tallest: i32) -> i32 {
    let context = view.style_context().padding();
    let across = i32::from(context.left()) + i32::from(context.right());
    let along = i32::from(context.top()) + i32::from(context.bottom());
    let buffer = view.buffer();
    let (start, end) = buffer.bounds();
    let text = buffer.text(&start, &end, true);
    let layout = view.create_pango_layout(Some(&beginning(&text, tallest)));
    layout.set_tabs(view.tabs().as_ref());
    if view.wrap_mode() != gtk::WrapMode::None {
        layout.set_wrap(pango::WrapMode::WordChar);
        layout.set_spacing(view.pixels_inside_wrap() * pango::SCALE);
        layout.set_width((width - across - CURSOR).max(1) * pango::SCALE);
    }
    layout.pixel_size().1 + along
}

/// As much of the beginning as is as tall as this.
fn beginning(text: &str, tallest: i32) -> String {
    let lines = usize::try_from(tallest).unwrap_or_default() / LEAST_LINE;
    let cut = |line: &str| line[..line.floor_char_boundary(MOST_OF_LINE)].to_owned();
    let lines: Vec<String> = text.split('\n').take(lines).map(cut).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const TALLEST: i32 = 200;

    fn frame(text: &str) -> (gtk::Box, gtk::TextView) {
        crate::init();
        let view = gtk::TextView::builder().wrap_mode(gtk::WrapMode::WordChar).build();
        view.buffer().set_text(text);
        (fitted(&view, TALLEST, &["tool-frame"]), view)
    }

    fn tall(frame: &gtk::Box, width: i32) -> i32 {
        frame.measure(gtk::Orientation::Vertical, width).1
    }

    #[gtk::test]
    fn a_text_is_as_tall_as_its_lines_before_it_was_ever_shown() {
        let of_lines = |count: usize| tall(&frame(&vec!["a"; count].join("\n")).0, 400);
        assert_eq!(of_lines(10), 2 * of_lines(5));
        let (wrapped, _) = frame(&"word ".repeat(40));
        assert!(tall(&wrapped, 200) > 2 * tall(&wrapped, 800));
        for long in ["a\n".repeat(10_000), "word ".repeat(100_000)] {
            assert_eq!(tall(&frame(&long).0, 400), TALLEST);
        }
    }

    #[gtk::test]
    fn lines_that_do_not_wrap_are_as_tall_as_one() {
        let (frame, view) = frame(&"word ".repeat(40));
        view.set_wrap_mode(gtk::WrapMode::None);
        let (one, _) = self::frame("word");
        assert_eq!(tall(&frame, 100), tall(&one, 100));
    }

    #[gtk::test]
    fn what_is_added_is_seen() {
        let (frame, view) = frame("a\nb\nc\nd\ne");
        let window = gtk::Window::builder().child(&frame).build();
        window.present();
        let before = tall(&frame, 300);
        view.buffer().insert(&mut view.buffer().end_iter(), "\na\nb\nc\nd\ne");
        assert_eq!(tall(&frame, 300), 2 * before);
    }
}
