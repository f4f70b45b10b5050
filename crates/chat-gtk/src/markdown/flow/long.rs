//! Splits long lines, so that laying out one never takes longer than a frame.

use super::{Gap, LINE_END, Line, Piece, Run, Style};

/// The most bytes of a paragraph that one text lays out. A longer one goes on in a new line, since
/// the whole of it is laid out again for every letter that is added to it.
const LONGEST_LINE: usize = 16_000;

/// Puts out a line, parted if it is too long for one: at a line end or behind a sentence, else at a
/// space. Where it is parted depends only on
/// the text before, so that a growing paragraph never changes above its end.
pub fn split_long(line: Line, out: &mut Vec<Piece>) {
    let length: usize = line.runs.iter().map(|run| run.text.len()).sum();
    if length <= LONGEST_LINE {
        out.push(Piece::Line(line));
        return;
    }
    let follow = Line { runs: Vec::new(), marker: None, gap: Gap::None, ..line.clone() };
    let mut current = Line { runs: Vec::new(), ..line.clone() };
    let mut room = LONGEST_LINE;
    for run in line.runs {
        let mut rest = run.text.as_str();
        while rest.len() > room {
            let from = rest.floor_char_boundary(room);
            // Text without spaces is parted anywhere after as much again.
            let reach = rest.floor_char_boundary(from.saturating_add(LONGEST_LINE));
            let at = match (end_before(rest, from), rest[from..reach].find(char::is_whitespace)) {
                (Some(end), _) => end,
                (None, Some(space)) => from + space + 1,
                (None, None) if reach < rest.len() => reach,
                (None, None) => break,
            };
            let at = rest.ceil_char_boundary(at);
            current.runs.push(Run { text: rest[..at].trim_end().to_owned(), ..run.clone() });
            out.push(Piece::Line(std::mem::replace(&mut current, follow.clone())));
            rest = &rest[at..];
            room = LONGEST_LINE;
        }
        room = room.saturating_sub(rest.len());
        if !rest.is_empty() {
            current.runs.push(Run { text: rest.to_owned(), ..run });
        }
    }
    if !current.runs.is_empty() {
        out.push(Piece::Line(current));
    }
}

/// Where a line or a sentence ends in the second half of what is before this byte.
fn end_before(text: &str, limit: usize) -> Option<usize> {
    let half = text.floor_char_boundary(limit / 2);
    let near = &text[half..limit];
    let line = near.rfind(LINE_END).map(|at| at + LINE_END.len());
    let sentence = || [". ", "! ", "? "].iter().filter_map(|end| near.rfind(end)).max();
    Some(half + line.or_else(|| Some(sentence()? + 2))?)
}

/// Adds text to the last line as it stands in the source, but for the sign of line ends.
pub fn lengthen(out: &mut Vec<Piece>, text: &str) {
    let Some(Piece::Line(mut line)) = out.pop() else { return };
    let text = text.replace('\n', LINE_END);
    match line.runs.last_mut() {
        Some(last) if last.link.is_none() && last.style == Style::default() => {
            last.text.push_str(&text);
        }
        _ => line.runs.push(Run { text, style: Style::default(), link: None }),
    }
    split_long(line, out);
}
