//! Goes to the first message, however far up it is: earlier ones are loaded, and read in slices.

use std::rc::Rc;
use std::time::{Duration, Instant};

use gtk::glib;

use super::{Inner, State};
use crate::conversation::model::entry::Entry;
use crate::conversation::widgets::context::Output;

/// How long a slice may take: well below the half of a frame.
const SLICE: Duration = Duration::from_millis(3);

impl Inner {
    /// Goes to the first message that is there, and to the very first once all have come, unless the
    /// reader goes elsewhere meanwhile.
    pub fn go_to_start(self: &Rc<Self>) {
        // What was reported and is not drawn yet has no rows.
        self.paint();
        let is_there = {
            let mut state = self.state.borrow_mut();
            // What could not be loaded is asked for again.
            if state.failed.take().is_some() {
                state.asked = None;
            }
            state.transcript.unread() == 0 && !state.transcript.more
        };
        self.show_first();
        self.to_start.set((!is_there).then(|| self.column.moves()));
        self.schedule();
    }

    /// Goes on towards the first message, if the reader is on the way there.
    pub(super) fn seek_start(self: &Rc<Self>) {
        if self.to_start.get().is_none() || self.reading_start.replace(true) {
            return;
        }
        let weak = Rc::downgrade(self);
        glib::idle_add_local(move || {
            let Some(inner) = weak.upgrade() else { return glib::ControlFlow::Break };
            let more = inner.read_towards_start();
            inner.reading_start.set(more);
            if more { glib::ControlFlow::Continue } else { glib::ControlFlow::Break }
        });
    }

    /// Reads for a while. Returns whether there is more to read.
    fn read_towards_start(self: &Rc<Self>) -> bool {
        if self.to_start.get() != Some(self.column.moves()) {
            self.to_start.take();
            return false;
        }
        let mut state = self.state.borrow_mut();
        let State { transcript, rows, asked, .. } = &mut *state;
        let unread = transcript.unread();
        if unread > 0 {
            let begun = Instant::now();
            rows.prepend(&mut transcript.entries[..unread], &|_| begun.elapsed() > SLICE);
            return true;
        }
        if transcript.more {
            let before = transcript.entries.first().map(Entry::id).filter(|_| asked.is_none());
            if before.is_some() {
                *asked = before;
            }
            drop(state);
            if let Some(before) = before {
                (self.output)(Output::NeedEarlier { before });
            }
            return false;
        }
        drop(state);
        self.to_start.take();
        self.paint();
        self.show_first();
        false
    }

    /// Goes to the first row that there is.
    fn show_first(&self) {
        {
            let mut state = self.state.borrow_mut();
            let State { transcript, rows, .. } = &mut *state;
            rows.make_near(0, &transcript.entries, transcript.last());
        }
        self.column.go_to(0);
    }
}
