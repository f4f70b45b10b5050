//! Lays rows out one below the other and scrolls them.
//!
//! It does what a Box in a Viewport cannot: the end stays in sight in the very frame in which text
//! was added, a row that is being read stays where it is while rows come and go above it, texts
//! are measured whole before they are first shown, and what is out of sight is not drawn.

mod focus;
mod imp;

use std::cell::Cell;

use gtk::glib;
use gtk::glib::subclass::prelude::*;
use gtk::prelude::*;

use crate::conversation::widgets::position::RowPosition;

/// Free space above the first row and below the last, in pixels.
const END_SPACE: i32 = 24;
/// The widest that rows become usually, in pixels: a line of prose longer than this is hard to read.
const WIDEST: i32 = 760;
/// Free space to the left and right, in pixels.
const SIDE: i32 = 24;
/// The same in a narrow window.
const SIDE_NARROW: i32 = 14;
/// A narrow window is narrower than this, in pixels.
const NARROW: i32 = 500;
/// How near to the end, in pixels, the reader counts as being at it.
const NEAR_END: f64 = 3.0;
/// As much of the sight is most of it.
const MOST: f64 = 0.8;

glib::wrapper! {
    /// The column. Rows are widgets; see [`Column::insert`].
    pub struct Column(ObjectSubclass<imp::Column>)
        @extends gtk::Widget,
        @implements gtk::Buildable, gtk::ConstraintTarget, gtk::Scrollable;
}

impl Column {
    /// An empty column.
    pub fn new() -> Self {
        glib::Object::builder().property("accessible-role", gtk::AccessibleRole::Log).build()
    }

    /// Sets the widest that rows become, in pixels, and measures all of them again.
    pub fn set_widest(&self, widest: i32) {
        self.imp().widest.set(widest);
        for row in self.imp().rows.borrow_mut().iter_mut() {
            row.width = -1;
        }
        self.queue_resize();
    }

    /// Sets what stands below the last row.
    pub fn set_tail(&self, tail: &gtk::Widget) {
        tail.insert_before(self, gtk::Widget::NONE);
        self.imp().tail.replace(Some(tail.clone()));
    }

    /// Calls back when the reader moved, or the layout changed.
    pub fn connect_moved(&self, moved: impl Fn() + 'static) {
        self.imp().moved.replace(Some(Box::new(moved)));
    }

    /// Calls back to draw what is seen behind the rows.
    pub fn connect_background(&self, draw: impl Fn(&gtk::Snapshot) + 'static) {
        self.imp().background.replace(Some(Box::new(draw)));
    }

    /// Asks for a row behind the last one, or before the first, when the focus moves there: `beyond`
    /// says whether it was made.
    pub fn connect_beyond(&self, beyond: impl Fn(bool) -> bool + 'static) {
        self.imp().beyond.replace(Some(Box::new(beyond)));
    }

    /// Says whether text is being added to the end: then what is brought into sight by keyboard
    /// stays there. Returns whether that is new.
    pub fn set_live(&self, live: bool) -> bool {
        self.imp().live.replace(live) != live
    }

    /// Adds a row before the one at this index, with free space above it, in pixels. A row that is
    /// a text alone is measured by laying it out.
    pub fn insert(&self, index: usize, widget: &gtk::Widget, gap: i32) {
        let rows = &self.imp().rows;
        let next = rows.borrow().get(index).map(|row| row.widget.clone());
        let next = next.or_else(|| self.imp().tail.borrow().clone());
        widget.insert_before(self, next.as_ref());
        let text = widget.downcast_ref::<gtk::TextView>().cloned();
        let row = imp::Row { widget: widget.clone(), text, gap, y: 0, height: 0, width: -1 };
        rows.borrow_mut().insert(index, row);
        self.queue_resize();
    }

    /// Leaves so much free above a row, in pixels.
    pub fn set_gap(&self, index: usize, gap: i32) {
        let mut rows = self.imp().rows.borrow_mut();
        if let Some(row) = rows.get_mut(index).filter(|row| row.gap != gap) {
            row.gap = gap;
            drop(rows);
            self.queue_resize();
        }
    }

