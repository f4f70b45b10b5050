//! Takes the parser's events one by one, and puts the blocks together.

use std::cell::RefCell;
use std::ops::Range;
use std::rc::Rc;

use pulldown_cmark::{Alignment, BlockQuoteKind, CodeBlockKind, CowStr, Event, LinkType, Tag};

use super::{ItemStart, Top};
use crate::markdown::block::{AlertKind, Align, Block, Inline, Item, List, Table};
use crate::markdown::label::{Label, Target};
use crate::markdown::math;

/// The maximum nesting of containers. Deeper ones are shown at this depth: a text of ten thousand
/// `>` must not overflow the stack of a function that walks the tree.
const DEEPEST: usize = 60;

/// A container that has begun but not ended.
pub struct Open<'a> {
    tag: Tag<'a>,
    range: Range<usize>,
    blocks: Vec<Block>,
    inlines: Vec<Inline>,
    items: Vec<Rc<Item>>,
    starts: Vec<ItemStart>,
    cells: Vec<Vec<Inline>>,
    rows: Vec<Vec<Vec<Inline>>>,
    task: Option<bool>,
    /// Whether a list is tight, as far as its items have shown.
    tight: Option<bool>,
}

/// Builds blocks from events.
pub struct Builder<'a, 'r> {
    pub stack: Vec<Open<'a>>,
    pub too_deep: usize,
    pub tops: Vec<Top>,
    /// Where the last text ends.
    pub end: usize,
    pub resolve: &'r dyn Fn(&Label) -> Option<Target>,
    pub asked: &'r RefCell<Vec<Label>>,
    pub source: &'r str,
    /// The formulas in the source, which are masked in what the parser reads.
    pub formulas: &'r [Range<usize>],
}

impl<'a, 'r> Builder<'a, 'r> {
    /// Takes the next event.
    pub fn take(&mut self, event: Event<'a>, range: Range<usize>) {
        match event {
            Event::Start(tag) => self.start(tag, range),
            Event::End(_) => self.end(),
            Event::Text(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.text(&text, &range);
            }
            Event::Code(text) => self.inline(Inline::Code(self.uncovered(text, &range))),
            Event::Html(text) | Event::InlineHtml(text) => {
                let text = self.uncovered(text, &range);
                match self.stack.last_mut() {
                    Some(Open { tag: Tag::HtmlBlock, inlines, .. }) => push_text(inlines, &text),
                    _ => self.inline(Inline::Html(text)),
                }
            }
            // From an extension that is switched off.
            Event::FootnoteReference(label) => self.inline(Inline::Footnote(label.into_string())),
            Event::SoftBreak => self.inline(Inline::SoftBreak),
            Event::HardBreak => self.inline(Inline::HardBreak),
            Event::Rule => {
                self.flush();
                self.block(Block::Rule, range);
            }
            Event::TaskListMarker(done) => {
                let item = self.stack.iter_mut().rev().find(|open| matches!(open.tag, Tag::Item));
                if let Some(item) = item {
                    item.task = Some(done);
                }
            }
        }
    }

    fn start(&mut self, tag: Tag<'a>, range: Range<usize>) {
        // Nothing inside a skipped container is opened, so that starts and ends stay paired.
        if self.too_deep > 0 || self.stack.len() >= DEEPEST {
            self.too_deep += 1;
            return;
        }
        match &tag {
            Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Link { .. }
            | Tag::Image { .. } => {}
            Tag::Item => {
                if let Some(list) = self.stack.last_mut() {
                    list.starts.push(ItemStart { at: range.start, shows_tightness: false });
                }
            }
            Tag::Paragraph => {
                self.flush();
                self.tightness(false);
            }
            _ => self.flush(),
        }
        self.stack.push(Open {
            tag,
            range,
            blocks: Vec::new(),
            inlines: Vec::new(),
            items: Vec::new(),
            starts: Vec::new(),
            cells: Vec::new(),
            rows: Vec::new(),
            task: None,
            tight: None,
        });
    }

