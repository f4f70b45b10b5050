//! How much room a row takes: what stays free above it, and how tall it will about be.

use crate::conversation::model::entry::Entry;
use crate::conversation::model::part::PartState;
use crate::conversation::model::reply::gap_of;
use crate::conversation::model::row_kind::RowKind;
use crate::conversation::model::row_text::pieces_of;
use crate::conversation::model::tool::state::Phase;
use crate::conversation::widgets::code::FOLD;
use crate::conversation::widgets::tags::{BLOCK_GAP, HEADING_GAP, ITEM_GAP};
use crate::markdown::flow::{Gap, Piece};

/// What is left free above a row, in pixels. `above`: what stands there, if anything does.
pub fn gap(kind: RowKind, entry: &Entry, above: Option<RowKind>) -> i32 {
    match kind {
        RowKind::User | RowKind::Editor => 24,
        RowKind::Remark | RowKind::Ending | RowKind::Picture { .. } => BLOCK_GAP,
        RowKind::Thinking { .. } | RowKind::Tool { .. } => line_gap(above),
        RowKind::Footer | RowKind::OwnLine => 4,
        RowKind::Segment { part, segment, .. } => {
            match pieces_of(entry, part, segment).first().map(gap_of) {
                Some(Gap::None) => 0,
                Some(Gap::Small) => ITEM_GAP,
                Some(Gap::Heading) => HEADING_GAP,
                _ => BLOCK_GAP,
            }
        }
    }
}

/// What is left free above a line of thinking or of a tool, in pixels: such lines stand close together
/// and apart from all else, in one round of a reply as between two.
pub fn line_gap(above: Option<RowKind>) -> i32 {
    match above {
        Some(RowKind::Thinking { .. } | RowKind::Tool { .. }) => 4,
        _ => 12,
    }
}

/// How tall a row will about be, in pixels: enough to know how many to make.
pub fn estimate(kind: RowKind, entry: &Entry) -> f64 {
    let lines = |text: &str| {
        let wrapped: usize = text.lines().map(|line| 1 + line.len() / 80).sum();
        wrapped as f64
    };
    match kind {
        RowKind::User | RowKind::Editor => 60.0 + 26.0 * lines(&entry.text()),
        RowKind::Segment { part, segment, .. } => {
            let mut height = 0.0;
            for piece in pieces_of(entry, part, segment) {
                height += match piece {
                    Piece::Line(line) => {
                        let bytes: usize = line.runs.iter().map(|run| run.text.len()).sum();
                        12.0 + 26.0 * (1 + bytes / 80) as f64
                    }
                    Piece::Code(code) => 50.0 + 17.0 * lines(&code.text).min(f64::from(FOLD)),
                    Piece::Grid(grid) => 36.0 * grid.rows.len() as f64,
                    Piece::Formula(formula) => 60.0 + 20.0 * lines(&formula.source),
                    Piece::Picture(_) => 140.0,
                    Piece::Details(_) => 34.0,
                    Piece::Rule(_) => 20.0,
                };
            }
            height
        }
        RowKind::Tool { part } => match &entry.parts[part] {
            PartState::Tool(tool) if tool.phase() == Phase::Asking => 240.0,
            _ => 34.0,
        },
        RowKind::Picture { .. } => 128.0,
        _ => 34.0,
    }
}
