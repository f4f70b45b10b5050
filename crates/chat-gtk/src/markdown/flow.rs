//! Blocks as a view draws them, one below the other: lines of prose, code, tables and rules.
//!
//! Lists and quotations are no boxes here but an indentation of the lines in them, so that one
//! text can hold many blocks and a person can select across them.

use std::rc::Rc;

use super::block::{Align, Block, Inline, Item, List, Table};
use super::link::{is_safe_address, visible_address};

/// The most characters of a line that one text lays out. A longer paragraph goes on in a new line,
/// since the whole of a line is laid out anew for every letter that is added to it.
const LONGEST_LINE: usize = 4_000;

/// A line end within a paragraph: a new line without the space between paragraphs.
const LINE_END: &str = "\u{2028}";

/// Something that is drawn below what was before it.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// A line of prose.
    Line(Line),
    /// Code.
    Code(Code),
    /// A table.
    Grid(Grid),
    /// A line across.
    Rule(Indent),
}

/// How far something stands to the right, and why.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Indent {
    /// Lists that it stands in.
    pub lists: u8,
    /// Quotations that it stands in.
    pub quotes: u8,
}

/// What is to be left free above something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Gap {
    /// Nothing: it goes on.
    None,
    /// Between the items of a list.
    Small,
    /// Between blocks.
    #[default]
    Block,
    /// Above a heading.
    Heading,
}

/// A paragraph of prose.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// A heading's level, or 0.
    pub heading: u8,
    /// Where it stands.
    pub indent: Indent,
    /// The bullet, number or box in front of it.
    pub marker: Option<String>,
    /// What is left free above it.
    pub gap: Gap,
    /// Whether it is set like code (raw HTML).
    pub verbatim: bool,
    /// Its text.
    pub runs: Vec<Run>,
}

/// Text of one style. It may hold line ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The text.
    pub text: String,
    /// Its style.
    pub style: Style,
    /// Where it leads, if it is a link that may be opened.
    pub link: Option<Rc<str>>,
}

/// How text is set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each can stand with each")]
pub struct Style {
    /// Stressed.
    pub emphasis: bool,
    /// Strongly stressed.
    pub strong: bool,
    /// Struck through.
    pub strike: bool,
    /// Code.
    pub code: bool,
    /// Quiet: what is there to explain.
    pub faint: bool,
    /// A footnote's mark.
    pub raised: bool,
}

/// A code block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Code {
    /// The language, as the model named it.
    pub language: String,
    /// The code without its last line end.
    pub text: String,
    /// Where it stands.
    pub indent: Indent,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// How each column is aligned.
    pub align: Vec<Align>,
    /// Head and rows, cell by cell.
    pub rows: Vec<Vec<Vec<Run>>>,
    /// Where it stands.
    pub indent: Indent,
}

/// The pieces of a block.
pub fn block_pieces(block: &Block, out: &mut Vec<Piece>) {
    Flow { out, indent: Indent::default(), marker: None, gap: Gap::Block }.block(block);
}

/// The pieces of one item of an outermost list, and no others.
pub fn item_pieces(list: &List, index: usize, out: &mut Vec<Piece>) {
    if let Some(item) = list.items.get(index) {
        Flow { out, indent: Indent::default(), marker: None, gap: Gap::Block }
            .item(list, index, item);
    }
}

struct Flow<'a> {
    out: &'a mut Vec<Piece>,
    indent: Indent,
    /// The marker of the item that has begun and has no line yet.
    marker: Option<String>,
    gap: Gap,
}

