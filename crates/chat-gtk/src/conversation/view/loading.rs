//! Shows another conversation, the same one read again, or earlier pages, and moves the keyboard to the newest
//! question.

use std::rc::Rc;

use chat_core::event::Snapshot;
use chat_core::message::{ApprovalId, Fid, MessageId};
use chat_core::store::Page;

use super::{Inner, State};
use crate::conversation::model::entry::Entry;
use crate::conversation::model::row_kind::RowKind;
use crate::conversation::model::transcript::Transcript;
use crate::conversation::rows::Rows;
use crate::conversation::widgets::context::Output;
use serde::{Deserialize, Serialize};

/// Where the person reads: the first row that they see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReadingPosition {
    /// The message that the row belongs to.
    pub message: MessageId,
    /// Which of the message's rows it is.
    pub row: usize,
    /// How much of the row is above what is seen, in pixels.
    pub hidden: i32,
    /// How many messages there were from this one on: to see it again, as many are to be opened.
    pub below: usize,
}

impl Inner {
    /// Shows another conversation, at this place if it is there, otherwise at its end. Another branch of the same one
    /// is shown where the reader was who switched to it.
    pub fn begin(self: &Rc<Self>, mut transcript: Transcript, place: Option<ReadingPosition>) {
        let before = self.session.replace(transcript.session.clone());
        if before.is_none() || before != transcript.session {
            self.end_switch();
        }
        let mut state = self.state.borrow_mut();
        let State { transcript: shown, rows, selection, finder, last, asked, failed, .. } =
            &mut *state;
        *selection = None;
        *finder = None;
        rows.clear();
        if before == transcript.session {
            transcript.take_siblings(shown);
        }
        *shown = transcript;
        *last = None;
        *asked = None;
        *failed = None;
        rows.context.pictures.forget();
        state.read_reports();
        let placed = place.is_some_and(|place| go_to_position(&mut state, place));
        drop(state);
        self.give_back();
        self.unseen.set(false);
        if !placed && !self.places_version() {
            self.column.follow();
        }
        self.paint();
        self.forget_missing_version();
    }

    /// Where the person reads; none where they have the end before them, or nothing was drawn yet.
    pub fn reading_position(&self) -> Option<ReadingPosition> {
        if self.column.follows() {
            return None;
        }
        let state = self.state.borrow();
        let State { transcript, rows, .. } = &*state;
        let entries = &transcript.entries;
        let row = rows.first_in_sight()?;
        let at = Rows::entry_of(row, entries);
        let first: usize = entries[..at].iter().map(|entry| entry.rows).sum();
        Some(ReadingPosition {
            message: entries.get(at)?.id(),
            row: row - first,
            hidden: -rows.top_of(row)?.round() as i32,
            below: entries.len() - at,
        })
    }

    /// Shows the same conversation as it was read again: what is still there stays as it is, with
    /// the reader's place, what they opened and what they look for. Whether it goes on from what
    /// is shown; otherwise nothing happens.
    pub fn renew(self: &Rc<Self>, snapshot: &Snapshot) -> bool {
        let mut state = self.state.borrow_mut();
        let State { transcript, rows, last, asked, failed, .. } = &mut *state;
        let Some(renewed) = transcript.renew(snapshot) else { return false };
        // Those that are new have no rows yet.
        rows.truncate(transcript.entries.iter().map(|entry| entry.rows).sum());
        if renewed.earlier > 0 {
            *last = last.map(|last| last + renewed.earlier);
            // What is on its way was asked for before another message.
            *asked = None;
            *failed = None;
        }
        state.read_reports();
        drop(state);
        self.give_back();
        if renewed.has_new {
            self.unseen.set(!self.column.follows());
        }
        self.paint();
        self.forget_missing_version();
        true
    }

    /// Gives back what was typed below questions that wait no longer: they were answered without it, or
    /// by another program.
    pub fn give_back(&self) {
        let lost = {
            let state = self.state.borrow();
            let transcript = &state.transcript;
            state.rows.context.drafts.waits(transcript.session.as_ref(), &transcript.asks)
        };
        for words in lost {
            (self.output)(Output::GiveBack(words));
        }
    }