    /// Takes the keyboard from rows that go because they are far from the sight. GTK would give it to the next one, and
    /// that would be scrolled to.
    pub fn take_focus_from(&self, range: std::ops::Range<usize>) {
        let focus = self.imp().child_with_focus();
        let has_it =
            self.imp().rows.borrow()[range].iter().any(|row| focus.as_ref() == Some(&row.widget));
        if let Some(root) = self.root().filter(|_| has_it) {
            root.set_focus(gtk::Widget::NONE);
        }
    }

    /// Removes rows.
    pub fn remove(&self, range: std::ops::Range<usize>) {
        let removed: Vec<imp::Row> = self.imp().rows.borrow_mut().drain(range).collect();
        for row in removed {
            self.imp().forget(&row.widget);
            row.widget.unparent();
        }
    }

    /// Has the rows placed again in the next frame.
    fn place_anew(&self) {
        // Placing moves the scrollbar, which asks for a place meanwhile. That leaves marks above the
        // column at which a mere `queue_allocate` ends, and the next frame would show no column.
        self.queue_resize();
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.imp().rows.borrow().len()
    }

    /// The text of a row changed: its height is to be learnt again.
    pub fn text_changed(&self, index: usize) {
        if let Some(row) = self.imp().rows.borrow_mut().get_mut(index) {
            row.width = -1;
        }
        // Laying a text out has it ask for another size. Only where all that it stands in is being
        // sized again is that asked in vain, and nothing is left without a place in the next frame.
        self.queue_resize();
    }

    /// All texts are to be measured again: the font changed.
    pub fn style_changed(&self) {
        for row in self.imp().rows.borrow_mut().iter_mut() {
            row.width = -1;
        }
        self.queue_resize();
    }

    /// Whether the end is kept in sight.
    pub fn follows(&self) -> bool {
        self.imp().follows.get()
    }

    /// What is seen stays where it is, though it grows with the next frame: the person opened something in it.
    pub fn hold(&self) {
        self.imp().holds.set(true);
    }

    /// Goes to the end, and stays there while text is added.
    pub fn follow(&self) {
        self.imp().count_move();
        self.imp().follows.set(true);
        self.place_anew();
    }

    /// Goes to where this row begins.
    pub fn go_to(&self, index: usize) {
        // What stands free above the first row is shown with it.
        self.put_at(index, if index == 0 { END_SPACE } else { 0 });
    }

    /// Has a row begin so far below the top of the sight, in pixels.
    pub fn put_at(&self, index: usize, below: i32) {
        let widget = self.imp().rows.borrow().get(index).map(|row| row.widget.clone());
        if let Some(widget) = widget {
            self.imp().count_move();
            self.imp().follows.set(false);
            // Where there is too little below the row, the end is what is seen.
            self.imp().holds.set(true);
            self.imp().anchor.replace(Some((widget, below)));
            self.place_anew();
        }
    }

    /// Brings a place of a row into sight, if it is not; the end is no longer followed. `holds`:
    /// whether it stays there though text is added to the end.
    pub fn reveal(&self, index: usize, position: RowPosition, holds: bool) {
        let widget = self.imp().rows.borrow().get(index).map(|row| row.widget.clone());
        if let Some(widget) = widget {
            self.imp().count_move();
            self.imp().follows.set(false);
            position.scroll();
            let target = imp::Target { widget, position, holds };
            self.imp().target.replace(Some(target.clone()));
            self.place_anew();
            // What scrolls within a new row can be moved once it was laid out, and not meanwhile.
            let serial = self.imp().reveals.get() + 1;
            self.imp().reveals.set(serial);
            let laid_out = Cell::new(false);
            self.add_tick_callback(move |column, _| {
                if column.imp().reveals.get() != serial {
                    return glib::ControlFlow::Break;
                }
                if !laid_out.replace(true) {
                    return glib::ControlFlow::Continue;
                }
                if target.position.scroll() {
                    column.imp().target.replace(Some(target.clone()));
                    column.place_anew();
                }
                glib::ControlFlow::Break
            });
        }
    }

