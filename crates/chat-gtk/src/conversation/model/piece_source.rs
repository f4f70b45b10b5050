//! Writes pieces as text again: as plain text, with bullets, numbers and indentation, and as Markdown.

use std::ops::Range;

use super::grid_text::{grid_source, grid_text};
use super::reply::ReplyText;
use super::run_source::{LINE_END, escape, is_way_back, longest_run, run_source};
use crate::markdown::flow::{Code, Details, Gap, Indent, Line, Piece, Run};

/// The language of formulas that are still being written.
const FORMULA: &str = "latex";
/// How far plain text in a list is indented, for each list.
const STEP: &str = "  ";

/// A text that is put together of blocks.
#[derive(Default)]
pub struct Blocks {
    text: String,
    /// How many quotations the last block is in.
    quotes: u8,
    /// How far the items of lists are indented that are open, list by list, in letters.
    items: Vec<usize>,
}

impl Blocks {
    /// Adds a block below the last one.
    fn push(&mut self, gap: Gap, quotes: u8, block: &str) {
        if block.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
            if matches!(gap, Gap::Block | Gap::Heading) {
                // A quotation goes on over the empty line.
                self.text.push_str(quote(self.quotes.min(quotes)).trim_end());
                self.text.push('\n');
            }
        }
        self.quotes = quotes;
        self.text.push_str(block);
    }

    /// Adds words as they are.
    pub fn push_words(&mut self, words: &str) {
        self.items.clear();
        self.push(Gap::Block, 0, words);
    }

    /// The text.
    pub fn into_text(self) -> String {
        self.text
    }
}

/// Adds these letters of pieces that are one row, as plain text. `alone`: whether nothing else is selected, so
/// that what is within a single line needs no sign of what it stands in.
pub fn push_plain(out: &mut Blocks, pieces: &[Piece], letters: &Range<usize>, alone: bool) {
    for part in parts(pieces, letters) {
        let alone = alone && part.is_only;
        match part.piece {
            Piece::Line(line) => {
                let text = plain_line(line, &part.letters, alone);
                out.push(line.gap, if alone { 0 } else { line.indent.quotes }, &text);
            }
            Piece::Code(code) => out.push(Gap::Block, 0, &cut(&code.text, &part.letters)),
            Piece::Grid(_) | Piece::Formula(_) | Piece::Details(_) => {
                out.push(Gap::Block, 0, &cut(&piece_text(part.piece), &part.letters));
            }
            Piece::Picture(picture) => out.push(Gap::Block, 0, &picture.description),
            Piece::Rule(_) => {}
        }
    }
}

/// Adds these letters of pieces that are one row, as Markdown. What is not the whole of the only line, code block
/// or table is plain text.
pub fn push_source(out: &mut Blocks, pieces: &[Piece], letters: &Range<usize>, alone: bool) {
    for part in parts(pieces, letters) {
        if alone && part.is_only && !part.is_whole {
            return push_plain(out, pieces, letters, alone);
        }
        match part.piece {
            Piece::Line(line) => {
                let text = source_line(&mut out.items, line, &part.letters);
                out.push(line.gap, line.indent.quotes, &text);
            }
            Piece::Code(code) => {
                let text = cut(&code.text, &part.letters);
                let block = fenced(code, &text);
                let indented = indented(&out.items, code.indent, &block);
                out.push(Gap::Block, code.indent.quotes, &indented);
            }
            Piece::Grid(grid) => {
                let block = if part.is_whole {
                    grid_source(grid)
                } else {
                    cut(&grid_text(grid), &part.letters)
                };
                let indented = indented(&out.items, grid.indent, &block);
                out.push(Gap::Block, grid.indent.quotes, &indented);
            }
            Piece::Formula(formula) => {
                let indented = indented(&out.items, formula.indent, &formula.source);
                out.push(Gap::Block, formula.indent.quotes, &indented);
            }
            Piece::Details(Details { summary, source }) => {
                let summary = match summary.as_str() {
                    "" => String::new(),
                    summary => format!("\n<summary>{summary}</summary>"),
                };
                let text = format!("<details>{summary}\n\n{}\n\n</details>", source.trim());
                out.push(Gap::Block, 0, &text);
            }
            Piece::Picture(picture) => {
                let text = format!("![{}]({})", escape(&picture.description), picture.address);
                out.push(Gap::Block, 0, &text);
            }
            Piece::Rule(indent) => {
                let indented = indented(&out.items, *indent, "---");
                out.push(Gap::Block, indent.quotes, &indented);
            }
        }
    }
}

