//! Joins replies that go on with the one above: in the window both are one.

use std::sync::Arc;

use chat_core::message::{Message, MessageId, Role};

use super::Transcript;
use crate::conversation::model::entry::Entry;
use crate::conversation::model::part::PartState;

impl Transcript {
    /// Puts the text of each reply that goes on with the one above to the end of that.
    pub fn join_continued(&mut self) {
        let mut first = 0;
        while first < self.entries.len() {
            let end = self.end_of_chain(first);
            self.join(first, end);
            first = end;
        }
    }

    /// Where the replies end that go on with one.
    fn end_of_chain(&self, first: usize) -> usize {
        let above = self.entries[first..].iter();
        let chain = above.zip(&self.entries[first + 1..]).take_while(|(above, below)| {
            below.message.role == Role::Assistant && below.message.continues == Some(above.id())
        });
        first + 1 + chain.count()
    }

    fn join(&mut self, first: usize, end: usize) {
        let mut tail = String::new();
        let mut is_open = false;
        // What follows something else than text stands for itself.
        let mut joins = matches!(self.entries[first].parts.last(), Some(PartState::Text(_)));
        for index in first..end {
            let goes_on = index + 1 < end;
            let entry = &mut self.entries[index];
            let mut joined = None;
            if index > first && joins {
                let begins = entry.parts.iter().position(|part| !matches!(part, PartState::Other));
                if let Some(at) = begins
                    && let PartState::Text(text) = &entry.parts[at]
                {
                    text.add_source(&mut tail);
                    is_open = entry.is_live();
                    joined = Some(at);
                    joins = at + 1 == entry.parts.len();
                } else {
                    joins = begins.is_none();
                }
            }
            if (entry.goes_on, entry.joined) != (goes_on, joined) {
                (entry.goes_on, entry.joined) = (goes_on, joined);
                entry.dirty = true;
            }
        }
        self.entries[first].set_tail(tail, is_open);
    }

    /// The message and all that are one with it.
    pub(super) fn chain_of(&self, id: MessageId) -> &[Entry] {
        let Some(at) = self.entries.iter().position(|entry| entry.id() == id) else { return &[] };
        let mut first = at;
        while first > 0 && self.end_of_chain(first - 1) > first {
            first -= 1;
        }
        &self.entries[first..self.end_of_chain(first)]
    }
}

impl Entry {
    /// What stands at its end of replies that go on with it. `is_open`: more of that comes.
    fn set_tail(&mut self, tail: String, is_open: bool) {
        if self.tail.is_empty() && tail.is_empty() {
            return;
        }
        let message = Arc::clone(&self.message);
        let Some(PartState::Text(_)) = self.parts.last() else { return };
        let own = own_end(&message);
        let is_there =
            self.parts.last().is_some_and(|last| last.len() == own.len() + self.tail.len());
        if !is_there || !tail.starts_with(&self.tail) {
            let mut text = Box::<crate::conversation::model::reply::ReplyText>::default();
            text.push(own);
            self.tail.clear();
            if let Some(last) = self.parts.last_mut() {
                *last = PartState::Text(text);
            }
            self.dirty = true;
        }
        if let Some(PartState::Text(text)) = self.parts.last_mut() {
            if tail.len() > self.tail.len() || !is_there {
                text.reopen();
                text.push(&tail[self.tail.len()..]);
                self.dirty = true;
            }
            if !is_open {
                text.end();
            }
        }
        self.tail = tail;
    }
}

/// The text with which a message ends.
fn own_end(message: &Message) -> &str {
    match message.parts.last() {
        Some(chat_core::message::Part::Text(text)) => text,
        _ => "",
    }
}
