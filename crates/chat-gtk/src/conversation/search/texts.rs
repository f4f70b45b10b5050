//! Gives the texts of rows, letter for letter as their widgets show them.

use chat_core::tool::Toolbox;

use crate::conversation::model::entry::Entry;
use crate::conversation::model::hits::TableCell;
use crate::conversation::model::part::PartState;
use crate::conversation::model::reply::{ReplyText, SegmentKind};
use crate::conversation::model::row_kind::RowKind;
use crate::conversation::model::row_text::prose_text;
use crate::conversation::model::said::place_in;
use crate::conversation::model::tool::details::details;
use crate::markdown::flow::Piece;

/// Gives the texts of a row; those of a table with their row and column.
pub fn each_text(
    kind: RowKind,
    entry: &Entry,
    tools: &Toolbox,
    give: &mut dyn FnMut(TableCell, &str),
) {
    match kind {
        RowKind::User => match &entry.said {
            Some(said) => {
                for (at, segment) in said.segments().iter().enumerate() {
                    let pieces = said.pieces(at);
                    each_text_of_segment(segment.kind, pieces, &mut |cell, text| {
                        give(Some(place_in(at, pieces, cell)), text);
                    });
                }
            }
            None => give(None, &entry.text()),
        },
        RowKind::Remark => give(None, &entry.text()),
        RowKind::Thinking { part } | RowKind::Tool { part } => match &entry.parts[part] {
            PartState::Thinking { text, .. } => give(None, text),
            PartState::Tool(tool) => {
                let known = tools.get(&tool.call().name);
                give(None, details(known, tool.call(), tool.result()).text());
            }
            _ => {}
        },
        RowKind::Segment { part, segment, kind } => {
            let Some(PartState::Text(reply)) = entry.parts.get(part) else { return };
            each_text_of_segment(kind, reply.pieces(segment), give);
        }
        // What the program says of the reply is not a part of what was said.
        RowKind::Picture { .. }
        | RowKind::Ending
        | RowKind::Footer
        | RowKind::Editor
        | RowKind::OwnLine => {}
    }
}

/// Gives the texts of a segment of Markdown; those of a table with their row and column.
pub fn each_text_of_segment(
    kind: SegmentKind,
    pieces: &[Piece],
    give: &mut dyn FnMut(TableCell, &str),
) {
    match (kind, pieces) {
        (SegmentKind::Prose { .. }, pieces) => give(None, &prose_text(pieces)),
        (SegmentKind::Code, [Piece::Code(code)]) => give(None, &code.text),
        (SegmentKind::Details, [Piece::Details(details)]) => {
            give(None, &details.summary);
            let inside = ReplyText::of(&details.source);
            for (at, segment) in inside.segments().iter().enumerate() {
                // Places inside are not told apart: the part is opened as a whole.
                each_text_of_segment(segment.kind, inside.pieces(at), &mut |_, text| {
                    give(None, text);
                });
            }
        }
        (SegmentKind::Formula, [Piece::Formula(formula)]) => give(None, &formula.source),
        (SegmentKind::Table, [Piece::Grid(grid)]) => {
            for (row, cells) in grid.rows.iter().enumerate() {
                for (column, runs) in cells.iter().enumerate() {
                    let text: String = runs.iter().map(|run| run.text.as_str()).collect();
                    give(Some((row, column)), &text);
                }
            }
        }
        _ => {}
    }
}

/// A number that differs where the texts of a row may.
pub fn stamp(kind: RowKind, entry: &Entry) -> u64 {
    match kind {
        RowKind::Segment { part, segment, .. } => match entry.parts.get(part) {
            Some(PartState::Text(reply)) => reply.revision(segment),
            _ => 0,
        },
        RowKind::Thinking { part } | RowKind::Tool { part } => match entry.parts.get(part) {
            Some(PartState::Thinking { text, .. }) => text.len() as u64,
            Some(PartState::Tool(tool)) => tool.revision(),
            _ => 0,
        },
        _ => 0,
    }
}