impl Flow<'_> {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Paragraph(text) => self.prose(0, text, Style::default()),
            Block::Heading { level, text } => self.prose(*level, text, Style::default()),
            Block::Quote(blocks) => {
                self.begin();
                self.indent.quotes = self.indent.quotes.saturating_add(1);
                self.blocks(blocks);
                self.indent.quotes -= 1;
            }
            Block::List(list) => {
                self.begin();
                for (index, item) in list.items.iter().enumerate() {
                    self.item(list, index, item);
                }
            }
            Block::Code { info, text } => {
                self.begin();
                let language = info.split([' ', '\t', ',', '{']).next().unwrap_or_default();
                let text = text.strip_suffix('\n').unwrap_or(text);
                self.out.push(Piece::Code(Code {
                    language: language.to_owned(),
                    text: text.to_owned(),
                    indent: self.indent,
                }));
                self.gap = Gap::Block;
            }
            Block::Table(table) => {
                self.begin();
                self.out.push(Piece::Grid(grid(table, self.indent)));
                self.gap = Gap::Block;
            }
            Block::Rule => {
                self.begin();
                self.out.push(Piece::Rule(self.indent));
                self.gap = Gap::Block;
            }
            Block::Html(text) => {
                let text = text.trim_end_matches('\n').replace('\n', LINE_END);
                let run = Run { text, style: Style::default(), link: None };
                self.line(Line { verbatim: true, runs: vec![run], ..Line::default() });
            }
            Block::Footnote { label, blocks } => {
                self.begin();
                self.marker = Some(format!("{label}."));
                self.indent.lists = self.indent.lists.saturating_add(1);
                self.blocks(blocks);
                self.begin();
                self.indent.lists -= 1;
            }
        }
    }

    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn item(&mut self, list: &List, index: usize, item: &Item) {
        // A list inside an item that has no text of its own begins on a line below its marker.
        self.begin();
        self.gap = if index == 0 && self.indent.lists == 0 { Gap::Block } else { Gap::Small };
        self.marker = Some(match (item.task, list.start) {
            (Some(true), _) => "☑".to_owned(),
            (Some(false), _) => "☐".to_owned(),
            (None, Some(start)) => format!("{}.", start.saturating_add(index as u64)),
            (None, None) => if self.indent.lists.is_multiple_of(2) { "•" } else { "◦" }.to_owned(),
        });
        self.indent.lists = self.indent.lists.saturating_add(1);
        self.blocks(&item.blocks);
        self.begin();
        self.indent.lists -= 1;
        self.gap = Gap::Block;
    }

    /// A marker that waits gets its line now: what follows is no prose.
    fn begin(&mut self) {
        if self.marker.is_some() {
            self.line(Line::default());
        }
    }

    fn prose(&mut self, heading: u8, text: &[Inline], style: Style) {
        let mut runs = Vec::new();
        inline_runs(text, style, None, &mut runs);
        self.line(Line { heading, runs, ..Line::default() });
    }

    fn line(&mut self, line: Line) {
        let gap = match self.gap {
            Gap::Block if line.heading > 0 && self.marker.is_none() => Gap::Heading,
            gap => gap,
        };
        let first = Line { indent: self.indent, marker: self.marker.take(), gap, ..line };
        self.gap = Gap::Block;
        split_long(first, self.out);
    }
}

fn grid(table: &Table, indent: Indent) -> Grid {
    let row = |cells: &Vec<Vec<Inline>>, style: Style| -> Vec<Vec<Run>> {
        let cell = |text: &Vec<Inline>| {
            let mut runs = Vec::new();
            inline_runs(text, style, None, &mut runs);
            runs
        };
        cells.iter().map(cell).collect()
    };
    let head = row(&table.head, Style { strong: true, ..Style::default() });
    let rows = std::iter::once(head)
        .chain(table.rows.iter().map(|cells| row(cells, Style::default())))
        .collect();
    Grid { align: table.align.clone(), rows, indent }
}

/// Adds inline text as runs.
fn inline_runs(inlines: &[Inline], style: Style, link: Option<&Rc<str>>, out: &mut Vec<Run>) {
    for inline in inlines {
        match inline {
            Inline::Text(text) if link.is_none() => push_linked(out, text, style),
            Inline::Text(text) => push(out, text, style, link),
            Inline::Code(text) | Inline::Math(text) | Inline::Html(text) => {
                push(out, text, Style { code: true, ..style }, link);
            }
            Inline::Emphasis(inner) => {
                inline_runs(inner, Style { emphasis: true, ..style }, link, out);
            }
            Inline::Strong(inner) => inline_runs(inner, Style { strong: true, ..style }, link, out),
            Inline::Strike(inner) => inline_runs(inner, Style { strike: true, ..style }, link, out),
            Inline::Link { address, text, .. } if is_safe_address(address) => {
                let link = Rc::from(address.as_str());
                if text.is_empty() {
                    push(out, &visible_address(address), style, Some(&link));
                } else {
                    inline_runs(text, style, Some(&link), out);
                }
            }
            Inline::Link { address, text, .. } => {
                inline_runs(text, style, link, out);
                address_behind(out, address, style);
            }
            Inline::Image { address, alt, .. } => {
                let mut text = String::new();
                plain(alt, &mut text);
                push(out, if text.is_empty() { "🖼" } else { &text }, style, link);
                address_behind(out, address, style);
            }
            Inline::Footnote(label) => push(out, label, Style { raised: true, ..style }, link),
            Inline::SoftBreak => push(out, " ", style, link),
            Inline::HardBreak => push(out, LINE_END, style, link),
        }
    }
}

