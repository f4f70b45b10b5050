//! Implements the column's widget: its state, and how it lays its rows out.

use std::cell::{Cell, RefCell};

use gtk::gdk;
use gtk::graphene;
use gtk::gsk;
use gtk::subclass::prelude::*;

use gtk::glib;
use gtk::prelude::*;

use super::{END_SPACE, NARROW, NEAR_END, SIDE, SIDE_NARROW, WIDEST};
use crate::conversation::widgets::laid_out;
use crate::conversation::widgets::position::{ABOVE_TARGET, RowPosition, scrolled_to};

/// A row, and where it stands.
pub struct Row {
    pub widget: gtk::Widget,
    pub text: Option<gtk::TextView>,
    pub gap: i32,
    pub y: i32,
    pub height: i32,
    /// The width that the height holds for; -1 where it is not known.
    pub width: i32,
}

/// A place that is to be brought into sight.
#[derive(Clone)]
pub struct Target {
    pub widget: gtk::Widget,
    pub position: RowPosition,
    pub holds: bool,
}

type Beyond = Box<dyn Fn(bool) -> bool>;
type Background = Box<dyn Fn(&gtk::Snapshot)>;

#[derive(glib::Properties)]
#[properties(wrapper_type = super::Column)]
pub struct Column {
    #[property(get, set = Self::set_hadjustment, construct, nullable, override_interface = gtk::Scrollable)]
    hadjustment: RefCell<Option<gtk::Adjustment>>,
    #[property(get, set = Self::set_vadjustment, construct, nullable, override_interface = gtk::Scrollable)]
    vadjustment: RefCell<Option<gtk::Adjustment>>,
    #[property(get, set, override_interface = gtk::Scrollable, builder(gtk::ScrollablePolicy::Minimum))]
    hscroll_policy: Cell<gtk::ScrollablePolicy>,
    #[property(get, set, override_interface = gtk::Scrollable, builder(gtk::ScrollablePolicy::Minimum))]
    vscroll_policy: Cell<gtk::ScrollablePolicy>,
    pub rows: RefCell<Vec<Row>>,
    /// What stands below the last row.
    pub tail: RefCell<Option<gtk::Widget>>,
    pub follows: Cell<bool>,
    /// Whether what is seen stays where it is in the next layout, though the end is followed.
    pub holds: Cell<bool>,
    /// The row that stays where it is, and where that is: its top from the top of the sight.
    pub anchor: RefCell<Option<(gtk::Widget, i32)>>,
    /// What is brought into sight when rows are laid out next.
    pub target: RefCell<Option<Target>>,
    /// Counts what was to be brought into sight.
    pub reveals: Cell<u64>,
    /// Counts how often another place was to be seen.
    pub moves: Cell<u64>,
    pub caret: RefCell<Option<gtk::TextView>>,
    pub moved: RefCell<Option<Box<dyn Fn()>>>,
    /// Draws what is seen behind the rows.
    pub background: RefCell<Option<Background>>,
    /// Makes a row behind the last one, or before the first, if there is one.
    pub beyond: RefCell<Option<Beyond>>,
    /// Whether text is being added to the end.
    pub live: Cell<bool>,
    /// The widest that rows become, in pixels.
    pub widest: Cell<i32>,
    watch: RefCell<Option<glib::SignalHandlerId>>,
    allocating: Cell<bool>,
}

impl Default for Column {
    fn default() -> Self {
        Self {
            hadjustment: RefCell::default(),
            vadjustment: RefCell::default(),
            hscroll_policy: Cell::new(gtk::ScrollablePolicy::Minimum),
            vscroll_policy: Cell::new(gtk::ScrollablePolicy::Minimum),
            rows: RefCell::default(),
            tail: RefCell::default(),
            follows: Cell::new(true),
            holds: Cell::new(false),
            anchor: RefCell::default(),
            target: RefCell::default(),
            reveals: Cell::default(),
            moves: Cell::default(),
            caret: RefCell::default(),
            moved: RefCell::default(),
            background: RefCell::default(),
            beyond: RefCell::default(),
            live: Cell::default(),
            widest: Cell::new(WIDEST),
            watch: RefCell::default(),
            allocating: Cell::new(false),
        }
    }
}

#[glib::object_subclass]
impl ObjectSubclass for Column {
    const NAME: &'static str = "NatterConversationColumn";
    type Type = super::Column;
    type ParentType = gtk::Widget;
    type Interfaces = (gtk::Scrollable,);

    fn class_init(class: &mut Self::Class) {
        class.set_css_name("conversation");
    }
}

#[glib::derived_properties]
impl ObjectImpl for Column {
    fn constructed(&self) {
        self.parent_constructed();
        self.obj().set_overflow(gtk::Overflow::Hidden);
    }

    fn dispose(&self) {
        for row in self.rows.borrow_mut().drain(..) {
            row.widget.unparent();
        }
        if let Some(tail) = self.tail.take() {
            tail.unparent();
        }
    }
}

impl ScrollableImpl for Column {
    fn border(&self) -> Option<gtk::Border> {
        None
    }
}

