//! Counts the seconds that rows show.

use std::rc::Rc;
use std::time::Duration;

use gtk::glib;

use super::Inner;

impl Inner {
    /// Counts seconds while there is something to count.
    pub(super) fn run_clock(self: &Rc<Self>, run: bool) {
        let mut clock = self.clock.borrow_mut();
        if !run {
            if let Some(clock) = clock.take() {
                clock.remove();
            }
        } else if clock.is_none() {
            let weak = Rc::downgrade(self);
            let source = glib::timeout_add_local(Duration::from_secs(1), move || {
                let Some(inner) = weak.upgrade() else { return glib::ControlFlow::Break };
                for entry in &mut inner.state.borrow_mut().transcript.entries {
                    entry.dirty |= entry.has_clock();
                }
                inner.schedule();
                glib::ControlFlow::Continue
            });
            clock.replace(source);
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(clock) = self.clock.take() {
            clock.remove();
        }
    }
}