    fn end(&mut self) {
        if self.too_deep > 0 {
            self.too_deep -= 1;
            return;
        }
        self.flush();
        let Some(open) = self.stack.pop() else { return };
        let range = open.range;
        let inlines = open.inlines;
        match open.tag {
            Tag::Paragraph => self.block(Block::Paragraph(inlines), range),
            Tag::Heading { level, .. } => {
                self.block(Block::Heading { level: level as u8, text: inlines }, range);
            }
            Tag::BlockQuote(None) => self.block(Block::Quote(open.blocks), range),
            Tag::BlockQuote(Some(kind)) => {
                let kind = AlertKind::from(kind);
                self.block(Block::Alert { kind, blocks: open.blocks }, range);
            }
            Tag::CodeBlock(kind) => {
                let info = match kind {
                    CodeBlockKind::Fenced(info) => info.into_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.block(Block::Code { info, text: joined(inlines) }, range);
            }
            Tag::HtmlBlock => self.block(Block::Html(joined(inlines)), range),
            Tag::List(start) => {
                let list = List { start, tight: open.tight.unwrap_or(true), items: open.items };
                self.list(list, range, open.starts);
            }
            Tag::Item => {
                let item = Rc::new(Item { task: open.task, blocks: open.blocks });
                if let Some(list) = self.stack.last_mut() {
                    list.items.push(item);
                }
            }
            Tag::FootnoteDefinition(label) => {
                let label = label.into_string();
                self.block(Block::Footnote { label, blocks: open.blocks }, range);
            }
            Tag::Table(align) => {
                let mut rows = open.rows.into_iter();
                let head = rows.next().unwrap_or_default();
                let align = align.iter().map(|a| Align::from(*a)).collect();
                self.block(Block::Table(Table { align, head, rows: rows.collect() }), range);
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = self.stack.last_mut() {
                    table.rows.push(open.cells);
                }
            }
            Tag::TableCell => {
                if let Some(row) = self.stack.last_mut() {
                    row.cells.push(inlines);
                }
            }
            Tag::Emphasis => self.inline(Inline::Emphasis(inlines)),
            Tag::Strong => self.inline(Inline::Strong(inlines)),
            Tag::Strikethrough => self.inline(Inline::Strike(inlines)),
            Tag::Link { link_type, dest_url, title, id } => {
                let target = self.target(link_type, &id, &dest_url, &title);
                let Target { address, title } = target;
                self.inline(Inline::Link { address, title, text: inlines });
            }
            Tag::Image { link_type, dest_url, title, id } => {
                let target = self.target(link_type, &id, &dest_url, &title);
                let Target { address, title } = target;
                self.inline(Inline::Image { address, title, alt: inlines });
            }
            // From extensions that are switched off.
            Tag::DefinitionList
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition
            | Tag::Superscript
            | Tag::Subscript
            | Tag::MetadataBlock(_) => {
                for inline in inlines {
                    self.inline(inline);
                }
            }
        }
    }

    /// The target of a link. For its label, a definition outside this text takes precedence.
    fn target(&self, kind: LinkType, id: &str, address: &str, title: &str) -> Target {
        if matches!(kind, LinkType::Reference | LinkType::Collapsed | LinkType::Shortcut) {
            let label = Label::new(id.to_owned());
            let outside = (self.resolve)(&label);
            self.asked.borrow_mut().push(label);
            if let Some(target) = outside {
                return target;
            }
        }
        let mail = kind == LinkType::Email && !address.starts_with("mailto:");
        let address = if mail { format!("mailto:{address}") } else { address.to_owned() };
        Target { address, title: title.to_owned() }
    }

    /// Wraps text in a paragraph if its block has none.
    fn flush(&mut self) {
        let Some(open) = self.stack.last_mut() else { return };
        let is_container =
            matches!(open.tag, Tag::Item | Tag::BlockQuote(_) | Tag::FootnoteDefinition(_));
        if is_container && !open.inlines.is_empty() {
            let inlines = std::mem::take(&mut open.inlines);
            open.blocks.push(Block::Paragraph(inlines));
        }
    }

    /// Records whether the item on top shows that its list is tight.
    fn tightness(&mut self, tight: bool) {
        let Some(at) = self.stack.len().checked_sub(2) else { return };
        if matches!(self.stack[at + 1].tag, Tag::Item) {
            let list = &mut self.stack[at];
            list.tight.get_or_insert(tight);
            if let Some(item) = list.starts.last_mut() {
                item.shows_tightness = true;
            }
        }
    }

    fn text(&mut self, text: &str, range: &Range<usize>) {
        if self.stack.last().is_some_and(|open| matches!(open.tag, Tag::Item)) {
            self.tightness(true);
        }
        let formulas = self.formulas_in(range);
        let Some(open) = self.stack.last_mut() else { return };
        if formulas.is_empty() {
            return push_text(&mut open.inlines, text);
        }
        if matches!(open.tag, Tag::CodeBlock(_) | Tag::HtmlBlock) || text.len() != range.len() {
            return push_text(&mut open.inlines, &math::uncover(text, self.source, formulas));
        }
        let mut done = range.start;
        for formula in formulas {
            push_text(&mut open.inlines, &self.source[done..formula.start]);
            open.inlines.push(Inline::Math(math::written(self.source, formula)));
            done = formula.end;
        }
        push_text(&mut open.inlines, &self.source[done..range.end]);
    }

    /// The formulas in a part of the source.
    fn formulas_in(&self, range: &Range<usize>) -> &'r [Range<usize>] {
        let from = self.formulas.partition_point(|formula| formula.start < range.start);
        let count = self.formulas[from..].partition_point(|formula| formula.end <= range.end);
        &self.formulas[from..from + count]
    }