impl WidgetImpl for Column {
    fn request_mode(&self) -> gtk::SizeRequestMode {
        gtk::SizeRequestMode::ConstantSize
    }

    fn measure(&self, orientation: gtk::Orientation, _for_size: i32) -> (i32, i32, i32, i32) {
        match orientation {
            gtk::Orientation::Horizontal => (300, self.widest.get() + 2 * SIDE, -1, -1),
            _ => (100, 400, -1, -1),
        }
    }

    fn size_allocate(&self, width: i32, height: i32, _baseline: i32) {
        self.allocating.set(true);
        self.lay_out(width, height);
        self.allocating.set(false);
        self.tell_moved();
    }

    fn snapshot(&self, snapshot: &gtk::Snapshot) {
        if let Some(draw) = &*self.background.borrow() {
            draw(snapshot);
        }
        self.parent_snapshot(snapshot);
        self.draw_caret(snapshot);
    }

    fn focus(&self, direction: gtk::DirectionType) -> bool {
        match direction {
            gtk::DirectionType::TabForward => self.move_focus(true),
            gtk::DirectionType::TabBackward => self.move_focus(false),
            _ => self.parent_focus(direction),
        }
    }

    fn set_focus_child(&self, child: Option<&gtk::Widget>) {
        self.parent_set_focus_child(child);
        if let Some(child) = child {
            self.bring_into_sight(child);
        }
    }
}

impl Column {
    fn set_hadjustment(&self, adjustment: Option<gtk::Adjustment>) {
        self.hadjustment.replace(adjustment);
    }

    fn set_vadjustment(&self, adjustment: Option<gtk::Adjustment>) {
        if let (Some(old), Some(watch)) = (self.vadjustment.take(), self.watch.take()) {
            old.disconnect(watch);
        }
        if let Some(adjustment) = &adjustment {
            let weak = self.obj().downgrade();
            let watch = adjustment.connect_value_changed(move |_| {
                if let Some(column) = weak.upgrade() {
                    column.imp().reader_moved();
                }
            });
            self.watch.replace(Some(watch));
        }
        self.vadjustment.replace(adjustment);
    }

    fn lay_out(&self, width: i32, height: i32) {
        let Some(adjustment) = self.vadjustment.borrow().clone() else { return };
        let side = if width < NARROW { SIDE_NARROW } else { SIDE };
        let inner = (width - 2 * side).clamp(1, self.widest.get().max(1));
        let x = (width - inner) / 2;
        let mut rows = self.rows.borrow_mut();
        let mut y = END_SPACE;
        for (index, row) in rows.iter_mut().enumerate() {
            row.learn_height(inner);
            if index > 0 {
                y += row.gap;
            }
            row.y = y;
            y += row.height;
        }
        let tail = self.tail.borrow().clone().filter(gtk::Widget::is_visible);
        let tail = tail.map(|tail| {
            let (at, tall) = (y, tail.measure(gtk::Orientation::Vertical, inner).1);
            y += tall;
            (tail, at, tall)
        });
        let upper = f64::from((y + END_SPACE).max(height));
        let page = f64::from(height);
        let target = self.target.take();
        let wanted = target.as_ref().and_then(|target| {
            rows.iter().find(|row| row.widget == target.widget).map(|row| (row.y, row.height))
        });
        let holds = self.holds.take();
        let mut value = if self.follows.get() && !holds {
            upper - page
        } else {
            self.anchored(&rows).unwrap_or(adjustment.value()).clamp(0.0, upper - page)
        };
        if let Some((y, tall)) = wanted
            && (f64::from(y + tall) < value || f64::from(y) > value + page)
        {
            value = (f64::from(y) - page * ABOVE_TARGET).clamp(0.0, upper - page);
        }
        adjustment.configure(value, 0.0, upper, page * 0.1, page * 0.9, page);
        if let Some(across) = &*self.hadjustment.borrow() {
            let width = f64::from(width);
            across.configure(0.0, 0.0, width, 1.0, width, width);
        }
        if holds {
            self.follows.set(upper - page - adjustment.value() < NEAR_END);
        }
        let focus = self.child_with_focus();
        let place_all = |top| place_rows(&rows, top, (x, inner), height, focus.as_ref());
        place_all(adjustment.value() as i32);
        if let (Some(target), Some((y, _))) = (target, wanted)
            && let Some((at, tall)) = target.position.find(page)
        {
            let place = (f64::from(y) + at, tall);
            if let Some(value) = scrolled_to((adjustment.value(), page), place) {
                adjustment.set_value(value);
                place_all(adjustment.value() as i32);
            }
            let left = adjustment.upper() - page - adjustment.value();
            self.follows.set(!target.holds && left < NEAR_END);
        }
        let top = adjustment.value() as i32;
        drop(rows);
        if let Some((tail, at, tall)) = tail {
            place(&tail, x, at - top, inner, tall);
        }
        self.remember_anchor();
    }

