//! Reads what a person wrote as Markdown, where it has any.

use pulldown_cmark::{Event, Options, Parser};

use super::hits::TableCell;
use super::reply::{ReplyText, SegmentKind};
use crate::markdown::flow::Piece;
use crate::markdown::{Block, Inline, parse};

/// The text of a person's message as Markdown; none where it has no signs of that: then it is shown exactly as it
/// was typed. Each line that was typed stays a line.
pub fn markdown(text: &str) -> Option<ReplyText> {
    if parse(text).iter().all(|block| is_plain(block)) {
        return None;
    }
    let said = ReplyText::of(&with_breaks(text));
    // A person who writes that means the text.
    let folds = said.segments().iter().any(|segment| segment.kind == SegmentKind::Details);
    (!folds).then_some(said)
}

/// Whether a block says no more than its letters. Addresses are links in either case.
fn is_plain(block: &Block) -> bool {
    match block {
        Block::Paragraph(text) => text.iter().all(|inline| {
            matches!(
                inline,
                Inline::Text(_) | Inline::Html(_) | Inline::SoftBreak | Inline::HardBreak
            )
        }),
        Block::Html(_) => true,
        _ => false,
    }
}

/// The text with its line breaks marked as intended.
fn with_breaks(text: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        if event == Event::SoftBreak && range.start >= from {
            out.push_str(&text[from..range.start]);
            out.push_str("  ");
            from = range.start;
        }
    }
    out.push_str(&text[from..]);
    out
}

/// Where a text of a segment is found in the message: the segment, and the cell of its table counted row by row.
pub fn place_in(segment: usize, pieces: &[Piece], cell: TableCell) -> (usize, usize) {
    let within = cell.map_or(0, |(row, column)| row * columns(pieces) + column);
    (segment, within)
}

/// The cell of a table that was counted like this; none in a segment that is no table.
pub fn cell_at(pieces: &[Piece], within: usize) -> TableCell {
    let columns = columns(pieces);
    (columns > 0).then(|| (within / columns, within % columns))
}

fn columns(pieces: &[Piece]) -> usize {
    match pieces {
        [Piece::Grid(grid)] => grid.rows.first().map_or(0, Vec::len),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_signs_stays_as_it_was_typed() {
        for text in ["a\nb", "  two  spaces\n\n\nand more", "1 * 2 * 3", "<b>a</b>", "/clear", ""] {
            assert!(markdown(text).is_none(), "{text:?}");
        }
        for text in ["**a**", "- a\n- b", "`a`", "# a", "```\na\n```", "> a"] {
            assert!(markdown(text).is_some(), "{text:?}");
        }
    }

    #[test]
    fn lines_stay_lines_but_not_in_code() {
        assert_eq!(with_breaks("a\n**b**\n\n```\nc\nd\n```\n"), "a  \n**b**\n\n```\nc\nd\n```\n");
        let said = markdown("a\n**b**").expect("Markdown");
        let [Piece::Line(line)] = said.pieces(0) else { panic!("one paragraph") };
        let text: String = line.runs.iter().map(|run| run.text.as_str()).collect();
        assert_eq!(text, "a\u{2028}b");
    }
}
