//! Selects with the pointer: by dragging, by double and triple clicks, and with Shift. At the edges of the sight the
//! conversation scrolls.

use std::rc::Rc;

use gtk::prelude::*;
use gtk::{gdk, glib};

use crate::conversation::model::selection::{Selection, Unit};
use crate::conversation::view::Inner;

/// So far the pointer moves before that is meant, in pixels.
const LEAST_WAY: f64 = 3.0;
/// How far a frame scrolls at least and at most while the pointer is beyond the edge, in pixels.
const SLOWEST: f64 = 2.0;
const FASTEST: f64 = 48.0;

/// A press of the pointer that selects.
pub struct Press {
    start: (f64, f64),
    point: (f64, f64),
    /// Whether the pointer moved since.
    moved: bool,
    /// What a mere click opens.
    link: Option<Rc<str>>,
    /// Whether the conversation scrolls as long as the pointer is where it is.
    scrolls: bool,
}

/// What a press in the conversation is for.
enum Meaning {
    /// It selects text of the conversation.
    Selects,
    /// It is in a text that selects by itself, as in the card of a tool.
    OwnText,
    /// It is on a button, or on what has no text.
    Other,
}

impl Inner {
    pub(super) fn listen_to_selecting_pointer(self: &Rc<Self>) {
        // Before the texts, each of which would select within itself.
        let click = gtk::GestureClick::builder()
            .button(gdk::BUTTON_PRIMARY)
            .propagation_phase(gtk::PropagationPhase::Capture)
            .build();
        let weak = Rc::downgrade(self);
        click.connect_pressed(move |click, presses, x, y| {
            let Some(inner) = weak.upgrade() else { return };
            let extends = click.current_event_state().contains(gdk::ModifierType::SHIFT_MASK);
            // A finger scrolls.
            let is_finger = click
                .current_event_device()
                .is_some_and(|device| device.source() == gdk::InputSource::Touchscreen);
            if !is_finger && inner.press((x, y), presses, extends) {
                click.set_state(gtk::EventSequenceState::Claimed);
            }
        });
        let drag = gtk::GestureDrag::builder()
            .button(gdk::BUTTON_PRIMARY)
            .propagation_phase(gtk::PropagationPhase::Capture)
            .build();
        let weak = Rc::downgrade(self);
        drag.connect_drag_update(move |_, x, y| {
            if let Some(inner) = weak.upgrade() {
                inner.drag_by((x, y));
            }
        });
        let weak = Rc::downgrade(self);
        drag.connect_drag_end(move |_, _, _| {
            if let Some(inner) = weak.upgrade() {
                inner.release();
            }
        });
        self.column.add_controller(click.clone());
        self.column.add_controller(drag.clone());
        drag.group_with(&click);
    }

    /// Begins to select at a point of the column. Whether that is what the press is for.
    fn press(self: &Rc<Self>, point: (f64, f64), presses: i32, extends: bool) -> bool {
        self.press.take();
        let Some(widget) = self.column.pick(point.0, point.1, gtk::PickFlags::DEFAULT) else {
            return false;
        };
        match self.meaning(&widget) {
            Meaning::Selects => {}
            Meaning::OwnText => {
                self.select(None);
                return false;
            }
            Meaning::Other => return false,
        }
        let Ok(state) = self.state.try_borrow() else { return false };
        let entries = &state.transcript.entries;
        let Some(place) = state.rows.place_at(point, entries) else { return false };
        let unit = match presses {
            1 => Unit::Letter,
            2 => Unit::Word,
            _ => Unit::Paragraph,
        };
        let before = state.selection.filter(|_| extends);
        let selection = match before {
            Some(mut selection) => {
                selection.extend(entries, place);
                selection
            }
            None => Selection::begin(entries, place, unit),
        };
        let row = state.rows.index_of(&widget).filter(|_| presses == 1 && !extends);
        let link = row.and_then(|row| state.rows.link_at(row, &widget, point));
        if state.rows.is_text(&widget) {
            // A caret would be in the way of the pointer.
            if let Some(window) = self.column.root().and_downcast::<gtk::Window>() {
                window.set_focus_visible(false);
            }
            state.rows.focus_place(selection.focus(), entries);
        }
        drop(state);
        let press = Press { start: point, point, moved: false, link, scrolls: false };
        self.press.replace(Some(press));
        self.select(Some(selection));
        true
    }