    /// Brings what has the keyboard into sight, if it is not.
    pub fn reveal_keyboard(&self) {
        if let Some(index) = self.imp().child_with_focus().and_then(|row| self.imp().index_of(&row))
        {
            self.imp().reveal_focus(index);
        }
    }

    /// Brings a letter of a text in a row into sight, if it is not.
    pub fn reveal_letter(&self, view: &gtk::TextView, letter: usize) {
        let index = self.imp().index_of(view.upcast_ref());
        let row = index.and_then(|at| Some(self.imp().rows.borrow().get(at)?.widget.clone()));
        if let (Some(index), Some(row)) = (index, row) {
            self.reveal(index, RowPosition::in_text(view, &row, letter), self.imp().live.get());
        }
    }

    /// How often the place that is seen was changed, by the reader or for them. What the layout moves
    /// does not count.
    pub fn moves(&self) -> u64 {
        self.imp().moves.get()
    }

    /// Scrolls by so many pages.
    pub fn scroll_pages(&self, pages: f64) {
        if let Some(adjustment) = self.vadjustment() {
            adjustment.set_value(adjustment.value() + pages * adjustment.page_increment());
        }
    }

    /// Above the sight, the sight itself, and below it, in pixels.
    pub fn extent(&self) -> (f64, f64, f64) {
        let Some(adjustment) = self.vadjustment() else { return (0.0, 0.0, 0.0) };
        let (value, page) = (adjustment.value(), adjustment.page_size());
        (value, page, (adjustment.upper() - value - page).max(0.0))
    }

    /// Where a row begins, from the top of what is seen, in pixels.
    pub fn top_of(&self, index: usize) -> Option<f64> {
        let y = self.imp().rows.borrow().get(index)?.y;
        Some(f64::from(y) - self.vadjustment()?.value())
    }

    /// How tall a row is, in pixels.
    pub fn height_of(&self, index: usize) -> Option<i32> {
        self.imp().rows.borrow().get(index).map(|row| row.height)
    }

    /// Whether a row is in sight, or most of the sight where it is taller; none where that is not known
    /// yet.
    pub fn shows(&self, index: usize) -> Option<bool> {
        let (_, page, _) = self.extent();
        let tall = f64::from(self.height_of(index).filter(|tall| *tall > 0)?);
        let top = self.top_of(index)?;
        let seen = (top + tall).min(page) - top.max(0.0);
        Some(seen >= tall.min(page * MOST))
    }

    /// The row that a widget is, or stands in.
    pub fn row_of(&self, widget: &gtk::Widget) -> Option<usize> {
        self.imp().index_of(widget)
    }

    /// The first row that is seen.
    pub fn first_in_sight(&self) -> Option<usize> {
        let value = self.vadjustment()?.value();
        let rows = self.imp().rows.borrow();
        rows.iter().position(|row| row.y > 0 && f64::from(row.y + row.height) > value)
    }

    /// The rows that end above the sight by more than this, and those that begin below it by more
    /// than this, in pixels: how many at the beginning, how many at the end.
    pub fn far(&self, distance: f64) -> (usize, usize) {
        let (value, page, _) = self.extent();
        let rows = self.imp().rows.borrow();
        let above = rows
            .iter()
            .take_while(|row| row.y > 0 && f64::from(row.y + row.height) < value - distance)
            .count();
        let below = rows
            .iter()
            .rev()
            .take_while(|row| row.y > 0 && f64::from(row.y) > value + page + distance)
            .count();
        (above, below.min(rows.len() - above))
    }

    /// Draws a caret at the end of this text, or none.
    pub fn set_caret(&self, text: Option<gtk::TextView>) {
        if *self.imp().caret.borrow() != text {
            self.imp().caret.replace(text);
            self.queue_draw();
        }
    }
}

impl Default for Column {
    fn default() -> Self {
        Self::new()
    }
}
