//! Writes text of one line as Markdown again: styles, links and formulas, with a backslash before what would mean
//! something.

use std::fmt::Write;

use crate::markdown::flow::{NotePlace, Run, Style};
use crate::markdown::{AlertKind, visible_address};

/// A line break within a paragraph.
pub const LINE_END: char = '\u{2028}';

/// The Markdown of runs. Line breaks are [`LINE_END`].
pub fn run_source(runs: &[Run]) -> String {
    let mut out = String::new();
    let mut open: Vec<&str> = Vec::new();
    let marks_of = |run: &Run| if is_literal(run) { Vec::new() } else { marks(run.style) };
    for (index, run) in runs.iter().enumerate() {
        let marks = marks_of(run);
        // Marks begin and end at letters: blanks stay outside.
        let same = open.iter().zip(&marks).take_while(|(old, new)| old == new).count();
        let blank = |text: &str| {
            if same < marks.len() {
                text.len() - text.trim_start_matches(is_blank).len()
            } else {
                0
            }
        };
        let (before, text) = run.text.split_at(blank(&run.text));
        out.push_str(before);
        if text.is_empty() {
            continue;
        }
        for mark in &marks[same..] {
            out.push_str(mark);
            open.push(mark);
        }
        let next = runs.get(index + 1).map(marks_of).unwrap_or_default();
        let stay = open.iter().zip(&next).take_while(|(old, new)| old == new).count();
        let end =
            if stay < open.len() { text.trim_end_matches(is_blank).len() } else { text.len() };
        write_run(&mut out, &text[..end], run);
        close(&mut out, &mut open, stay);
        out.push_str(&text[end..]);
    }
    out
}

fn is_blank(letter: char) -> bool {
    letter == ' ' || letter == '\t' || letter == LINE_END
}

fn close(out: &mut String, open: &mut Vec<&str>, keep: usize) {
    for mark in open.drain(keep..).rev() {
        out.push_str(match mark {
            "<sup>" => "</sup>",
            "<sub>" => "</sub>",
            "<kbd>" => "</kbd>",
            mark => mark,
        });
    }
}

/// The marks of a style, from the outside in.
fn marks(style: Style) -> Vec<&'static str> {
    let all = [
        (style.strong, "**"),
        (style.emphasis, "*"),
        (style.strike, "~~"),
        (style.raised, "<sup>"),
        (style.lowered, "<sub>"),
        (style.key, "<kbd>"),
    ];
    all.into_iter().filter(|(on, _)| *on).map(|(_, mark)| mark).collect()
}

/// Whether a run stands as it is, without marks round it: a formula, or what leads to and from footnotes.
fn is_literal(run: &Run) -> bool {
    run.style.formula || run.style.alert.is_some() || note(run).is_some()
}

/// Where a run leads within a reply.
fn note(run: &Run) -> Option<NotePlace<'_>> {
    run.link.as_deref().and_then(NotePlace::of_address)
}

/// Whether a run leads from a footnote back to the text: it was not written.
pub fn is_way_back(run: &Run) -> bool {
    matches!(note(run), Some(NotePlace::Reference(_)))
}

/// Whether a text is a formula with the signs round it.
pub fn is_formula(text: &str) -> bool {
    let within = |start: &str, end: &str| {
        text.len() > start.len() + end.len() && text.starts_with(start) && text.ends_with(end)
    };
    within("\\(", "\\)")
        || within("\\[", "\\]")
        || within("$$", "$$")
        || within("\\begin{", "}")
        || (within("$", "$") && !text[1..text.len() - 1].contains('$'))
}

fn write_run(out: &mut String, text: &str, run: &Run) {
    if let Some(place) = note(run) {
        if let NotePlace::Note(label) = place {
            let _ = write!(out, "[^{label}]");
        }
        return;
    }
    if let Some(kind) = run.style.alert {
        out.push_str(match kind {
            AlertKind::Note => "[!NOTE]",
            AlertKind::Tip => "[!TIP]",
            AlertKind::Important => "[!IMPORTANT]",
            AlertKind::Warning => "[!WARNING]",
            AlertKind::Caution => "[!CAUTION]",
        });
        return;
    }
    if run.style.formula {
        out.push_str(text);
        return;
    }
    let shown = if run.style.code { code(text) } else { escape(text) };
    match &run.link {
        Some(link) if !run.style.code && text == visible_address(link) => {
            // What is recognized by itself needs no signs.
            if link.starts_with("http://") || link.starts_with("https://") {
                out.push_str(link);
            } else {
                let _ = write!(out, "<{link}>");
            }
        }
        Some(link) => {
            let plain = !link.contains([' ', '(', ')', '<', '>']);
            let (start, end) = if plain { ("", "") } else { ("<", ">") };
            let _ = write!(out, "[{shown}]({start}{link}{end})");
        }
        None => out.push_str(&shown),
    }
}

/// Code within a line, between as many backticks as it takes.
fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text, '`') + 1);
    let text = text.replace(LINE_END, " ");
    let edge = text.starts_with('`') || text.ends_with('`');
    let space = if edge { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// How often a sign stands in a row at most.
pub fn longest_run(text: &str, sign: char) -> usize {
    let (mut longest, mut now) = (0, 0);
    for letter in text.chars() {
        now = if letter == sign { now + 1 } else { 0 };
        longest = longest.max(now);
    }
    longest
}

/// Text with a backslash before each sign that would mean something.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = ' ';
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let next = letters.peek().copied().unwrap_or(' ');
        let is_in_word = before.is_alphanumeric() && next.is_alphanumeric();
        let means = match letter {
            '\\' | '`' | '*' | '[' | ']' | '<' => true,
            '_' => !is_in_word,
            '~' => next == '~' || before == '~',
            '$' => !next.is_whitespace() && !next.is_ascii_digit(),
            '&' => next.is_alphanumeric() || next == '#',
            _ => false,
        };
        if means {
            out.push('\\');
        }
        out.push(letter);
        before = letter;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::flow::{Line, Piece, block_pieces};
    use crate::markdown::parse;

    fn runs(text: &str) -> Vec<Run> {
        let mut pieces = Vec::new();
        for block in &parse(text) {
            block_pieces(block, &mut pieces);
        }
        match pieces.as_slice() {
            [Piece::Line(Line { runs, .. })] => runs.clone(),
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn what_is_written_reads_as_before() {
        for text in [
            "plain words",
            "a **bold *both* one** end",
            "*a* b ~~c~~ `d` <kbd>e</kbd> x<sup>2</sup> H<sub>2</sub>O",
            "`` a`b `` and ``` `` ```",
            "see [the **manual**](https://example.org/a_(b)) and https://example.org/x_y",
            "write to a@b.example",
            r"stars \* and \_ and \` and \[a\](b) and 1 \< 2 \\ &amp;amp;",
            "snake_case and 5 * 3 and ~ one",
            r"the formula $x_1^2$ and \(a * b\), $5 and $6",
            "first\nsecond **line\nbreak** end",
            "a note[^1] in it",
        ] {
            let before = runs(text);
            let written = run_source(&before).replace(LINE_END, "\n");
            assert_eq!(runs(&written), before, "{text} became {written}");
        }
    }

    #[test]
    fn words_that_mean_nothing_else_stay_as_they_are() {
        for text in ["snake_case, a + b = c!", "It costs $5 (or 10%).", "C:/path - and more"] {
            assert_eq!(run_source(&runs(text)), text);
        }
    }
}
