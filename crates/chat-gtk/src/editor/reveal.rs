//! Scrolls a text to its cursor.

use std::cell::Cell;

use gtk::glib;
use relm4::gtk::prelude::*;

/// Scrolls to the cursor, once the lines above it have their height: to a third of the view, and to
/// the right only as far as needed. If the text has no size yet because it was never visible, this
/// waits: GTK would think that the cursor is beyond its right edge.
pub(super) fn cursor(view: &sourceview5::View) {
    let weak = view.downgrade();
    glib::idle_add_local_once(move || {
        let Some(view) = weak.upgrade() else { return };
        let Some(across) = view.hadjustment() else { return };
        if across.page_size() > 0.0 {
            view.scroll_to_mark(&view.buffer().get_insert(), 0.1, true, 1.0, 0.35);
            return;
        }
        let (weak, waits) = (view.downgrade(), Cell::new(None));
        let waits = std::rc::Rc::new(waits);
        let own = std::rc::Rc::clone(&waits);
        let handler = across.connect_page_size_notify(move |across| {
            if let Some(handler) = own.take() {
                across.disconnect(handler);
            }
            if let Some(view) = weak.upgrade() {
                cursor(&view);
            }
        });
        waits.set(Some(handler));
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_loop::until;

    #[gtk::test]
    fn a_text_that_nobody_saw_yet_does_not_stand_sideways() {
        crate::init();
        let view = sourceview5::View::builder().left_margin(12).monospace(true).build();
        view.buffer().set_text(&format!("{}\n", "words and more words ".repeat(20)).repeat(300));
        let scroller = gtk::ScrolledWindow::builder().child(&view).build();
        let line = view.buffer().iter_at_line(200).expect("a line");
        view.buffer().place_cursor(&line);
        cursor(&view);
        // The window is created later, as for a file that is opened in the background.
        let asked = std::rc::Rc::new(Cell::new(false));
        let told = std::rc::Rc::clone(&asked);
        glib::idle_add_local_once(move || told.set(true));
        until("a turn of the loop", || asked.get());
        let window =
            gtk::Window::builder().child(&scroller).default_width(400).default_height(300).build();
        window.present();
        until("the cursor in sight", || scroller.vadjustment().value() > 0.0);
        let across = scroller.hadjustment().value();
        assert!(across.abs() < 0.5, "it stands {across} pixels sideways");
    }
}
