//! Goes from a footnote's mark to the footnote, and back.

use gtk::prelude::*;

use super::{Inner, State};
use crate::conversation::model::entry::Entry;
use crate::conversation::model::hits::{Hit, MatchQuality};
use crate::conversation::model::part::PartState;
use crate::conversation::model::row_kind::RowKind;
use crate::conversation::rows::Rows;
use crate::conversation::search::each_text_of_segment;
use crate::markdown::flow::{NotePlace, Piece};

impl Inner {
    /// Brings the place into sight that a link leads to, in the message that has the keyboard: one
    /// that was clicked has it.
    pub fn go_to_note(&self, place: NotePlace<'_>) {
        let Ok(mut state) = self.state.try_borrow_mut() else { return };
        let State { transcript, rows, .. } = &mut *state;
        let focus = self.root.root().and_then(|root| root.focus());
        let Some(from) = focus.and_then(|focus| rows.index_of(&focus)) else { return };
        let at = Rows::entry_of(from, &transcript.entries);
        let Some((row, hit)) = find(&transcript.entries[at], place) else { return };
        let first: usize = transcript.entries[..at].iter().map(|entry| entry.rows).sum();
        rows.make_near(first + row, &transcript.entries, transcript.last());
        rows.reveal(first + row, Some(&hit), transcript.is_live());
    }
}

/// The row of a message, and the letters in it, that have the link that leads back from a place.
fn find(entry: &Entry, place: NotePlace<'_>) -> Option<(usize, Hit)> {
    let back = place.other().address();
    for (row, kind) in entry.shown_kinds().into_iter().enumerate() {
        let RowKind::Segment { part, segment, kind } = kind else { continue };
        let Some(PartState::Text(reply)) = entry.parts.get(part) else { continue };
        let pieces = reply.pieces(segment);
        let leads_back = |piece: &Piece| match piece {
            Piece::Line(line) => line.runs.iter().any(|run| run.link.as_deref() == Some(&*back)),
            _ => false,
        };
        let Some(line) = pieces.iter().position(leads_back) else { continue };
        let mut letters = 0;
        each_text_of_segment(kind, pieces, &mut |_, text| {
            letters = text.split('\n').take(line).map(|line| line.chars().count() + 1).sum();
        });
        let hit = Hit {
            cell: None,
            bytes: 0..0,
            letters: letters..letters,
            quality: MatchQuality::Meant,
        };
        return Some((row, hit));
    }
    None
}