/// A piece of which something is selected.
struct Part<'a> {
    piece: &'a Piece,
    /// Which of its letters.
    letters: Range<usize>,
    /// Whether these are all.
    is_whole: bool,
    /// Whether nothing of another piece is.
    is_only: bool,
}

fn parts<'a>(pieces: &'a [Piece], letters: &Range<usize>) -> Vec<Part<'a>> {
    let mut out = Vec::new();
    let mut at = 0;
    for piece in pieces {
        let count = length(piece);
        let end = at + count;
        let is_last = letters.end <= end;
        if letters.start <= end && letters.end > at || (count == 0 && letters.contains(&at)) {
            let here = letters.start.max(at) - at..letters.end.min(end) - at;
            let is_whole = here == (0..count);
            if is_whole || !here.is_empty() {
                out.push(Part { piece, letters: here, is_whole, is_only: false });
            }
        }
        if is_last {
            break;
        }
        at = end + 1;
    }
    if let [only] = out.as_mut_slice() {
        only.is_only = true;
    }
    out
}

/// The text of a piece, letter for letter as it is shown; formulas and folded parts with what they stand for.
pub fn piece_text(piece: &Piece) -> String {
    match piece {
        Piece::Line(line) => {
            let marker = line.marker.iter().flat_map(|marker| [marker.as_str(), "\t"]);
            marker.chain(line.runs.iter().map(|run| run.text.as_str())).collect()
        }
        Piece::Code(code) => code.text.clone(),
        Piece::Grid(grid) => grid_text(grid),
        Piece::Formula(formula) => formula.source.clone(),
        Piece::Details(Details { summary, source }) => {
            let reply = ReplyText::of(source);
            let pieces = (0..reply.segments().len()).flat_map(|at| reply.pieces(at).to_vec());
            let inside = plain_text(&pieces.collect::<Vec<_>>());
            if summary.is_empty() { inside } else { format!("{summary}\n\n{inside}") }
        }
        Piece::Picture(_) | Piece::Rule(_) => String::new(),
    }
}

/// All of these pieces as plain text.
pub fn plain_text(pieces: &[Piece]) -> String {
    let mut out = Blocks::default();
    push_plain(&mut out, pieces, &(0..usize::MAX), false);
    out.into_text()
}

/// How many letters a piece has.
fn length(piece: &Piece) -> usize {
    match piece {
        Piece::Line(line) => marker_length(line) + runs_length(&line.runs),
        piece => piece_text(piece).chars().count(),
    }
}

fn marker_length(line: &Line) -> usize {
    line.marker.as_ref().map_or(0, |marker| marker.chars().count() + 1)
}

fn runs_length(runs: &[Run]) -> usize {
    runs.iter().map(|run| run.text.chars().count()).sum()
}

fn plain_line(line: &Line, letters: &Range<usize>, alone: bool) -> String {
    let text = selected_runs(line, letters);
    let text: String = text.iter().map(|run| run.text.as_str()).collect();
    let inner = if alone { String::new() } else { quote(line.indent.quotes) };
    let depth = usize::from(line.indent.lists);
    let mut out = String::new();
    let mut rest = inner.clone();
    if letters.start == 0 {
        let outer = if line.marker.is_some() { depth.saturating_sub(1) } else { depth };
        if !alone {
            out.push_str(&inner);
            out.push_str(&STEP.repeat(outer));
            rest.push_str(&STEP.repeat(depth));
        }
        if let Some(marker) = &line.marker {
            out.push_str(marker);
            out.push(' ');
        }
    }
    out.push_str(&text.replace(LINE_END, &format!("\n{rest}")));
    if text.is_empty() { out.trim_end().to_owned() } else { out }
}

/// The runs of a line as far as they are selected.
fn selected_runs(line: &Line, letters: &Range<usize>) -> Vec<Run> {
    let marker = marker_length(line);
    let (start, end) = (letters.start.saturating_sub(marker), letters.end.saturating_sub(marker));
    let mut at = 0;
    let mut out = Vec::new();
    for run in &line.runs {
        let count = run.text.chars().count();
        let mut here = start.max(at).min(at + count) - at..end.max(at).min(at + count) - at;
        at += count;
        if run.style.formula && !here.is_empty() {
            // Its picture stands where its first letter is: it is there as a whole, or not at all.
            here = if here.start == 0 { 0..count } else { 0..0 };
        }
        if is_way_back(run) {
            // What was not written, and the blank before it.
            if let Some(last) = out.last_mut().filter(|last: &&mut Run| last.text.ends_with(' ')) {
                last.text.pop();
            }
            continue;
        }
        if !here.is_empty() {
            out.push(Run { text: cut(&run.text, &here), ..run.clone() });
        }
    }
    out.retain(|run| !run.text.is_empty());
    out
}

