//! Keeps what is selected in a conversation: two places in the texts of its messages. Widgets only paint it, so that
//! it stays while they come and go.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use chat_core::message::{MessageId, Role};

use super::entry::Entry;
use super::reply::SegmentKind;
use super::row_kind::RowKind;
use super::row_text::{
    formulas, has_text, next_letter, next_paragraph, next_word, paragraph_at, row_text, word_at,
};

/// A place between two letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextPlace {
    /// The message.
    pub message: MessageId,
    /// The row of the message.
    pub row: usize,
    /// How many letters of the row's text stand before it.
    pub letter: usize,
}

/// What is selected at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Letter by letter.
    Letter,
    /// Whole words: after a double click.
    Word,
    /// Whole paragraphs, or cells of a table: after a triple click.
    Paragraph,
}

/// How far a step of the keyboard goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stride {
    /// To the next letter.
    Letter,
    /// To the next word.
    Word,
    /// To the next end of a paragraph.
    Paragraph,
}

/// A selection. Where both its ends are the same it is a mere place, from which more can be selected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// What was clicked: it stays selected whichever way the selection is extended.
    anchor: (TextPlace, TextPlace),
    unit: Unit,
    /// The end that moves.
    focus: TextPlace,
    /// The end that stays.
    start: TextPlace,
}

impl Selection {
    /// Begins a selection with the letter, word or paragraph at a place.
    pub fn begin(entries: &[Entry], place: TextPlace, unit: Unit) -> Self {
        let (start, end) = around(entries, place, unit);
        Self { anchor: (start, end), unit, focus: end, start }
    }

    /// A selection from a place to another.
    pub fn between(start: TextPlace, focus: TextPlace) -> Self {
        Self { anchor: (start, start), unit: Unit::Letter, focus, start }
    }

    /// Everything that can be selected in these messages.
    pub fn all(entries: &[Entry], range: Range<usize>) -> Option<Self> {
        let text = |index: usize| (!entries[index].read).then_some(0);
        let first = range.clone().find_map(|index| {
            let row = text(index).or_else(|| text_rows(&entries[index]).next())?;
            Some(TextPlace { message: entries[index].id(), row, letter: 0 })
        })?;
        let last = range.rev().find_map(|index| {
            let row = text(index).or_else(|| text_rows(&entries[index]).next_back())?;
            let letter = letters_of(&entries[index], row).len();
            let is_read = entries[index].read;
            let (row, letter) = if is_read { (row, letter) } else { (usize::MAX, 0) };
            Some(TextPlace { message: entries[index].id(), row, letter })
        })?;
        Some(Self::between(first, last))
    }

    /// Extends the selection to a place.
    pub fn extend(&mut self, entries: &[Entry], to: TextPlace) {
        let (start, end) = around(entries, to, self.unit);
        let is_before = |one: TextPlace, other: TextPlace| {
            let (one, other) = (position(entries, one), position(entries, other));
            one.zip(other).is_some_and(|(one, other)| one < other)
        };
        if is_before(start, self.anchor.0) {
            (self.start, self.focus) = (self.anchor.1, start);
        } else {
            let end = if is_before(end, self.anchor.1) { self.anchor.1 } else { end };
            (self.start, self.focus) = (self.anchor.0, end);
        }
    }

    /// From now on letters are selected, from the end that stays.
    pub fn by_letters(self) -> Self {
        Self::between(self.start, self.focus)
    }

    /// The end that stays.
    pub fn start(&self) -> TextPlace {
        self.start
    }

    /// The end that moves.
    pub fn focus(&self) -> TextPlace {
        self.focus
    }

    /// A number that differs where the text before either end does: then the places mean something else, as in a
    /// line that became the head of a table while the reply came. None where a message is gone.
    pub fn stamp(&self, entries: &[Entry]) -> Option<u64> {
        let mut hasher = DefaultHasher::new();
        for place in [self.start, self.focus] {
            let entry = entries.iter().find(|entry| entry.id() == place.message)?;
            let letters = letters_of(entry, place.row);
            letters[..place.letter.min(letters.len())].hash(&mut hasher);
        }
        Some(hasher.finish())
    }

    /// What is selected, in the order of the text; none where nothing is, or its messages are gone.
    pub fn span(&self, entries: &[Entry]) -> Option<Span> {
        let (one, other) = (position(entries, self.start)?, position(entries, self.focus)?);
        let (start, end) = if one <= other { (one, other) } else { (other, one) };
        (start < end).then_some(Span { start, end })
    }
}

/// A place as the number of its message, its row and its letter.
type Position = (usize, usize, usize);

/// What is selected: from the first place up to the second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    start: Position,
    end: Position,
}

impl Span {
    /// Which messages it is in.
    pub fn entries(&self) -> std::ops::RangeInclusive<usize> {
        self.start.0..=self.end.0
    }

    /// Whether it is within a single row.
    pub fn is_in_row(&self) -> bool {
        (self.start.0, self.start.1) == (self.end.0, self.end.1)
    }