/// Adds text in which bare addresses of web pages become links.
fn push_linked(out: &mut Vec<Run>, text: &str, style: Style) {
    let mut rest = text;
    while let Some((start, end)) = bare_address(rest) {
        push(out, &rest[..start], style, None);
        let address = &rest[start..end];
        push(out, &visible_address(address), style, Some(&Rc::from(address)));
        rest = &rest[end..];
    }
    push(out, rest, style, None);
}

/// Where the first bare address begins and ends: behind no letter, and without the punctuation of
/// the sentence that it stands in.
fn bare_address(text: &str) -> Option<(usize, usize)> {
    let mut from = 0;
    loop {
        let start = from + text[from..].find("http")?;
        from = start + 4;
        let scheme = ["https://", "http://"].into_iter().find(|s| text[start..].starts_with(s));
        let Some(scheme) = scheme else { continue };
        if text[..start].ends_with(char::is_alphanumeric) {
            continue;
        }
        let rest = &text[start..];
        let end =
            rest.find(|c: char| c.is_whitespace() || "<>\"".contains(c)).unwrap_or(rest.len());
        let mut address = &rest[..end];
        loop {
            let closes = address.ends_with(')')
                && address.matches(')').count() > address.matches('(').count();
            if !closes
                && !address.ends_with(['.', ',', ':', ';', '!', '?', '\'', '*', '_', '~', ']'])
            {
                break;
            }
            address = &address[..address.len() - 1];
        }
        if address.len() > scheme.len() {
            return Some((start, start + address.len()));
        }
    }
}

/// Shows where something leads that is not opened.
fn address_behind(out: &mut Vec<Run>, address: &str, style: Style) {
    if !address.is_empty() {
        let text = format!(" ({})", visible_address(address));
        push(out, &text, Style { faint: true, ..style }, None);
    }
}

fn push(out: &mut Vec<Run>, text: &str, style: Style, link: Option<&Rc<str>>) {
    if text.is_empty() {
        return;
    }
    match out.last_mut() {
        Some(last) if last.style == style && last.link.as_ref() == link => last.text.push_str(text),
        _ => out.push(Run { text: text.to_owned(), style, link: link.cloned() }),
    }
}

/// The text of a picture's description.
fn plain(inlines: &[Inline], out: &mut String) {
    for inline in inlines {
        match inline {
            Inline::Text(text)
            | Inline::Code(text)
            | Inline::Math(text)
            | Inline::Html(text)
            | Inline::Footnote(text) => out.push_str(text),
            Inline::Emphasis(inner)
            | Inline::Strong(inner)
            | Inline::Strike(inner)
            | Inline::Link { text: inner, .. }
            | Inline::Image { alt: inner, .. } => plain(inner, out),
            Inline::SoftBreak | Inline::HardBreak => out.push(' '),
        }
    }
}

/// Puts out a line, parted at spaces if it is too long for one. Where it is parted depends only on
/// the text before, so that a growing paragraph never changes above its end.
fn split_long(line: Line, out: &mut Vec<Piece>) {
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
            let at = match rest[from..reach].find(char::is_whitespace) {
                Some(space) => from + space + 1,
                None if reach < rest.len() => reach,
                None => break,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::markdown::parse;

    /// The runs of a text, links in brackets.
    fn links(text: &str) -> String {
        let mut pieces = Vec::new();
        for block in parse(text) {
            block_pieces(&block, &mut pieces);
        }
        let mut out = String::new();
        for piece in pieces {
            let Piece::Line(line) = piece else { continue };
            for run in line.runs {
                match run.link {
                    Some(link) => out.extend(["[", &run.text, "=", &link, "]"]),
                    None => out.push_str(&run.text),
                }
            }
        }
        out
    }

    #[test]
    fn bare_addresses_are_links_without_the_sentence_round_them() {
        assert_eq!(
            links("See https://a.b/c_(d), or (http://e.f)."),
            "See [https://a.b/c_(d)=https://a.b/c_(d)], or ([http://e.f=http://e.f])."
        );
        assert_eq!(
            links("xhttps://a.b and https:// and http"),
            "xhttps://a.b and https:// and http"
        );
        assert_eq!(links("`https://a.b`"), "https://a.b");
    }

    #[test]
    fn only_safe_addresses_are_links_and_all_others_are_told() {
        assert_eq!(links("[a](javascript:x)"), "a (javascript:x)");
        assert_eq!(links("[a](https://b.c)"), "[a=https://b.c]");
        assert_eq!(links("![pic](file:///etc/passwd)"), "pic (file:///etc/passwd)");
        assert_eq!(
            links("https://a.b/\u{202E}x"),
            "[https://a.b/\\u{202E}x=https://a.b/\u{202E}x]"
        );
    }
}
