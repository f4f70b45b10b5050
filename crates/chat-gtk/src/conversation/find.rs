//! Brings the reader to what is looked for. Messages are read in slices while there is nothing else to do, from
//! the end to the beginning; earlier ones are asked for until all are there.

use std::rc::Rc;
use std::time::{Duration, Instant};

use chat_core::message::MessageId;
use gtk::glib;

use crate::conversation::model::entry::Entry;
use crate::conversation::search::read::read;
use crate::conversation::search::{Finder, MatchPosition, Pattern, Seek, SeekOutcome};
use crate::conversation::view::{Inner, State};
use crate::conversation::widgets::context::Output;

/// How long a slice may take: well below the half of a frame.
const SLICE: Duration = Duration::from_millis(3);

impl Inner {
    /// Goes on reading whenever something was drawn: it may have what is looked for.
    pub(super) fn listen_for_find(self: &Rc<Self>) {
        let weak = Rc::downgrade(self);
        self.connect_painted(move || {
            if let Some(inner) = weak.upgrade() {
                inner.search();
            }
        });
    }

    /// Looks for these words from where the person reads; no words end the search. `message`:
    /// where the person wants to be brought instead.
    pub(super) fn find(self: &Rc<Self>, words: &str, message: Option<MessageId>) {
        let mut state = self.state.borrow_mut();
        let Some(pattern) = Pattern::new(words) else {
            drop(state);
            self.end_find();
            return;
        };
        let before = state.finder.take();
        let current = before.as_ref().and_then(|finder| finder.current);
        let from = current.map(|place| Seek::From(place.message, place.row));
        let seek = message.map(Seek::Message).or(from).or_else(|| in_sight(&state));
        let search = before.map_or(state.searches, |finder| finder.search) + 1;
        state.searches = search;
        state.finder = Some(Finder { pattern, search, seek, current: None, reported: None });
        drop(state);
        self.search();
    }

    /// Goes to the next place, or the one before.
    pub(super) fn find_next(self: &Rc<Self>, forward: bool) {
        let mut state = self.state.borrow_mut();
        let sight = in_sight(&state);
        let State { transcript, finder: Some(finder), .. } = &mut *state else { return };
        match finder.next(&transcript.entries, forward) {
            Some(place) => {
                finder.current = Some(place);
                finder.seek = None;
                show_current(&mut state);
            }
            None => finder.seek = sight,
        }
        drop(state);
        self.search();
    }

    /// Nothing is looked for any more.
    fn end_find(self: &Rc<Self>) {
        let mut state = self.state.borrow_mut();
        if state.finder.take().is_some() {
            state.highlight_matches();
            drop(state);
            // What was read only for the search is dropped.
            self.schedule();
        }
    }

    /// Reads what is to be read, when there is time.
    fn search(self: &Rc<Self>) {
        if self.state.borrow().finder.is_none() || self.searching.replace(true) {
            return;
        }
        let weak = Rc::downgrade(self);
        glib::idle_add_local(move || {
            let Some(inner) = weak.upgrade() else { return glib::ControlFlow::Break };
            let more = inner.slice();
            inner.searching.set(more);
            if more { glib::ControlFlow::Continue } else { glib::ControlFlow::Break }
        });
    }

    /// Reads for a while. Whether there is more to read.
    fn slice(self: &Rc<Self>) -> bool {
        let mut state = self.state.borrow_mut();
        let State { transcript, rows, finder: Some(finder), asked, .. } = &mut *state else {
            return false;
        };
        let begun = Instant::now();
        let is_over = || begun.elapsed() > SLICE;
        let mut left = false;
        let unread = transcript.unread();
        for entry in transcript.entries[unread..].iter_mut().rev() {
            if entry.hits.is_of(finder.search) {
                continue;
            }
            left = is_over();
            if left {
                break;
            }
            read(entry, &rows.context.tools.borrow(), &finder.pattern, finder.search);
        }
        if !left && unread > 0 {
            // What has no rows yet gets them, and is looked through in the next slice.
            left = true;
            rows.prepend(&mut transcript.entries[..unread], &|_| is_over());
        }
        let brought = finder
            .seek
            .is_some()
            .then(|| finder.seek_outcome(&transcript.entries, transcript.more));
        match brought {
            Some(SeekOutcome::NotYet) | None => {}
            Some(SeekOutcome::At(place)) => {
                finder.current = Some(place);
                finder.seek = None;
            }
            Some(SeekOutcome::Nowhere | SeekOutcome::Without(_)) => finder.seek = None,
        }
        let status = finder.status(&transcript.entries, left || transcript.more);
        let tell = finder.reported.replace(status) != Some(status);
        let need = !left && transcript.more && asked.is_none();
        let before = transcript.entries.first().map(Entry::id).filter(|_| need);
        if before.is_some() {
            *asked = before;
        }
        match brought {
            Some(SeekOutcome::At(_)) => show_current(&mut state),
            Some(SeekOutcome::Without(message)) => go_to_row(&mut state, message, 0, None),
            _ => state.highlight_matches(),
        }
        drop(state);
        if let Some(before) = before {
            (self.output)(Output::NeedEarlier { before });
        }
        if tell {
            (self.output)(Output::SearchStatus(status));
        }
        left
    }
}

/// Brings the current place into sight.
fn show_current(state: &mut State) {
    let current = state.finder.as_ref().and_then(|finder| finder.current);
    if let Some(MatchPosition { message, row, hit }) = current {
        go_to_row(state, message, row, Some(hit));
    }
}

/// Brings a row of a message into sight, or the place in it.
fn go_to_row(state: &mut State, message: MessageId, row: usize, hit: Option<usize>) {
    let State { transcript, rows, .. } = state;
    let entries = &transcript.entries;
    let Some(at) = entries.iter().position(|entry| entry.id() == message) else { return };
    let index = entries[..at].iter().map(|entry| entry.rows).sum::<usize>() + row;
    let hit = hit.and_then(|hit| entries[at].hits.in_row(row).get(hit)).cloned();
    rows.make_near(index, entries, transcript.last());
    rows.open(index);
    state.highlight_matches();
    state.rows.reveal(index, hit.as_ref(), state.transcript.is_live());
}

/// The first row that the person sees; the end of what is loaded where nothing was drawn yet.
fn in_sight(state: &State) -> Option<Seek> {
    let entries = &state.transcript.entries;
    let mut row = state.rows.first_in_sight().unwrap_or(usize::MAX);
    for entry in entries {
        if row < entry.rows {
            return Some(Seek::From(entry.id(), row));
        }
        row = row.saturating_sub(entry.rows);
    }
    entries.last().map(|entry| Seek::From(entry.id(), 0))
}
