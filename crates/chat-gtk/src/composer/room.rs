//! Keeps a text in sight that has room: GTK 4.8 goes on with the height that the text had before, where a
//! new line makes it grow while it scrolls to the cursor, and its first line is cut off.

use std::cell::Cell;
use std::rc::Rc;

use gtk::glib;
use relm4::gtk::prelude::*;

/// Has the text look again at its height whenever that may be another.
pub(super) fn connect(scroller: &gtk::ScrolledWindow, text: &gtk::TextView) {
    let waits = Rc::new(Cell::new(false));
    let text = text.downgrade();
    scroller.vadjustment().connect_changed(move |adjustment| {
        let Some(text) = text.upgrade().filter(|_| !waits.replace(true)) else { return };
        let (adjustment, waits) = (adjustment.downgrade(), Rc::clone(&waits));
        // By the next frame it has the height that it is given in this one.
        text.add_tick_callback(move |text, _| {
            waits.set(false);
            let known = adjustment.upgrade().map(|adjustment| adjustment.page_size());
            if known.is_some_and(|known| (known - f64::from(text.height())).abs() >= 1.0) {
                text.queue_allocate();
            }
            glib::ControlFlow::Break
        });
    });
}
