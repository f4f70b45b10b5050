//! Gives the texts of rows that can be selected, letter for letter as their widgets show them, and the words and
//! paragraphs in them.

use std::ops::Range;

use unicode_segmentation::UnicodeSegmentation;

use super::entry::Entry;
use super::part::PartState;
use super::piece_source::piece_text;
use super::reply::SegmentKind;
use super::row_kind::RowKind;
use crate::markdown::flow::Piece;

/// The pieces of a row of a reply's text.
pub fn pieces_of(entry: &Entry, part: usize, segment: usize) -> &[Piece] {
    match entry.parts.get(part) {
        Some(PartState::Text(reply)) => reply.pieces(segment),
        _ => &[],
    }
}

/// The text that lines of prose make: a line each, with its marker and a tab before it.
pub fn prose_text(pieces: &[Piece]) -> String {
    pieces.iter().map(piece_text).collect::<Vec<_>>().join("\n")
}

/// The blocks of a row, each as its pieces: one of a reply's text, or all that a person wrote as Markdown. None
/// where the row has no blocks.
pub fn blocks_of(kind: RowKind, entry: &Entry) -> Option<Vec<&[Piece]>> {
    match (kind, &entry.said) {
        (RowKind::Segment { part, segment, .. }, _) => Some(vec![pieces_of(entry, part, segment)]),
        (RowKind::User, Some(said)) => {
            Some((0..said.segments().len()).map(|at| said.pieces(at)).collect())
        }
        _ => None,
    }
}

/// Whether a row is a part of the text that can be selected: what was said, but neither tools nor what the program
/// says of a reply.
pub fn has_text(kind: RowKind) -> bool {
    match kind {
        RowKind::User | RowKind::Remark => true,
        RowKind::Segment { kind, .. } => !matches!(kind, SegmentKind::Rule | SegmentKind::Picture),
        RowKind::Thinking { .. }
        | RowKind::Tool { .. }
        | RowKind::Picture { .. }
        | RowKind::Ending
        | RowKind::Footer
        | RowKind::Editor
        | RowKind::OwnLine => false,
    }
}

/// The text of a row that can be selected: its blocks with a line break between them. In a table a tab stands between
/// cells and a line break between rows. None where the row has no such text.
pub fn row_text(kind: RowKind, entry: &Entry) -> Option<String> {
    if !has_text(kind) {
        return None;
    }
    let text = match blocks_of(kind, entry) {
        Some(blocks) => {
            let texts: Vec<String> = blocks.into_iter().map(prose_text).collect();
            texts.join("\n")
        }
        None => entry.text(),
    };
    (!text.is_empty()).then_some(text)
}

/// Where formulas stand in the text of a row, in letters: each is one step.
pub fn formulas(kind: RowKind, entry: &Entry) -> Vec<Range<usize>> {
    let mut out = Vec::new();
    let mut at = 0;
    for piece in blocks_of(kind, entry).unwrap_or_default().into_iter().flatten() {
        let count = piece_text(piece).chars().count();
        match piece {
            Piece::Formula(_) | Piece::Details(_) => out.push(at..at + count),
            Piece::Line(line) => {
                let marker = line.marker.as_ref().map_or(0, |marker| marker.chars().count() + 1);
                let mut start = at + marker;
                for run in &line.runs {
                    let end = start + run.text.chars().count();
                    if run.style.formula {
                        out.push(start..end);
                    }
                    start = end;
                }
            }
            _ => {}
        }
        at += count + 1;
    }
    out
}

/// The words of a text as Unicode tells them apart, and what stands between them; in letters.
fn segments(letters: &[char]) -> Vec<(Range<usize>, bool)> {
    let text: String = letters.iter().collect();
    let mut at = 0;
    let segment = |part: &str| {
        let start = at;
        at += part.chars().count();
        (start..at, part.contains(|letter: char| letter.is_alphanumeric() || letter == '_'))
    };
    text.split_word_bounds().map(segment).collect()
}

/// The word at a letter, or what stands between words there: blanks together, any other sign by itself.
pub fn word_at(letters: &[char], at: usize) -> Range<usize> {
    let here = segments(letters).into_iter().find(|(segment, _)| segment.contains(&at));
    here.map_or(letters.len()..letters.len(), |(segment, _)| segment)
}

/// The paragraph at a letter: a line of the text, or a cell of a table.
pub fn paragraph_at(letters: &[char], at: usize, is_table: bool) -> Range<usize> {
    let at = at.min(letters.len());
    let ends = |letter: &&char| **letter != '\n' && !(is_table && **letter == '\t');
    let start = at - letters[..at].iter().rev().take_while(ends).count();
    let end = at + letters[at..].iter().take_while(ends).count();
    start..end
}

