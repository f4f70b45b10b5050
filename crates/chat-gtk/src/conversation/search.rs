//! Finds text in messages, and chooses the match to go to.
//!
//! `chat_core::store::Pattern` compares, `texts` says what is shown, and `read` notes in a message what it has.

pub mod read;
mod texts;

use chat_core::message::MessageId;
pub use chat_core::store::Pattern;

use crate::conversation::model::entry::Entry;

pub use texts::each_text_of_segment;

/// How far a search is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SearchStatus {
    /// The place that the person stands at, counted from 1.
    pub current: Option<usize>,
    /// How many places were found.
    pub total: usize,
    /// Whether there is more to read.
    pub searching: bool,
}

/// A search.
pub struct Finder {
    pub pattern: Pattern,
    /// Tells it apart from those before it.
    pub search: u64,
    /// What the person is to be brought to as soon as it is found.
    pub seek: Option<Seek>,
    pub current: Option<MatchPosition>,
    /// What was told last.
    pub reported: Option<SearchStatus>,
}

/// What the person is to be brought to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seek {
    /// The first place in this row of a message or behind it; if there is none, the last before.
    From(MessageId, usize),
    /// The place in this message at which a search of the chats found it.
    Message(MessageId),
}

/// A place that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatchPosition {
    pub message: MessageId,
    /// The row of the message.
    pub row: usize,
    /// Which of the row's places.
    pub hit: usize,
}

/// What came of seeking.
#[derive(Debug, PartialEq, Eq)]
pub enum SeekOutcome {
    /// More is to be read first.
    NotYet,
    /// This is it.
    At(MatchPosition),
    /// The message is there, and has no such place.
    Without(MessageId),
    /// There is none.
    Nowhere,
}

impl Finder {
    /// Looks for where to bring the person. `more`: whether there are earlier messages.
    pub fn seek_outcome(&self, entries: &[Entry], more: bool) -> SeekOutcome {
        let (id, row) = match self.seek {
            Some(Seek::From(id, row)) => (id, row),
            Some(Seek::Message(id)) => {
                return match entries.iter().find(|entry| entry.id() == id) {
                    None if more => SeekOutcome::NotYet,
                    None => SeekOutcome::Nowhere,
                    Some(entry) if !entry.hits.is_of(self.search) => SeekOutcome::NotYet,
                    Some(entry) => match entry.hits.first_meant() {
                        Some((row, hit)) => {
                            SeekOutcome::At(MatchPosition { message: id, row, hit })
                        }
                        None => SeekOutcome::Without(id),
                    },
                };
            }
            None => return SeekOutcome::Nowhere,
        };
        let Some(at) = entries.iter().position(|entry| entry.id() == id) else {
            return SeekOutcome::Nowhere;
        };
        for (index, entry) in entries.iter().enumerate().skip(at) {
            if !entry.hits.is_of(self.search) {
                return SeekOutcome::NotYet;
            }
            let from = if index == at { row } else { 0 };
            if let Some((row, hit)) = entry.hits.first_from(from) {
                return SeekOutcome::At(MatchPosition { message: entry.id(), row, hit });
            }
        }
        for (index, entry) in entries.iter().enumerate().take(at + 1).rev() {
            if !entry.hits.is_of(self.search) {
                return SeekOutcome::NotYet;
            }
            let before = if index == at { row } else { usize::MAX };
            if let Some((row, hit)) = entry.hits.last_before(before) {
                return SeekOutcome::At(MatchPosition { message: entry.id(), row, hit });
            }
        }
        if more { SeekOutcome::NotYet } else { SeekOutcome::Nowhere }
    }

    /// The place that stands behind the current one, or before it; behind the last comes the first.
    pub fn next(&self, entries: &[Entry], forward: bool) -> Option<MatchPosition> {
        let MatchPosition { message, row, hit } = self.current?;
        let at = entries.iter().position(|entry| entry.id() == message)?;
        let place =
            |index: usize, (row, hit)| MatchPosition { message: entries[index].id(), row, hit };
        let hits = &entries[at].hits;
        if forward {
            let within = (hit + 1 < hits.in_row(row).len()).then_some((row, hit + 1));
            let here = within.or_else(|| hits.first_from(row + 1));
            let others = (at + 1..entries.len()).chain(0..=at);
            let other =
                || others.into_iter().find_map(|i| Some((i, entries[i].hits.first_from(0)?)));
            here.map(|here| (at, here)).or_else(other).map(|(index, at)| place(index, at))
        } else {
            let here = hit.checked_sub(1).map(|hit| (row, hit)).or_else(|| hits.last_before(row));
            let others = (0..at).rev().chain((at..entries.len()).rev());
            let last = |index: usize| Some((index, entries[index].hits.last_before(usize::MAX)?));
            let other = || others.into_iter().find_map(last);
            here.map(|here| (at, here)).or_else(other).map(|(index, at)| place(index, at))
        }
    }

    /// How far the search is. A place that is no longer there is let go.
    pub fn status(&mut self, entries: &[Entry], searching: bool) -> SearchStatus {
        let mut total = 0;
        let mut current = None;
        for entry in entries {
            if let Some(place) = self.current
                && place.message == entry.id()
                && place.hit < entry.hits.in_row(place.row).len()
            {
                current = Some(total + entry.hits.before(place.row, place.hit) + 1);
            }
            total += entry.hits.count();
        }
        if current.is_none() {
            self.current = None;
        }
        SearchStatus { current, total, searching }
    }
}

#[cfg(test)]
mod tests;
