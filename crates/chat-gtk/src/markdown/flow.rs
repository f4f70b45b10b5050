//! Arranges blocks as a view draws them, one below the other: lines of prose, code, tables and
//! rules.
//!
//! Lists and quotations are indented lines here rather than boxes, so that one text can hold many
//! blocks and the user can select across them.

mod alert;
mod bare;
mod emoji;
mod footnote;
mod html;
mod long;
mod piece;
mod runs;

use super::block::{Block, Inline, Item, List, Table};
use super::link::is_picture_address;
use super::math::is_display;
pub use footnote::NotePlace;
use long::split_long;
pub use piece::{Code, Details, Formula, Gap, Grid, Indent, Line, Picture, Piece, Run, Style};
use runs::{inline_runs, plain};

/// A line break within a paragraph: a new line without the space between paragraphs.
const LINE_END: &str = "\u{2028}";

/// The pieces of a block.
pub fn block_pieces(block: &Block, out: &mut Vec<Piece>) {
    Flow { out, indent: Indent::default(), marker: None, gap: Gap::Block }.block(block);
}

/// The pieces of a single item of a top-level list.
pub fn item_pieces(list: &List, index: usize, out: &mut Vec<Piece>) {
    if let Some(item) = list.items.get(index) {
        Flow { out, indent: Indent::default(), marker: None, gap: Gap::Block }
            .item(list, index, item);
    }
}

/// Continues the last piece with text that is not parsed yet, as plain text. A table or a rule
/// cannot continue, so there the text appears when it is parsed.
pub fn go_on(out: &mut Vec<Piece>, text: &str) {
    match out.last_mut() {
        Some(Piece::Code(code)) => code.text.push_str(text),
        Some(Piece::Line(_)) => long::lengthen(out, text),
        _ => {}
    }
}

struct Flow<'a> {
    out: &'a mut Vec<Piece>,
    indent: Indent,
    /// The bullet, number or box in front of it.
    marker: Option<String>,
    gap: Gap,
}

impl Flow<'_> {
    fn block(&mut self, block: &Block) {
        match block {
            Block::Paragraph(text) => self.paragraph(text),
            Block::Heading { level, text } => self.prose(*level, text, Style::default()),
            Block::Quote(blocks) => {
                self.begin();
                self.indent.quotes = self.indent.quotes.saturating_add(1);
                self.blocks(blocks);
                self.indent.quotes -= 1;
            }
            Block::Alert { kind, blocks } => {
                self.begin();
                self.indent.quotes = self.indent.quotes.saturating_add(1);
                let outer = self.indent.alert.replace(*kind);
                self.line(Line { runs: vec![alert::title(*kind)], ..Line::default() });
                self.gap = Gap::Small;
                self.blocks(blocks);
                self.gap = Gap::Block;
                self.indent.alert = outer;
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
                if let Some(text) = html::as_text(text) {
                    // Line breaks alone leave no more space than the gap between blocks.
                    if text.iter().any(|inline| matches!(inline, Inline::Text(_))) {
                        self.prose(0, &text, Style::default());
                    }
                    return;
                }
                let text = text.trim_end_matches('\n').replace('\n', LINE_END);
                let run = Run { text, style: Style::default(), link: None };
                self.line(Line { verbatim: true, runs: vec![run], ..Line::default() });
            }
            Block::Details { summary, source } => {
                self.begin();
                let (summary, source) = (summary.clone(), source.clone());
                self.out.push(Piece::Details(Details { summary, source }));
                self.gap = Gap::Block;
            }
            Block::Footnote { label, blocks } => {
                self.begin();
                self.marker = Some(format!("{label}."));
                self.indent.lists = self.indent.lists.saturating_add(1);
                self.blocks(blocks);
                self.begin();
                self.way_back(label);
                self.indent.lists -= 1;
            }
        }
    }

    /// Ends a footnote with a link to where the text refers to it.
    fn way_back(&mut self, label: &str) {
        let back = footnote::back(label);
        match self.out.last_mut() {
            Some(Piece::Line(line)) if line.indent == self.indent => line.runs.extend(back),
            _ => self.line(Line { runs: back.into(), ..Line::default() }),
        }
    }

    fn blocks(&mut self, blocks: &[Block]) {
        for block in blocks {
            self.block(block);
        }
    }

    fn item(&mut self, list: &List, index: usize, item: &Item) {
        // A nested list in an item without text begins on the line below the item's marker.
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

    /// Gives a pending marker its own line, since what follows is not prose.
    fn begin(&mut self) {
        if self.marker.is_some() {
            self.line(Line::default());
        }
    }

    /// A paragraph; formulas on their own lines become blocks, and so do pictures that are there.
    fn paragraph(&mut self, text: &[Inline]) {
        let mut done = 0;
        for (at, inline) in text.iter().enumerate() {
            let formula = match inline {
                Inline::Math(formula) => formula,
                Inline::Image { address, alt, .. } if is_picture_address(address) => {
                    self.part(&text[done..at]);
                    self.begin();
                    let mut description = String::new();
                    plain(alt, &mut description);
                    let address = address.as_str().into();
                    self.out.push(Piece::Picture(Picture { address, description }));
                    self.gap = Gap::Block;
                    done = at + 1;
                    continue;
                }
                _ => continue,
            };
            let is_free = |inline: Option<&Inline>| {
                matches!(inline, None | Some(Inline::SoftBreak | Inline::HardBreak))
            };
            let before = at.checked_sub(1).and_then(|before| text.get(before));
            let is_alone = is_free(before) && is_free(text.get(at + 1));
            if !is_display(formula) || !(is_alone || formula.contains('\n')) {
                continue;
            }
            self.part(&text[done..at]);
            self.begin();
            let (source, indent) = (formula.clone(), self.indent);
            self.out.push(if chat_formula::delimited(formula).is_some() {
                Piece::Formula(Formula { source, indent })
            } else {
                // It is still being written.
                Piece::Code(Code { language: "latex".to_owned(), text: source, indent })
            });
            self.gap = Gap::Block;
            done = at + 1;
        }
        if done == 0 {
            self.prose(0, text, Style::default());
        } else {
            self.part(&text[done..]);
        }
    }

    /// The part of a paragraph before or after a formula or a picture, if it has any content.
    fn part(&mut self, text: &[Inline]) {
        let is_break = |inline: &Inline| matches!(inline, Inline::SoftBreak | Inline::HardBreak);
        let Some(first) = text.iter().position(|inline| !is_break(inline)) else { return };
        let end = text.iter().rposition(|inline| !is_break(inline)).unwrap_or(first);
        self.prose(0, &text[first..=end], Style::default());
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
            // A cell shows letters only.
            for run in runs.iter_mut().filter(|run| run.style.formula) {
                run.style = Style { formula: false, code: true, ..run.style };
            }
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

#[cfg(test)]
mod tests;
