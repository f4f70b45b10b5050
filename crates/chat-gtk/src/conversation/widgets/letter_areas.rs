//! Finds which letter of a text is at a point, and where letters stand: in a text view, and in a label. All in the
//! widget's own coordinates.

use std::ops::Range;

use gtk::graphene::Rect;
use gtk::pango;
use gtk::prelude::*;

/// How wide a line is shown to be selected that has no letters, in pixels.
const EMPTY_LINE: i32 = 6;

/// The place between two letters of a text that is nearest to a point.
pub fn letter_in_view(view: &gtk::TextView, (x, y): (f64, f64)) -> usize {
    let (x, y) = view.window_to_buffer_coords(gtk::TextWindowType::Widget, x as i32, y as i32);
    let buffer = view.buffer();
    let (first, last) =
        (view.line_yrange(&buffer.start_iter()), view.line_yrange(&buffer.end_iter()));
    if y < first.0 {
        return 0;
    }
    if y >= last.0 + last.1 {
        return buffer.char_count() as usize;
    }
    if let Some((mut at, trailing)) = view.iter_at_position(x, y) {
        at.forward_chars(trailing);
        return at.offset() as usize;
    }
    // Beside the letters: the nearer end of the line.
    let (mut line, _) = view.line_at_y(y);
    loop {
        let mut next = line;
        if !view.forward_display_line(&mut next) || next.offset() <= line.offset() {
            break;
        }
        if y < view.iter_location(&next).y() {
            break;
        }
        line = next;
    }
    let end = end_of_line(view, line);
    let (left, right) = (view.iter_location(&line), view.iter_location(&end));
    let is_nearer_start = (x - left.x()).abs() <= (x - right.x()).abs();
    if is_nearer_start { line.offset() as usize } else { end.offset() as usize }
}

/// The first or last place of the line on the screen that a letter is in.
pub fn edge_in_view(view: &gtk::TextView, letter: usize, forward: bool) -> usize {
    let mut at = view.buffer().iter_at_offset(letter as i32);
    if !forward {
        if !view.starts_display_line(&at) {
            view.backward_display_line_start(&mut at);
        }
        return at.offset() as usize;
    }
    end_of_line(view, at).offset() as usize
}

/// The same in a label.
pub fn edge_in_label(label: &gtk::Label, letter: usize, forward: bool) -> usize {
    let text = label.text();
    let layout = label.layout();
    let (line, _) = layout.index_to_line_x(byte_of(&text, letter) as i32, false);
    let Some(line) = layout.line_readonly(line) else { return letter };
    let start = line.start_index();
    let byte = if forward { start + line.length() } else { start };
    letter_of(&text, byte as usize)
}

/// The end of the line on the screen that begins here, before what ends it.
fn end_of_line(view: &gtk::TextView, start: gtk::TextIter) -> gtk::TextIter {
    let mut end = start;
    if end.ends_line() {
        return end;
    }
    view.forward_display_line_end(&mut end);
    end
}

/// Where these letters of a text stand, a rectangle for each line on the screen. Lines above and below `sight` are
/// left out.
pub fn areas_in_view(view: &gtk::TextView, letters: &Range<usize>, sight: (f64, f64)) -> Vec<Rect> {
    let buffer = view.buffer();
    let count = buffer.char_count() as usize;
    let window = gtk::TextWindowType::Widget;
    let (_, top) = view.window_to_buffer_coords(window, 0, sight.0 as i32);
    let (_, bottom) = view.window_to_buffer_coords(window, 0, sight.1 as i32);
    let first = view.line_at_y(top.max(0)).0.offset() as usize;
    let mut at = buffer.iter_at_offset(letters.start.max(first).min(count) as i32);
    let end = buffer.iter_at_offset(letters.end.min(count) as i32);
    let mut out = Vec::new();
    while at.offset() < end.offset() {
        let from = view.iter_location(&at);
        if from.y() > bottom {
            break;
        }
        let mut next = at;
        let goes_on = view.forward_display_line(&mut next) && next.offset() > at.offset();
        let stop = if goes_on && next.offset() <= end.offset() {
            let mut last = next;
            last.backward_char();
            let place = view.iter_location(&last);
            place.x() + if last.ends_line() { 0 } else { place.width() }
        } else {
            view.iter_location(&end).x()
        };
        let line_end = if goes_on && next.offset() <= end.offset() { next } else { end };
        let is_empty = at.ends_line() && at.starts_line();
        let stop = if is_empty { from.x() + EMPTY_LINE } else { stop };
        let parts = if has_right_to_left(&buffer.slice(&at, &line_end, true)) {
            letter_spans(view, at, &line_end)
        } else {
            vec![(from.x().min(stop), from.x().max(stop))]
        };
        for (left, right) in parts {
            let (x, y) = view.buffer_to_window_coords(window, left, from.y());
            let width = (right - left) as f32;
            out.push(Rect::new(x as f32, y as f32, width, from.height() as f32));
        }
        if !goes_on {
            break;
        }
        at = next;
    }
    out
}