    /// A text from a part of the source, with its formulas restored.
    fn uncovered(&self, text: CowStr<'a>, range: &Range<usize>) -> String {
        match self.formulas_in(range) {
            [] => text.into_string(),
            formulas => math::uncover(&text, self.source, formulas),
        }
    }

    fn inline(&mut self, inline: Inline) {
        if self.stack.last().is_some_and(|open| matches!(open.tag, Tag::Item)) {
            self.tightness(true);
        }
        if let Some(open) = self.stack.last_mut() {
            open.inlines.push(inline);
        }
    }

    fn block(&mut self, block: Block, range: Range<usize>) {
        match self.stack.last_mut() {
            Some(open) => open.blocks.push(block),
            None => self.top(block, range, Vec::new()),
        }
    }

    fn list(&mut self, list: List, range: Range<usize>, items: Vec<ItemStart>) {
        match self.stack.last_mut() {
            Some(open) => open.blocks.push(Block::List(list)),
            None => self.top(Block::List(list), range, items),
        }
    }

    fn top(&mut self, block: Block, range: Range<usize>, items: Vec<ItemStart>) {
        let labels = self.asked.take();
        let end = self.end.max(range.start);
        self.tops.push(Top { block, range, end, labels, items });
    }
}

/// Appends text, joined with preceding text.
fn push_text(inlines: &mut Vec<Inline>, text: &str) {
    if text.is_empty() {
        return;
    }
    match inlines.last_mut() {
        Some(Inline::Text(last)) => last.push_str(text),
        _ => inlines.push(Inline::Text(text.to_owned())),
    }
}

/// The text of a block that contains only text.
fn joined(inlines: Vec<Inline>) -> String {
    let mut out = String::new();
    for inline in inlines {
        if let Inline::Text(text) = inline {
            if out.is_empty() {
                out = text;
            } else {
                out.push_str(&text);
            }
        }
    }
    out
}

impl From<Alignment> for Align {
    fn from(alignment: Alignment) -> Self {
        match alignment {
            Alignment::None => Self::None,
            Alignment::Left => Self::Left,
            Alignment::Center => Self::Center,
            Alignment::Right => Self::Right,
        }
    }
}

impl From<BlockQuoteKind> for AlertKind {
    fn from(kind: BlockQuoteKind) -> Self {
        match kind {
            BlockQuoteKind::Note => Self::Note,
            BlockQuoteKind::Tip => Self::Tip,
            BlockQuoteKind::Important => Self::Important,
            BlockQuoteKind::Warning => Self::Warning,
            BlockQuoteKind::Caution => Self::Caution,
        }
    }
}
