//! Waits for a frame to be painted: to measure when something could be seen, and to do what need
//! not be done before.

use std::cell::Cell;
use std::rc::Rc;

use gtk::gdk::prelude::*;
use relm4::gtk::prelude::*;

/// Calls back once, after the widget's next frame; now where it is on no screen.
pub(crate) fn after_next(widget: &impl IsA<gtk::Widget>, painted: impl FnOnce() + 'static) {
    let Some(clock) = widget.as_ref().frame_clock() else { return painted() };
    let painted = Cell::new(Some(painted));
    let handler: Rc<Cell<Option<gtk::glib::SignalHandlerId>>> = Rc::default();
    let own = Rc::clone(&handler);
    let id = clock.connect_after_paint(move |clock| {
        if let Some(id) = own.take() {
            clock.disconnect(id);
        }
        if let Some(painted) = painted.take() {
            painted();
        }
    });
    handler.set(Some(id));
    widget.as_ref().queue_draw();
}

/// Calls back once, after a frame of the widget that is on the screen: the next one, or the first one after it came
/// there.
pub(crate) fn once_seen(widget: &impl IsA<gtk::Widget>, seen: impl FnOnce() + 'static) {
    if widget.as_ref().is_mapped() {
        return after_next(widget, seen);
    }
    let seen = Cell::new(Some(seen));
    let handler: Rc<Cell<Option<gtk::glib::SignalHandlerId>>> = Rc::default();
    let own = Rc::clone(&handler);
    let id = widget.as_ref().connect_map(move |widget| {
        if let Some(id) = own.take() {
            widget.disconnect(id);
        }
        if let Some(seen) = seen.take() {
            after_next(widget, seen);
        }
    });
    handler.set(Some(id));
}
