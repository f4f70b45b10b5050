//! Finds where a match or the focus is in its row, and scrolls what scrolls within the row.

use gtk::prelude::*;
use gtk::{glib, pango};

/// Where a place is put that was not in sight, as a part of the sight's height from its top.
pub const ABOVE_TARGET: f64 = 0.35;
/// What is left free round a place that is in sight, in pixels; nearer to the edge it is moved.
const ROUND_TARGET: f64 = 24.0;

/// A place in a row.
#[derive(Clone)]
pub struct RowPosition {
    row: glib::WeakRef<gtk::Widget>,
    what: What,
}

#[derive(Clone)]
enum What {
    /// The top of a widget.
    Top(glib::WeakRef<gtk::Widget>),
    /// A letter of a text.
    Letter(glib::WeakRef<gtk::TextView>, usize),
    /// A byte of a label.
    Byte(glib::WeakRef<gtk::Label>, usize),
    /// All of the row, in which this widget has the focus.
    Card(glib::WeakRef<gtk::Widget>),
}

impl RowPosition {
    /// The top of a row.
    pub fn top(row: &gtk::Widget) -> Self {
        Self { row: row.downgrade(), what: What::Top(row.downgrade()) }
    }

    /// Where a widget in a row that has the focus shows that.
    pub fn of_focus(widget: &gtk::Widget, row: &gtk::Widget) -> Self {
        if let Some(view) = widget.downcast_ref::<gtk::TextView>() {
            return Self::in_text(view, row, view.buffer().cursor_position() as usize);
        }
        if let Some(label) = widget.downcast_ref::<gtk::Label>() {
            let letter = label.selection_bounds().map_or(0, |(start, _)| start.max(0) as usize);
            let text = label.text();
            let byte = text.char_indices().nth(letter).map_or(0, |(at, _)| at);
            return Self::in_label(label, row, byte);
        }
        Self { row: row.downgrade(), what: What::Top(widget.downgrade()) }
    }

    /// All of a row in which a widget has the focus. Of one that is taller than the sight, its end, or
    /// what begins with that widget.
    pub fn card(focus: &gtk::Widget, row: &gtk::Widget) -> Self {
        Self { row: row.downgrade(), what: What::Card(focus.downgrade()) }
    }

    /// A letter of a text that stands in a row.
    pub fn in_text(view: &gtk::TextView, row: &gtk::Widget, letter: usize) -> Self {
        Self { row: row.downgrade(), what: What::Letter(view.downgrade(), letter) }
    }

    /// A byte of a label that stands in a row.
    pub fn in_label(label: &gtk::Label, row: &gtk::Widget, byte: usize) -> Self {
        Self { row: row.downgrade(), what: What::Byte(label.downgrade(), byte) }
    }

    /// Where it begins and how tall it is, in pixels from the top of the row; known once the row
    /// was laid out. `page`: how tall the sight is.
    pub fn find(&self, page: f64) -> Option<(f64, f64)> {
        let row = self.row.upgrade()?;
        if let What::Card(focus) = &self.what {
            let (_, focus) = focus.upgrade()?.translate_coordinates(&row, 0.0, 0.0)?;
            return Some(part_of_card(f64::from(row.height()), focus, page));
        }
        let (widget, (x, y), height) = self.place()?;
        let (_, y) = widget.translate_coordinates(&row, x, y)?;
        Some((y, height))
    }

    /// Moves what scrolls within the row so that the place is in sight there. Whether anything
    /// moved. Not to be called while widgets are given their places.
    pub fn scroll(&self) -> bool {
        let Some((widget, (x, y), height)) = self.place() else { return false };
        let frame = widget.ancestor(gtk::ScrolledWindow::static_type());
        let frame = frame.and_downcast::<gtk::ScrolledWindow>();
        let inside = |frame: &gtk::ScrolledWindow| {
            let row = self.row.upgrade();
            row.is_some_and(|row| {
                frame.upcast_ref::<gtk::Widget>() == &row || frame.is_ancestor(&row)
            })
        };
        let Some(frame) = frame.filter(inside) else { return false };
        let Some((x, y)) = widget.translate_coordinates(&frame, x, y) else { return false };
        let down = scroll(&frame.vadjustment(), y, height);
        scroll(&frame.hadjustment(), x, height) || down
    }

    /// The widget, the place in it, and how tall that is.
    fn place(&self) -> Option<(gtk::Widget, (f64, f64), f64)> {
        match &self.what {
            What::Top(widget) | What::Card(widget) => Some((widget.upgrade()?, (0.0, 0.0), 0.0)),
            What::Letter(view, letter) => {
                let view = view.upgrade()?;
                let at = view.iter_location(&view.buffer().iter_at_offset(*letter as i32));
                let (x, y) =
                    view.buffer_to_window_coords(gtk::TextWindowType::Widget, at.x(), at.y());
                Some((view.upcast(), (f64::from(x), f64::from(y)), f64::from(at.height())))
            }
            What::Byte(label, byte) => {
                let label = label.upgrade()?;
                let at = label.layout().index_to_pos(*byte as i32);
                let (x, y) = label.layout_offsets();
                let pixels = |units: i32| f64::from(units) / f64::from(pango::SCALE);
                let place = (f64::from(x) + pixels(at.x()), f64::from(y) + pixels(at.y()));
                Some((label.upcast(), place, pixels(at.height())))
            }
        }
    }
}

/// Which part of a card is brought into sight: where it begins and how tall it is.
fn part_of_card(tall: f64, focus: f64, page: f64) -> (f64, f64) {
    let room = (page - 2.0 * ROUND_TARGET).max(0.0);
    if tall <= room { (0.0, tall) } else { ((tall - room).min(focus), room) }
}

/// Where to scroll to, so that a place of this height at `top` is in sight; none where it is.
pub fn scrolled_to((value, page): (f64, f64), (top, tall): (f64, f64)) -> Option<f64> {
    let is_near = top >= value + ROUND_TARGET && top + tall <= value + page - ROUND_TARGET;
    let above = (page * ABOVE_TARGET).min(page - tall - ROUND_TARGET);
    (!is_near).then_some(top - above.max(ROUND_TARGET))
}

/// Scrolls so that what stands here in the frame is in sight, in the middle where it was not.
fn scroll(adjustment: &gtk::Adjustment, at: f64, size: f64) -> bool {
    let (value, page) = (adjustment.value(), adjustment.page_size());
    if page <= 0.0 || (at >= 0.0 && at + size <= page) {
        return false;
    }
    adjustment.set_value(value + at - page / 2.0);
    (adjustment.value() - value).abs() > 0.5
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_seen_as_a_whole_and_a_taller_one_with_its_end() {
        let to = |tall, focus| {
            let (at, tall) = part_of_card(tall, focus, 500.0);
            scrolled_to((0.0, 500.0), (1000.0 + at, tall))
        };
        assert_eq!(to(200.0, 160.0), Some(1000.0 - 500.0 * ABOVE_TARGET));
        assert_eq!(to(440.0, 400.0), Some(1000.0 - 36.0));
        assert_eq!(to(900.0, 860.0), Some(1000.0 + 900.0 + ROUND_TARGET - 500.0));
        assert_eq!(to(900.0, 100.0), Some(1000.0 + 100.0 - ROUND_TARGET), "its first choice");
        assert_eq!(scrolled_to((0.0, 500.0), (30.0, 440.0)), None);
        assert_eq!(scrolled_to((0.0, 500.0), (10.0, 20.0)), Some(10.0 - 500.0 * ABOVE_TARGET));
    }
}
