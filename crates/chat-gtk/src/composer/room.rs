//! Keeps in view what is to be seen of a text while its field gets another height.
//!
//! A text that fits its field is seen as a whole. When a new line makes the text grow while it scrolls to the cursor,
//! GTK 4.8 uses the old height, and the first line is cut off. Of a longer one that was put in at once the cursor is
//! seen: GTK scrolls to it by the heights that lines and field have at that moment.

use std::cell::Cell;
use std::rc::Rc;

use gtk::glib;
use relm4::gtk::prelude::*;

/// For how many frames to check whether the text got another height, which happens some frames
/// after it asks for it.
const FRAMES: u32 = 30;

/// Checks the text's height again whenever it may have changed.
pub(super) fn connect(scroller: &gtk::ScrolledWindow, text: &gtk::TextView) {
    let left = Rc::new(Cell::new(0));
    let text = text.downgrade();
    scroller.vadjustment().connect_changed(move |adjustment| {
        let is_cut = adjustment.upper() > adjustment.page_size();
        let Some(text) = text.upgrade().filter(|_| is_cut) else { return };
        // A check that is already running continues for longer.
        if left.replace(FRAMES) > 0 {
            return;
        }
        let (adjustment, left) = (adjustment.downgrade(), Rc::clone(&left));
        text.add_tick_callback(move |text, _| {
            left.set(left.get().saturating_sub(1));
            let known = adjustment.upgrade().map(|adjustment| adjustment.page_size());
            if known.is_some_and(|known| (known - f64::from(text.height())).abs() >= 1.0) {
                text.queue_allocate();
            }
            if left.get() > 0 { glib::ControlFlow::Continue } else { glib::ControlFlow::Break }
        });
    });
}

/// Keeps the cursor in view while a text that was put in gets its height.
pub(super) fn follow_cursor(scroller: &gtk::ScrolledWindow, text: &gtk::TextView) {
    let adjustment = scroller.vadjustment().downgrade();
    let (left, known) = (Cell::new(FRAMES), Cell::new((0.0, 0.0)));
    text.add_tick_callback(move |text, _| {
        let Some(adjustment) = adjustment.upgrade() else { return glib::ControlFlow::Break };
        let now = (adjustment.upper(), adjustment.page_size());
        // Only then: the user may scroll meanwhile.
        if known.replace(now) != now {
            text.scroll_mark_onscreen(&text.buffer().get_insert());
        }
        left.set(left.get() - 1);
        if left.get() > 0 { glib::ControlFlow::Continue } else { glib::ControlFlow::Break }
    });
}