    fn meaning(&self, widget: &gtk::Widget) -> Meaning {
        let Ok(state) = self.state.try_borrow() else { return Meaning::Other };
        if state.rows.is_text(widget) {
            return Meaning::Selects;
        }
        let column: &gtk::Widget = self.column.upcast_ref();
        let inside = std::iter::successors(Some(widget.clone()), WidgetExt::parent)
            .take_while(|widget| widget != column);
        for part in inside {
            if is_own_text(&part) {
                return Meaning::OwnText;
            }
            if part.is::<gtk::Button>() || part.is::<gtk::Scrollbar>() || part.is_focusable() {
                return Meaning::Other;
            }
        }
        if widget == column || state.rows.is_in_text(widget) {
            Meaning::Selects
        } else {
            Meaning::Other
        }
    }

    fn drag_by(self: &Rc<Self>, way: (f64, f64)) {
        let height = f64::from(self.column.height());
        let (begins, is_first) = {
            let mut press = self.press.borrow_mut();
            let Some(press) = press.as_mut() else { return };
            press.point = (press.start.0 + way.0, press.start.1 + way.1);
            let was_moved = press.moved;
            press.moved |= way.0.abs().max(way.1.abs()) >= LEAST_WAY;
            if !press.moved {
                return;
            }
            let scrolls = !(0.0..height).contains(&press.point.1);
            (!std::mem::replace(&mut press.scrolls, scrolls) && scrolls, !was_moved)
        };
        if is_first {
            self.take_focus_to_select();
        }
        self.extend_to_pointer();
        if begins {
            let weak = Rc::downgrade(self);
            self.column.add_tick_callback(move |_, _| match weak.upgrade() {
                Some(inner) if inner.scroll_on() => glib::ControlFlow::Continue,
                _ => glib::ControlFlow::Break,
            });
        }
    }

    /// Scrolls towards the pointer, which is beyond the edge. Whether it still is.
    fn scroll_on(self: &Rc<Self>) -> bool {
        let height = f64::from(self.column.height());
        let y = match &*self.press.borrow() {
            Some(press) if press.scrolls => press.point.1,
            _ => return false,
        };
        let beyond = if y < 0.0 { y } else { y - height };
        let way = (beyond.abs() / 3.0).clamp(SLOWEST, FASTEST).copysign(beyond);
        if let Some(adjustment) = self.column.vadjustment() {
            adjustment.set_value(adjustment.value() + way);
        }
        self.extend_to_pointer();
        true
    }

    /// A drag that began beside the text gives the text the keyboard, so that Ctrl+C copies what is selected.
    fn take_focus_to_select(&self) {
        let Ok(state) = self.state.try_borrow() else { return };
        let is_here = self.column.state_flags().contains(gtk::StateFlags::FOCUS_WITHIN);
        if let Some(selection) = state.selection.filter(|_| !is_here) {
            state.rows.focus_place(selection.focus(), &state.transcript.entries);
        }
    }

    /// What is seen stays where it is while text is selected by dragging, though a reply grows.
    pub(in crate::conversation::view) fn hold_while_dragged(&self) {
        if self.press.borrow().as_ref().is_some_and(|press| press.moved) {
            self.column.hold();
        }
    }

    fn extend_to_pointer(self: &Rc<Self>) {
        let height = f64::from(self.column.height());
        let point = match &*self.press.borrow() {
            Some(press) => (press.point.0, press.point.1.clamp(0.0, (height - 1.0).max(0.0))),
            None => return,
        };
        let Ok(state) = self.state.try_borrow() else { return };
        let entries = &state.transcript.entries;
        let (Some(mut selection), Some(place)) =
            (state.selection, state.rows.place_at(point, entries))
        else {
            return;
        };
        selection.extend(entries, place);
        state.rows.scroll_block_to(place, entries);
        drop(state);
        self.select(Some(selection));
    }

    /// The button was let go: a click that did not move opens a link.
    fn release(self: &Rc<Self>) {
        let Some(press) = self.press.take() else { return };
        if let Some(link) = press.link.filter(|_| !press.moved) {
            let opened = Rc::clone(&self.state.borrow().rows.context.links.opened);
            opened(&link);
        }
        self.offer_selected_text();
    }
}

/// Whether a widget selects its text by itself, or has text that is being written.
pub(super) fn is_own_text(widget: &gtk::Widget) -> bool {
    let label = widget.downcast_ref::<gtk::Label>();
    widget.is::<gtk::TextView>()
        || widget.is::<gtk::Text>()
        || label.is_some_and(gtk::Label::is_selectable)
}