    /// Where to scroll so that the anchored row stays where it is.
    fn anchored(&self, rows: &[Row]) -> Option<f64> {
        let anchor = self.anchor.borrow();
        let (widget, offset) = anchor.as_ref()?;
        let row = rows.iter().find(|row| row.widget == *widget)?;
        Some(f64::from(row.y - offset))
    }

    /// The first row in sight is the one to be kept in place from now on.
    fn remember_anchor(&self) {
        let Some(adjustment) = self.vadjustment.borrow().clone() else { return };
        let top = adjustment.value() as i32;
        let rows = self.rows.borrow();
        let anchor = rows
            .iter()
            .find(|row| row.y + row.height > top)
            .map(|row| (row.widget.clone(), row.y - top));
        self.anchor.replace(anchor);
    }

    /// The reader scrolled.
    fn reader_moved(&self) {
        if self.allocating.get() {
            return;
        }
        let Some(adjustment) = self.vadjustment.borrow().clone() else { return };
        self.count_move();
        let left = adjustment.upper() - adjustment.page_size() - adjustment.value();
        self.follows.set(left < NEAR_END);
        self.remember_anchor();
        self.obj().place_anew();
    }

    /// Another place is to be seen.
    pub fn count_move(&self) {
        self.moves.set(self.moves.get() + 1);
    }

    fn tell_moved(&self) {
        if let Some(moved) = &*self.moved.borrow() {
            moved();
        }
    }

    /// A row that goes must not be kept alive or in place.
    pub fn forget(&self, widget: &gtk::Widget) {
        let is_anchor = self.anchor.borrow().as_ref().is_some_and(|(row, _)| row == widget);
        if is_anchor {
            self.anchor.replace(None);
        }
        if self.target.borrow().as_ref().is_some_and(|target| target.widget == *widget) {
            self.target.replace(None);
        }
        let is_caret = self
            .caret
            .borrow()
            .as_ref()
            .is_some_and(|text| text.is_ancestor(widget) || text == widget);
        if is_caret {
            self.caret.replace(None);
        }
    }

    fn bring_into_sight(&self, child: &gtk::Widget) {
        let Some(adjustment) = self.vadjustment.borrow().clone() else { return };
        let place = {
            let rows = self.rows.borrow();
            rows.iter().find(|row| row.widget == *child).map(|row| (row.y, row.height))
        };
        // A row that was just made has no place yet.
        let Some((y, height)) = place.filter(|(y, _)| *y > 0) else { return };
        let (top, bottom) = (f64::from(y), f64::from(y + height));
        let (value, page) = (adjustment.value(), adjustment.page_size());
        // A row that is partly in sight was most likely clicked: it stays where it is.
        if bottom < value {
            adjustment.set_value(bottom - page / 2.0);
        } else if top > value + page {
            adjustment.set_value(top - page / 2.0);
        }
    }

    fn draw_caret(&self, snapshot: &gtk::Snapshot) {
        let caret = self.caret.borrow();
        let Some(text) = caret.as_ref().filter(|text| text.is_mapped()) else { return };
        let end = text.iter_location(&text.buffer().end_iter());
        let (x, y) = text.buffer_to_window_coords(gtk::TextWindowType::Widget, end.x(), end.y());
        let Some((x, y)) = text.translate_coordinates(&*self.obj(), f64::from(x), f64::from(y))
        else {
            return;
        };
        let color = self
            .obj()
            .style_context()
            .lookup_color("accent_color")
            .unwrap_or_else(|| self.obj().style_context().color());
        let height = end.height().clamp(8, 24) as f32;
        let bounds = graphene::Rect::new(x as f32 + 2.0, y as f32 + 1.0, 3.0, height - 2.0);
        snapshot
            .append_color(&gdk::RGBA::new(color.red(), color.green(), color.blue(), 0.8), &bounds);
    }
}

/// Places the rows that are near the sight, which begins at `top`. `across`: where they begin and
/// how wide they are. `focus`: the one with the keyboard.
fn place_rows(
    rows: &[Row],
    top: i32,
    across: (i32, i32),
    height: i32,
    focus: Option<&gtk::Widget>,
) {
    for row in rows {
        let at = row.y - top;
        // Rows near the sight stay mapped, so that the focus can move to them, and one that has it keeps it.
        let near = (at < 2 * height && at + row.height > -height) || focus == Some(&row.widget);
        if near {
            place(&row.widget, across.0, at, across.1, row.height);
        }
        row.widget.set_child_visible(near);
    }
}

/// Puts a widget where it belongs.
fn place(widget: &gtk::Widget, x: i32, y: i32, width: i32, height: i32) {
    let point = graphene::Point::new(x as f32, y as f32);
    widget.allocate(width, height, -1, Some(gsk::Transform::new().translate(&point)));
}

impl Row {
    /// Measures the row at this width, if its height is not known.
    fn learn_height(&mut self, width: i32) {
        let Some(text) = &self.text else {
            self.height = self.widget.measure(gtk::Orientation::Vertical, width).1;
            return;
        };
        if self.width == width {
            return;
        }
        self.height = laid_out::height_at(text, width);
        self.width = width;
    }
}
