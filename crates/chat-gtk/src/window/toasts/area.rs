//! Shows and dismisses toasts without the two ways in which libadwaita 1.2 ends the program.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use adw::prelude::*;
use gtk::{gio, glib};

/// How long a toast appears in place of another one, with some time to spare, in microseconds.
const APPEARING: i64 = 600_000;

/// An overlay in which one toast is shown at a time. Cheap to clone.
#[derive(Clone, Debug)]
pub(in crate::window) struct ToastArea {
    overlay: adw::ToastOverlay,
    /// The overlay's content and the toasts' widgets. It reports them as long as it is kept.
    children: gio::ListModel,
    /// When the last toast came into sight, by the overlay's frame clock.
    shown: Rc<Cell<i64>>,
}

impl ToastArea {
    pub fn new(child: &impl IsA<gtk::Widget>) -> Self {
        let overlay = adw::ToastOverlay::new();
        overlay.set_child(Some(child));
        // Each toast gets a widget when it is its turn.
        let children = overlay.observe_children();
        let shown = Rc::new(Cell::new(0));
        let (weak, last) = (overlay.downgrade(), Rc::clone(&shown));
        children.connect_items_changed(move |_, _, _, added| {
            let clock = weak.upgrade().and_then(|overlay| overlay.frame_clock());
            if let Some(clock) = clock.filter(|_| added > 0) {
                last.set(clock.frame_time());
            }
        });
        Self { overlay, children, shown }
    }

    pub fn widget(&self) -> &adw::ToastOverlay {
        &self.overlay
    }

    pub fn children(&self) -> &gio::ListModel {
        &self.children
    }

    pub fn add(&self, toast: adw::Toast) {
        self.overlay.add_toast(toast);
    }

    /// Dismisses a toast once none appears or is on its way out. libadwaita 1.2 ends the program if one is freed while it
    /// still appears, or if one that made room for this has to come back before its widget is gone.
    pub fn dismiss(&self, toast: adw::Toast) {
        if self.overlay.frame_clock().is_some_and(|clock| self.has_appearing(&clock)) {
            let (this, toast) = (self.clone(), RefCell::new(Some(toast)));
            self.overlay.add_tick_callback(move |_, clock| {
                if this.has_appearing(clock) {
                    return glib::ControlFlow::Continue;
                }
                this.dismiss_soon(toast.take());
                glib::ControlFlow::Break
            });
            return;
        }
        // The content, and one toast.
        if self.children.n_items() <= 2 {
            toast.dismiss();
            return;
        }
        let waits = Rc::new(RefCell::new(None));
        let (this, taken) = (self.clone(), Rc::clone(&waits));
        let handler = self.children.connect_items_changed(move |children, _, _, _| {
            let Some(handler) = taken.take() else { return };
            children.disconnect(handler);
            this.dismiss_soon(Some(toast.clone()));
        });
        waits.replace(Some(handler));
    }

    /// Not while the overlay moves or removes another one.
    fn dismiss_soon(&self, toast: Option<adw::Toast>) {
        let this = self.clone();
        glib::idle_add_local_once(move || {
            if let Some(toast) = toast {
                this.dismiss(toast);
            }
        });
    }

    fn has_appearing(&self, clock: &gtk::gdk::FrameClock) -> bool {
        self.children.n_items() > 1 && clock.frame_time() - self.shown.get() < APPEARING
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::main_loop::until;

    #[gtk::test]
    fn toasts_that_are_dismissed_at_once_appear_first() {
        crate::init();
        let page = gtk::Box::new(gtk::Orientation::Vertical, 0);
        let area = ToastArea::new(&page);
        let window = gtk::Window::builder().child(area.widget()).build();
        window.present();
        until("the page in the window", || page.is_mapped());
        let clock = area.widget().frame_clock().expect("a clock");
        let lasted = Rc::new(RefCell::new(Vec::new()));
        // Each replaces the one before, which goes at once.
        let mut before: Option<adw::Toast> = None;
        for words in ["Apples", "Bread", "Cheese"] {
            let toast = adw::Toast::builder().title(words).build();
            toast.set_priority(adw::ToastPriority::High);
            let (came, clock, times) = (clock.frame_time(), clock.clone(), Rc::clone(&lasted));
            toast.connect_dismissed(move |_| times.borrow_mut().push(clock.frame_time() - came));
            if let Some(before) = before.replace(toast.clone()) {
                area.dismiss(before);
            }
            area.add(toast);
        }
        area.dismiss(before.expect("a toast"));
        until("no toast", || area.children().n_items() <= 1 && lasted.borrow().len() == 3);
        // libadwaita lets one appear for half a second if it replaces another one.
        assert!(lasted.borrow().iter().all(|time| *time >= 500_000), "{lasted:?}");
        window.destroy();
    }
}