    /// Which letters of a row it has: up to [`usize::MAX`] where it goes on behind the row. None where it has none.
    pub fn letters(&self, entry: usize, row: usize) -> Option<Range<usize>> {
        let at = (entry, row);
        let (first, last) = ((self.start.0, self.start.1), (self.end.0, self.end.1));
        if at < first || at > last {
            return None;
        }
        let start = if at == first { self.start.2 } else { 0 };
        let end = if at == last { self.end.2 } else { usize::MAX };
        (start < end).then_some(start..end)
    }
}

/// The messages of a reply, which may have several rounds, or the user's message alone.
pub fn turn_of(entries: &[Entry], index: usize) -> Range<usize> {
    let is_user = |entry: &Entry| entry.message.role == Role::User;
    if entries.get(index).is_none_or(is_user) {
        return index..(index + 1).min(entries.len());
    }
    let start = index - entries[..index].iter().rev().take_while(|entry| !is_user(entry)).count();
    let end = index + entries[index..].iter().take_while(|entry| !is_user(entry)).count();
    start..end
}

/// The next place by letter or word, forward or back; the same one at the end of the conversation.
pub fn step(entries: &[Entry], from: TextPlace, stride: Stride, forward: bool) -> TextPlace {
    let Some((index, row, letter)) = position(entries, from) else { return from };
    let letters = letters_of(&entries[index], row);
    let next = match stride {
        Stride::Letter => next_letter(&letters, letter, forward),
        Stride::Word => next_word(&letters, letter, forward),
        Stride::Paragraph => next_paragraph(&letters, letter, forward),
    };
    if let Some(letter) = next {
        let kind = entries[index].shown_kinds().get(row).copied();
        let formulas = kind.map(|kind| formulas(kind, &entries[index])).unwrap_or_default();
        let within = formulas.into_iter().find(|one| one.start < letter && letter < one.end);
        let letter = within.map_or(letter, |one| if forward { one.end } else { one.start });
        return TextPlace { letter, ..from };
    }
    let Some((index, row)) = next_row(entries, (index, row), forward) else {
        let letter = if forward { letters.len() } else { 0 };
        return TextPlace { letter, ..from };
    };
    let letters = letters_of(&entries[index], row);
    let edge = if forward { 0 } else { letters.len() };
    let letter = match stride {
        Stride::Letter => edge,
        Stride::Word => next_word(&letters, edge, forward).unwrap_or(edge),
        Stride::Paragraph => next_paragraph(&letters, edge, forward).unwrap_or(edge),
    };
    TextPlace { message: entries[index].id(), row, letter }
}

/// The next row with text, or the one before.
pub fn next_row(
    entries: &[Entry],
    (index, row): (usize, usize),
    forward: bool,
) -> Option<(usize, usize)> {
    if forward {
        let here = text_rows(&entries[index]).find(|other| *other > row);
        return here.map(|row| (index, row)).or_else(|| {
            (index + 1..entries.len())
                .find_map(|index| Some((index, text_rows(&entries[index]).next()?)))
        });
    }
    let here = text_rows(&entries[index]).rfind(|other| *other < row);
    here.map(|row| (index, row)).or_else(|| {
        (0..index).rev().find_map(|index| Some((index, text_rows(&entries[index]).next_back()?)))
    })
}

/// The letters of a row's text.
pub fn letters_of(entry: &Entry, row: usize) -> Vec<char> {
    let kind = entry.shown_kinds().get(row).copied();
    let text = kind.and_then(|kind| row_text(kind, entry));
    text.map(|text| text.chars().collect()).unwrap_or_default()
}

/// The rows of a message whose text can be selected.
fn text_rows(entry: &Entry) -> impl DoubleEndedIterator<Item = usize> {
    let kinds = if entry.read { entry.shown_kinds() } else { Vec::new() };
    let rows: Vec<usize> =
        kinds.iter().enumerate().filter(|(_, kind)| has_text(**kind)).map(|(row, _)| row).collect();
    rows.into_iter()
}

fn position(entries: &[Entry], place: TextPlace) -> Option<Position> {
    let index = entries.iter().position(|entry| entry.id() == place.message)?;
    Some((index, place.row, place.letter))
}

/// The word or paragraph at a place.
fn around(entries: &[Entry], place: TextPlace, unit: Unit) -> (TextPlace, TextPlace) {
    let entry = entries.iter().find(|entry| entry.id() == place.message);
    let Some(entry) = entry.filter(|_| unit != Unit::Letter) else { return (place, place) };
    let Some(kind) = entry.shown_kinds().get(place.row).copied() else { return (place, place) };
    let letters = letters_of(entry, place.row);
    let is_table = matches!(kind, RowKind::Segment { kind: SegmentKind::Table, .. });
    let range = match unit {
        Unit::Word => {
            let formula = formulas(kind, entry).into_iter().find(|one| one.contains(&place.letter));
            formula.unwrap_or_else(|| word_at(&letters, place.letter))
        }
        Unit::Letter | Unit::Paragraph => paragraph_at(&letters, place.letter, is_table),
    };
    let at = |letter| TextPlace { letter, ..place };
    (at(range.start), at(range.end))
}

#[cfg(test)]
mod tests;
