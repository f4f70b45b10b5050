//! What the rows of a message say, letter for letter as their widgets show it.

use chat_core::tool::Toolbox;

use crate::conversation::model::entry::{Entry, PartState, RowKind};
use crate::conversation::model::reply::SegmentKind;
use crate::conversation::model::tool::details::inside;
use crate::conversation::widgets::prose;
use crate::markdown::flow::Piece;

/// Where a text stands in a table: the row and the column; none elsewhere.
pub type Cell = Option<(usize, usize)>;

/// Gives the texts of a row; those of a table with their row and column.
pub fn each_text(kind: RowKind, entry: &Entry, tools: &Toolbox, give: &mut dyn FnMut(Cell, &str)) {
    match kind {
        RowKind::User | RowKind::Remark => give(None, &entry.text()),
        RowKind::Thinking { part } | RowKind::Tool { part } => match &entry.parts[part] {
            PartState::Thinking { text, .. } => give(None, text),
            PartState::Tool(tool) => {
                let known = tools.get(&tool.call().name);
                give(None, inside(known, tool.call(), tool.result()).text());
            }
            _ => {}
        },
        RowKind::Segment { part, segment, kind } => {
            let Some(PartState::Text(reply)) = entry.parts.get(part) else { return };
            each_text_of_segment(kind, reply.pieces(segment), give);
        }
        // What the program says of the reply is not a part of what was said.
        RowKind::Ending | RowKind::Footer => {}
    }
}

/// Gives the texts of a segment of Markdown; those of a table with their row and column.
pub fn each_text_of_segment(kind: SegmentKind, pieces: &[Piece], give: &mut dyn FnMut(Cell, &str)) {
    match (kind, pieces) {
        (SegmentKind::Prose { .. }, pieces) => give(None, &prose::text_of(pieces)),
        (SegmentKind::Code, [Piece::Code(code)]) => give(None, &code.text),
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