    /// Adds the page before a message. One that was asked for by what was shown earlier would leave
    /// a gap, and is not taken.
    pub fn prepend(self: &Rc<Self>, before: MessageId, page: &Page) {
        let mut state = self.state.borrow_mut();
        let State { transcript, last, asked, failed, .. } = &mut *state;
        let first = transcript.entries.first().map(Entry::id);
        if first != Some(before) || *asked != Some(before) {
            return;
        }
        *asked = None;
        *failed = None;
        let count = transcript.entries.len();
        transcript.prepend(page);
        let added = transcript.entries.len() - count;
        *last = last.map(|last| last + added);
        drop(state);
        self.paint();
    }

    /// The page before a message could not be had. It is asked for again once the reader moves:
    /// at once, it would fail again and again.
    pub fn earlier_failed(&self, before: MessageId) {
        let mut state = self.state.borrow_mut();
        if state.asked == Some(before) {
            state.failed = Some(self.column.extent().0);
            // Pressed again, the key asks again.
            self.to_start.take();
        }
    }

    /// Gives the newest of what waits for the person the keyboard. Whether something waits.
    pub fn focus_ask(self: &Rc<Self>, wanted: Option<ApprovalId>) -> bool {
        // What was told and is not drawn yet has no rows.
        self.paint();
        let mut state = self.state.borrow_mut();
        let State { transcript, rows, last, .. } = &mut *state;
        let Some((entry, part)) = transcript.ask(wanted) else { return false };
        let before: usize = transcript.entries[..entry].iter().map(|entry| entry.rows).sum();
        let kinds = transcript.entries[entry].shown_kinds();
        let Some(row) = kinds.iter().position(|kind| *kind == RowKind::Tool { part }) else {
            return false;
        };
        rows.make_near(before + row, &transcript.entries, *last);
        rows.focus_prompt(before + row, transcript.queue.is_empty())
    }

    /// Brings the newest call into sight that is about this agent. Whether one is loaded.
    pub fn go_to_agent(self: &Rc<Self>, agent: &Fid) -> bool {
        self.paint();
        let mut state = self.state.borrow_mut();
        let State { transcript, rows, last, .. } = &mut *state;
        let Some((entry, part)) = transcript.call_about(agent) else { return false };
        let before: usize = transcript.entries[..entry].iter().map(|entry| entry.rows).sum();
        let kinds = transcript.entries[entry].shown_kinds();
        let Some(row) = kinds.iter().position(|kind| *kind == RowKind::Tool { part }) else {
            return false;
        };
        rows.make_near(before + row, &transcript.entries, *last);
        rows.focus_agent(before + row, agent);
        true
    }

    /// Has a page that could not be had be asked for again, if the reader moved since. Who follows
    /// the end moves by what is added to it, and not themselves.
    pub fn ask_again(self: &Rc<Self>, follows: bool, above: f64) {
        let Ok(mut state) = self.state.try_borrow_mut() else { return };
        if !follows && state.failed.is_some_and(|at| (at - above).abs() >= 1.0) {
            state.failed = None;
            state.asked = None;
            drop(state);
            self.schedule();
        }
    }
}

/// Goes to a place of a conversation of which nothing is drawn yet. Whether it is there.
fn go_to_position(state: &mut State, place: ReadingPosition) -> bool {
    let State { transcript, rows, .. } = state;
    let entries = &mut transcript.entries;
    let Some(at) = entries.iter().position(|entry| entry.id() == place.message) else {
        return false;
    };
    // All from there to the end is read, so that its rows are known.
    rows.prepend_to(entries, at);
    if entries[at].rows == 0 {
        return false;
    }
    let before: usize = entries[..at].iter().map(|entry| entry.rows).sum();
    let row = before + place.row.min(entries[at].rows - 1);
    rows.make_near(row, &transcript.entries, transcript.last());
    rows.put_at(row, -place.hidden);
    true
}
