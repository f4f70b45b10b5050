//! Measures a text by laying it out: a `TextView` knows how tall it is only after that.

use gtk::prelude::*;

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