fn source_line(items: &mut Vec<usize>, line: &Line, letters: &Range<usize>) -> String {
    let runs = selected_runs(line, letters);
    let depth = usize::from(line.indent.lists);
    let quotes = quote(line.indent.quotes);
    let mut out = quotes.clone();
    if let Some(marker) = line.marker.as_ref().filter(|_| letters.start == 0) {
        // Of a list that begins within an item, what it stands in is not there.
        items.resize(depth.saturating_sub(1), 0);
        out.push_str(&" ".repeat(items.iter().sum()));
        let sign = match marker.as_str() {
            "•" | "◦" => "-".to_owned(),
            "☑" => "- [x]".to_owned(),
            "☐" => "- [ ]".to_owned(),
            label if line.runs.iter().any(is_way_back) => {
                format!("[^{}]:", label.strip_suffix('.').unwrap_or(label))
            }
            number => number.to_owned(),
        };
        // Below a task the text stands where the box does.
        let width = if sign.starts_with('-') { 2 } else { sign.chars().count() + 1 };
        items.push(width);
        out.push_str(&sign);
        out.push(' ');
    } else {
        items.truncate(depth);
        out.push_str(&" ".repeat(items.iter().sum()));
    }
    let indent = format!("\n{quotes}{}", " ".repeat(items.iter().sum()));
    if line.verbatim {
        let html: String = runs.iter().map(|run| run.text.as_str()).collect();
        out.push_str(&html.replace(LINE_END, &indent));
        return out;
    }
    if line.heading > 0 && letters.start == 0 {
        out.push_str(&"#".repeat(usize::from(line.heading)));
        out.push(' ');
    }
    let text = run_source(&runs);
    // A line break would end a heading.
    let text = if line.heading > 0 { text.replace(LINE_END, "<br>") } else { text };
    let lines: Vec<String> = text.split(LINE_END).map(guarded).collect();
    out.push_str(&lines.join(&indent));
    if text.is_empty() { out.trim_end().to_owned() } else { out }
}

/// A line whose first letters would mean something, with a backslash before them.
fn guarded(line: &str) -> String {
    let number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let digits = line.len() - number.len();
    let ends = |rest: &str| rest.is_empty() || rest.starts_with(' ');
    if digits > 0 && digits < 10 && number.starts_with(['.', ')']) && ends(&number[1..]) {
        return format!("{}\\{number}", &line[..digits]);
    }
    let sign = line.chars().next().unwrap_or(' ');
    let means = match sign {
        '#' => ends(line.trim_start_matches('#')),
        '-' | '+' => ends(&line[1..]) || line.chars().all(|letter| letter == sign || letter == ' '),
        '=' => line.chars().all(|letter| letter == '=' || letter == ' '),
        '>' | '|' => true,
        '~' => line.starts_with("~~~"),
        _ => false,
    };
    if means { format!("\\{line}") } else { line.to_owned() }
}

fn fenced(code: &Code, text: &str) -> String {
    if code.language == FORMULA && text.starts_with(['$', '\\']) {
        return text.to_owned();
    }
    let fence = "`".repeat(longest_run(text, '`').max(2) + 1);
    format!("{fence}{}\n{text}\n{fence}", code.language)
}

/// A block as it stands in the lists and quotations that are open.
fn indented(items: &[usize], indent: Indent, block: &str) -> String {
    let depth = usize::from(indent.lists).min(items.len());
    let before =
        format!("{}{}", quote(indent.quotes), " ".repeat(items[..depth].iter().sum::<usize>()));
    let lines: Vec<String> = block
        .split('\n')
        .map(|line| {
            let line = format!("{before}{line}");
            if line.trim().is_empty() { String::new() } else { line }
        })
        .collect();
    lines.join("\n")
}

fn quote(depth: u8) -> String {
    "> ".repeat(usize::from(depth))
}

/// These letters of a text.
pub fn cut(text: &str, letters: &Range<usize>) -> String {
    text.chars().skip(letters.start).take(letters.len()).collect()
}

#[cfg(test)]
mod tests;
