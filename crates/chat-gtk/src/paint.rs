//! Waits for a frame to be painted: to measure when something became visible, and to defer work
//! until then.

use std::cell::Cell;
use std::rc::Rc;

use gtk::gdk::prelude::*;
use relm4::gtk::prelude::*;

/// Calls back once, after the widget's next frame, or at once if it is not on the screen.
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