/// Whether some of a text is written from right to left, so that neighbours may stand apart from each other.
fn has_right_to_left(text: &str) -> bool {
    !text.is_ascii()
        && text.chars().any(|letter| pango::unichar_direction(letter) == pango::Direction::Rtl)
}

/// From where to where the letters of a line stand, those next to each other together.
fn letter_spans(
    view: &gtk::TextView,
    start: gtk::TextIter,
    end: &gtk::TextIter,
) -> Vec<(i32, i32)> {
    let mut spans: Vec<(i32, i32)> = Vec::new();
    let mut at = start;
    while at.offset() < end.offset() {
        let letter = view.iter_location(&at);
        // From right to left the width is below zero.
        let (one, other) = (letter.x(), letter.x() + letter.width());
        let (left, right) = (one.min(other), one.max(other));
        match spans.last_mut() {
            Some(last) if left <= last.1 && right >= last.0 => {
                *last = (last.0.min(left), last.1.max(right));
            }
            _ if left < right && !at.ends_line() => spans.push((left, right)),
            _ => {}
        }
        if !at.forward_char() {
            break;
        }
    }
    spans
}

/// Where the place before a letter of a text stands: as wide as nothing.
pub fn caret_in_view(view: &gtk::TextView, letter: usize) -> Rect {
    let at = view.iter_location(&view.buffer().iter_at_offset(letter as i32));
    let (x, y) = view.buffer_to_window_coords(gtk::TextWindowType::Widget, at.x(), at.y());
    Rect::new(x as f32, y as f32, 0.0, at.height() as f32)
}

/// The place between two letters of a label that is nearest to a point.
pub fn letter_in_label(label: &gtk::Label, (x, y): (f64, f64)) -> usize {
    let (left, top) = label.layout_offsets();
    let layout = label.layout();
    let units = |pixels: f64| (pixels * f64::from(pango::SCALE)) as i32;
    let (x, y) = (units(x - f64::from(left)), units(y - f64::from(top)));
    let text = label.text();
    if y < 0 {
        return 0;
    }
    if y > layout.size().1 {
        return text.chars().count();
    }
    let (_, byte, trailing) = layout.xy_to_index(x, y);
    letter_of(&text, byte as usize) + trailing as usize
}

/// Where these letters of a label stand, a rectangle for each line.
pub fn areas_in_label(label: &gtk::Label, letters: &Range<usize>) -> Vec<Rect> {
    let text = label.text();
    let (start, end) = (byte_of(&text, letters.start), byte_of(&text, letters.end));
    let (left, top) = label.layout_offsets();
    let mut lines = label.layout().iter();
    let pixels = |units: i32| units as f32 / pango::SCALE as f32;
    let mut out = Vec::new();
    loop {
        let (_, extents) = lines.line_extents();
        if let Some(line) = lines.line_readonly() {
            let first = line.start_index().max(start as i32);
            let last = (line.start_index() + line.length()).min(end as i32);
            if first < last {
                // In both directions at once, what is selected may stand apart.
                for part in line.x_ranges(first, last).chunks_exact(2) {
                    let x = left as f32 + pixels(part[0]);
                    let y = top as f32 + pixels(extents.y());
                    let width = pixels(part[1] - part[0]);
                    out.push(Rect::new(x, y, width, pixels(extents.height())));
                }
            }
        }
        if !lines.next_line() {
            return out;
        }
    }
}

/// Where the place before a letter of a label stands.
pub fn caret_in_label(label: &gtk::Label, letter: usize) -> Rect {
    let text = label.text();
    let at = label.layout().index_to_pos(byte_of(&text, letter) as i32);
    let (left, top) = label.layout_offsets();
    let pixels = |units: i32| units as f32 / pango::SCALE as f32;
    let (x, y) = (left as f32 + pixels(at.x()), top as f32 + pixels(at.y()));
    Rect::new(x, y, 0.0, pixels(at.height()))
}

/// The byte at which a letter begins; the end where there are not so many.
pub fn byte_of(text: &str, letter: usize) -> usize {
    text.char_indices().nth(letter).map_or(text.len(), |(at, _)| at)
}

/// How many letters stand before a byte.
fn letter_of(text: &str, byte: usize) -> usize {
    text[..text.floor_char_boundary(byte)].chars().count()
}

/// A rectangle of a widget in the coordinates of another one.
pub fn translated(
    area: &Rect,
    from: &impl IsA<gtk::Widget>,
    to: &impl IsA<gtk::Widget>,
) -> Option<Rect> {
    let (x, y) = from.translate_coordinates(to, f64::from(area.x()), f64::from(area.y()))?;
    Some(Rect::new(x as f32, y as f32, area.width(), area.height()))
}
