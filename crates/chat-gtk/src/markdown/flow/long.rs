//! Splits long lines, so that laying out one never takes longer than a frame.

use super::{Gap, LINE_END, Line, Piece, Run, Style};

/// The maximum size of a line that is laid out at once, in bytes. A longer paragraph continues on a
/// new line, since a line is laid out again for every letter that is added to it.
const LONGEST_LINE: usize = 16_000;

/// Adds a line, split if it is too long: at a line break or after a sentence, otherwise at a space.
/// The split depends only on the text before it, so that a growing paragraph never changes above
/// its end.
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
            // Text without spaces is split anywhere after twice the length.
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

/// Where a line or a sentence ends in the second half of the text before this byte.
fn end_before(text: &str, limit: usize) -> Option<usize> {
    let half = text.floor_char_boundary(limit / 2);
    let near = &text[half..limit];
    let line = near.rfind(LINE_END).map(|at| at + LINE_END.len());
    let sentence = || [". ", "! ", "? "].iter().filter_map(|end| near.rfind(end)).max();
    Some(half + line.or_else(|| Some(sentence()? + 2))?)
}

/// Appends unparsed text to the last line, with its line breaks converted.
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
