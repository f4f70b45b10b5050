//! Measures a text by laying it out: a `TextView` knows how tall it is only after that.

use std::cell::Cell;
use std::rc::Rc;

use gtk::glib;
use gtk::prelude::*;

use crate::layout::{self, Layout};

/// More than any text is tall, in pixels.
const TALL: i32 = 60_000;

/// The height of a text at this width, without its own margins at the sides, in pixels. It is to be
/// allocated its place afterwards.
pub fn height_at(text: &gtk::TextView, width: i32) -> i32 {
    // GTK validates a text as far as it is seen. At this height all of it is.
    let end = text.buffer().end_iter();
    text.line_yrange(&end);
    text.allocate(width, TALL, -1, None);
    let (y, height) = text.line_yrange(&end);
    y + height + text.bottom_margin()
}

/// The width at which the text was measured last, and its height there.
type Known = Rc<Cell<Option<(i32, i32)>>>;

struct AsTall {
    text: glib::WeakRef<gtk::TextView>,
    known: Known,
}

impl Layout for AsTall {
    fn measure(
        &self,
        widget: &gtk::Widget,
        orientation: gtk::Orientation,
        for_size: i32,
    ) -> (i32, i32) {
        let Some(child) = widget.first_child() else { return (0, 0) };
        let text = self.text.upgrade().filter(|_| for_size > 0);
        let Some(text) = text.filter(|_| orientation == gtk::Orientation::Vertical) else {
            let (least, natural, ..) = child.measure(orientation, for_size);
            return (least, natural);
        };
        let known = self.known.get().filter(|(width, _)| *width == for_size);
        let (_, height) = known.unwrap_or_else(|| (for_size, height_at(&text, for_size)));
        self.known.set(Some((for_size, height)));
        (height, height)
    }
}

/// A text, in a widget that is as tall as the text.
pub struct LaidOut {
    root: gtk::Box,
    known: Known,
}

impl LaidOut {
    /// Takes a text that does not change.
    pub fn new(text: &gtk::TextView) -> Self {
        let known = Known::default();
        let root = gtk::Box::new(gtk::Orientation::Vertical, 0);
        root.append(text);
        let layout = AsTall { text: text.downgrade(), known: Rc::clone(&known) };
        root.set_layout_manager(Some(layout::manager(layout)));
        Self { root, known }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Measures again: the font may have changed.
    pub fn measure_again(&self) {
        self.known.set(None);
        self.root.queue_resize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_loop::until;

    #[gtk::test]
    fn a_text_is_as_tall_as_its_lines_at_each_width() {
        crate::init();
        // A window measures its content at its least width, too, which is none for a text that wraps.
        let view = gtk::TextView::builder().wrap_mode(gtk::WrapMode::WordChar).width_request(60);
        let view = view.build();
        view.buffer().set_text(&"word ".repeat(40));
        let laid_out = LaidOut::new(&view);
        let window = gtk::Window::builder().child(laid_out.widget()).default_width(300).build();
        window.present();
        until("the window", || laid_out.widget().is_mapped());
        let tall = |width| laid_out.widget().measure(gtk::Orientation::Vertical, width).1;
        let heights = [100, 400, 100, 400].map(tall);
        assert_eq!(heights[..2], heights[2..]);
        assert!(heights[0] > 2 * heights[1] && heights[1] > 10, "{heights:?}");
        window.destroy();
    }
}