/// The place of the next letter, or the one before, over all that is drawn as one; none at the end of the text.
pub fn next_letter(letters: &[char], at: usize, forward: bool) -> Option<usize> {
    let text: String = letters.iter().collect();
    let mut end = 0;
    let mut ends = text.graphemes(true).map(|one| {
        end += one.chars().count();
        end
    });
    if forward {
        return ends.find(|end| *end > at);
    }
    let before = ends.take_while(|end| *end < at).last();
    before.or((at > 0 && !letters.is_empty()).then_some(0))
}

/// The end of the next word, or the beginning of the one before; none where there is none.
pub fn next_word(letters: &[char], at: usize, forward: bool) -> Option<usize> {
    let mut words = segments(letters).into_iter().filter(|(_, is_word)| *is_word);
    if forward {
        words.find(|(word, _)| word.end > at).map(|(word, _)| word.end)
    } else {
        words.take_while(|(word, _)| word.start < at).last().map(|(word, _)| word.start)
    }
}

/// The end of the paragraph, or its beginning; from there that of the next one, or of the one before. None at the end
/// of the text.
pub fn next_paragraph(letters: &[char], at: usize, forward: bool) -> Option<usize> {
    let at = at.min(letters.len());
    if forward {
        let rest = letters.get(at + 1..)?;
        let end = rest.iter().position(|letter| *letter == '\n').map(|end| at + 1 + end);
        return Some(end.unwrap_or(letters.len()));
    }
    let before = &letters[..at.checked_sub(1)?];
    Some(before.iter().rposition(|letter| *letter == '\n').map_or(0, |end| end + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(text: &str) -> Vec<char> {
        text.chars().collect()
    }

    fn word(text: &str, at: usize) -> String {
        let letters = letters(text);
        letters[word_at(&letters, at)].iter().collect()
    }

    #[test]
    fn a_word_is_what_a_double_click_chooses() {
        assert_eq!(word("one two_3, four", 5), "two_3");
        assert_eq!(word("one two_3, four", 9), ",");
        assert_eq!(word("one   two", 4), "   ");
        assert_eq!(word("Größe", 2), "Größe");
        assert_eq!(word("they don't", 7), "don't");
        assert_eq!(word("सीमा पार", 1), "सीमा");
        assert_eq!(word("a", 1), "");
    }

    #[test]
    fn a_paragraph_ends_at_the_line_and_a_cell_at_the_tab() {
        let text = letters("1.\tone\ntwo\tthree");
        assert_eq!(paragraph_at(&text, 4, false), 0..6);
        assert_eq!(paragraph_at(&text, 8, false), 7..16);
        assert_eq!(paragraph_at(&text, 8, true), 7..10);
        assert_eq!(paragraph_at(&text, 99, true), 11..16);
    }

    #[test]
    fn steps_go_over_what_is_one_letter_and_stop_at_the_ends() {
        let text = letters("ae\u{301}o");
        assert_eq!(next_letter(&text, 1, true), Some(3));
        assert_eq!(next_letter(&text, 3, false), Some(1));
        assert_eq!(next_letter(&text, 4, true), None);
        assert_eq!(next_letter(&text, 0, false), None);
        let flag = letters("a🇩🇪कि👩‍👧b");
        let ends = std::iter::successors(Some(0), |at| next_letter(&flag, *at, true));
        let ends: Vec<usize> = ends.collect();
        assert_eq!(ends, [0, 1, 3, 5, 8, 9]);
        let back = std::iter::successors(Some(9), |at| next_letter(&flag, *at, false));
        assert!(back.eq(ends.into_iter().rev()));
        let text = letters("one, two ");
        assert_eq!(next_word(&text, 0, true), Some(3));
        assert_eq!(next_word(&text, 3, true), Some(8));
        assert_eq!(next_word(&text, 8, true), None);
        assert_eq!(next_word(&text, 8, false), Some(5));
        assert_eq!(next_word(&text, 0, false), None);
    }
    #[test]
    fn paragraphs_are_stepped_over_to_their_ends() {
        let text = letters("one\n\ntwo");
        let ends = |from, forward| -> Vec<usize> {
            std::iter::successors(Some(from), |at| next_paragraph(&text, *at, forward)).collect()
        };
        assert_eq!(ends(0, true), [0, 3, 4, 8]);
        assert_eq!(ends(8, false), [8, 5, 4, 0]);
        assert_eq!(ends(7, false), [7, 5, 4, 0]);
    }
}
