//! Gives what is selected in a conversation, for the clipboard: as plain text, and as Markdown.

use std::ops::Range;

use chat_core::message::Role;

use super::entry::Entry;
use super::part::PartState;
use super::piece_source::{Blocks, cut, push_plain, push_source};
use super::reply::ReplyText;
use super::row_text::{blocks_of, has_text, prose_text, row_text};
use super::said;
use super::selection::Span;
use crate::markdown::flow::Piece;

/// The selected text, with bullets and numbers, quotations with “>”, code as it is, a tab between the cells of
/// tables, and formulas as they were written.
pub fn selected_text(entries: &[Entry], span: &Span) -> String {
    let mut out = Blocks::default();
    each_row(entries, span, &mut |row| match row {
        SelectedRow::Words(words) => out.push_words(&words),
        SelectedRow::Pieces { pieces, letters, alone } => {
            push_plain(&mut out, pieces, letters, alone);
        }
        SelectedRow::Message(entry) => {
            each_block(entry, &mut |pieces| push_plain(&mut out, pieces, &ALL, false));
        }
    });
    out.into_text()
}

/// The selected text as Markdown: messages as they were written where all of one is selected, else what reads the
/// same. What is selected within a single block is plain text.
pub fn selected_source(entries: &[Entry], span: &Span) -> String {
    let mut out = Blocks::default();
    for index in span.entries() {
        let entry = &entries[index];
        if is_whole(entry, span, index) {
            out.push_words(whole_source(entry).trim_end());
            continue;
        }
        each_row_of(entry, span, index, &mut |row| match row {
            SelectedRow::Words(words) => out.push_words(&words),
            SelectedRow::Pieces { pieces, letters, alone } => {
                push_source(&mut out, pieces, letters, alone);
            }
            SelectedRow::Message(entry) => {
                each_block(entry, &mut |pieces| push_source(&mut out, pieces, &ALL, false));
            }
        });
    }
    out.into_text()
}

/// All letters of a row.
const ALL: Range<usize> = 0..usize::MAX;

/// What is selected of a row.
enum SelectedRow<'a> {
    /// Words of the user or the program.
    Words(String),
    /// Pieces of a reply, and which of their letters. `alone`: whether nothing else is selected.
    Pieces { pieces: &'a [Piece], letters: &'a Range<usize>, alone: bool },
    /// All of a message whose rows are not known yet.
    Message(&'a Entry),
}

fn each_row(entries: &[Entry], span: &Span, give: &mut dyn FnMut(SelectedRow<'_>)) {
    for index in span.entries() {
        each_row_of(&entries[index], span, index, give);
    }
}

fn each_row_of(entry: &Entry, span: &Span, index: usize, give: &mut dyn FnMut(SelectedRow<'_>)) {
    if !entry.read {
        match entry.message.role {
            Role::User if said::markdown(&entry.text()).is_none() => {
                give(SelectedRow::Words(entry.text()));
            }
            Role::User | Role::Assistant => give(SelectedRow::Message(entry)),
            Role::Ui => give(SelectedRow::Words(entry.text())),
            Role::System | Role::Tool => {}
        }
        return;
    }
    let mut before = Vec::new();
    for (row, kind) in entry.shown_kinds().into_iter().enumerate() {
        let Some(letters) = span.letters(index, row) else { continue };
        let Some(blocks) = blocks_of(kind, entry) else {
            if let Some(text) = row_text(kind, entry) {
                give(SelectedRow::Words(cut(&text, &letters)));
            }
            continue;
        };
        // A picture or a line across is a part of what stands round it, and nothing by itself.
        if !has_text(kind) {
            before.extend(blocks);
            continue;
        }
        for pieces in before.drain(..) {
            give(SelectedRow::Pieces { pieces, letters: &ALL, alone: false });
        }
        let mut at = 0;
        for pieces in blocks {
            let end = at + prose_text(pieces).chars().count();
            let part = letters.start.max(at)..letters.end.min(end);
            if at == end && letters.contains(&at) {
                give(SelectedRow::Pieces { pieces, letters: &ALL, alone: false });
            } else if part.start < part.end {
                // Within a row there may be several blocks.
                let alone = span.is_in_row() && part == letters;
                let part = part.start - at..part.end - at;
                give(SelectedRow::Pieces { pieces, letters: &part, alone });
            }
            at = end + 1;
        }
    }
}

/// Whether all text of a message is selected.
fn is_whole(entry: &Entry, span: &Span, index: usize) -> bool {
    if !entry.read || entry.joined.is_some() {
        return !entry.read && entry.joined.is_none() && entry.message.role == Role::Assistant;
    }
    let kinds = entry.shown_kinds().into_iter().enumerate();
    let mut rows = kinds.filter(|(_, kind)| has_text(*kind)).peekable();
    rows.peek().is_some()
        && rows.all(|(row, kind)| {
            let count = row_text(kind, entry).map_or(0, |text| text.chars().count());
            count == 0
                || span
                    .letters(index, row)
                    .is_some_and(|letters| letters.start == 0 && letters.end >= count)
        })
}

/// All text of a message as it was written, with that of the replies that go on with it.
fn whole_source(entry: &Entry) -> String {
    entry.text() + &entry.tail
}

/// Gives the blocks of a message whose text was not read.
fn each_block(entry: &Entry, give: &mut dyn FnMut(&[Piece])) {
    let mut give_all = |text: &ReplyText| {
        (0..text.segments().len()).for_each(|segment| give(text.pieces(segment)));
    };
    if let Some(said) = said::markdown(&entry.text()).filter(|_| entry.message.role == Role::User) {
        return give_all(&said);
    }
    for (index, part) in entry.parts.iter().enumerate() {
        // What stands in the reply above is there.
        if let PartState::Text(reply) = part
            && entry.joined != Some(index)
        {
            let mut text = String::new();
            reply.add_source(&mut text);
            give_all(&ReplyText::of(&text));
        }
    }
}

#[cfg(test)]
mod tests;
