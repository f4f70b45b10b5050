//! Draws a text as Markdown, by the widgets that show replies.

pub mod details;

use gtk::prelude::*;

use crate::accessible;
use crate::conversation::model::reply::{ReplyText, SegmentKind};
use crate::conversation::search::each_text_of_segment;
use crate::conversation::widgets::code::CodeBlock;
use crate::conversation::widgets::context::WidgetContext;
use crate::conversation::widgets::formula::FormulaBlock;
use crate::conversation::widgets::laid_out::LaidOut;
use crate::conversation::widgets::picture::PictureBlock;
use crate::conversation::widgets::prose::Prose;
use crate::conversation::widgets::table::TableBlock;
use crate::conversation::widgets::tags::Tags;
use crate::markdown::flow::Piece;

use details::DetailsBlock;

/// Space between two blocks, in pixels.
const GAP: i32 = 8;

/// A text, with what keeps its widgets up to date.
pub struct RichText {
    root: gtk::Box,
    name: String,
    context: WidgetContext,
    /// One for each segment.
    blocks: Vec<Block>,
}

enum Block {
    Prose(Prose, LaidOut),
    Code(CodeBlock),
    Table(TableBlock),
    Formula(FormulaBlock),
    Picture(PictureBlock),
    Details(DetailsBlock),
    Rule(gtk::Separator),
}

impl Block {
    fn new(kind: SegmentKind, name: &str, context: &WidgetContext) -> Self {
        match kind {
            SegmentKind::Prose { .. } => {
                let prose = Prose::new(&context.tags, &context.links);
                accessible::set_label(prose.widget(), name);
                // A card is measured before its text was ever seen.
                let laid_out = LaidOut::new(prose.widget());
                Self::Prose(prose, laid_out)
            }
            SegmentKind::Code => {
                let hold = &context.hold;
                Self::Code(CodeBlock::new(&context.tags, &context.code_blocks, hold, None))
            }
            SegmentKind::Table => Self::Table(TableBlock::new(&context.links)),
            SegmentKind::Formula => Self::Formula(FormulaBlock::new(&context.tags)),
            SegmentKind::Picture => Self::Picture(PictureBlock::new(context)),
            SegmentKind::Details => Self::Details(DetailsBlock::new(context)),
            SegmentKind::Rule => Self::Rule(gtk::Separator::new(gtk::Orientation::Horizontal)),
        }
    }

    fn widget(&self) -> gtk::Widget {
        match self {
            Self::Prose(_, laid_out) => laid_out.widget().clone().upcast(),
            Self::Code(code) => code.widget().clone().upcast(),
            Self::Table(table) => table.widget().clone().upcast(),
            Self::Formula(formula) => formula.widget().clone().upcast(),
            Self::Picture(picture) => picture.widget().clone().upcast(),
            Self::Details(details) => details.widget().clone().upcast(),
            Self::Rule(line) => line.clone().upcast(),
        }
    }

    /// Shows these pieces in the widget that there is. Whether it is one for them.
    fn update(&self, pieces: &[Piece], grows: bool) -> bool {
        match (self, pieces) {
            (Self::Prose(prose, laid_out), [Piece::Line(_), ..]) => {
                if prose.update(pieces) {
                    // Tab leads to links and to what can be answered.
                    prose.widget().set_focusable(prose.has_links());
                    laid_out.measure_again();
                }
            }
            (Self::Code(code), [Piece::Code(piece)]) => {
                code.update(piece, grows);
            }
            (Self::Table(table), [Piece::Grid(grid)]) => {
                table.update(grid);
            }
            (Self::Formula(formula), [Piece::Formula(piece)]) => {
                formula.update(piece);
            }
            (Self::Picture(picture), [Piece::Picture(piece)]) => {
                picture.update(piece);
            }
            (Self::Details(details), [Piece::Details(piece)]) => {
                details.update(piece, grows);
            }
            (Self::Rule(_), [Piece::Rule(_)]) => {}
            _ => return false,
        }
        true
    }
}

impl RichText {
    /// Shows this text, whose accessible name is `name`.
    pub fn new(text: &str, name: &str, context: &WidgetContext) -> Self {
        let root = gtk::Box::new(gtk::Orientation::Vertical, GAP);
        let (name, context) = (name.to_owned(), context.clone());
        let mut rich = Self { root, name, context, blocks: Vec::new() };
        rich.update(text, false);
        rich
    }

    /// Shows this text; `grows`: whether more of it may come. Widgets of what stays stay.
    pub fn update(&mut self, text: &str, grows: bool) {
        let reply = ReplyText::of(text);
        for (at, segment) in reply.segments().iter().enumerate() {
            let pieces = reply.pieces(at);
            if self.blocks.get(at).is_some_and(|block| block.update(pieces, grows)) {
                continue;
            }
            self.truncate(at);
            let block = Block::new(segment.kind, &self.name, &self.context);
            block.update(pieces, grows);
            self.root.append(&block.widget());
            self.blocks.push(block);
        }
        self.truncate(reply.segments().len());
    }

    fn truncate(&mut self, len: usize) {
        for block in self.blocks.drain(len.min(self.blocks.len())..) {
            self.root.remove(&block.widget());
        }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// Takes the theme's colours.
    pub fn recolour(&self, tags: &Tags) {
        for block in &self.blocks {
            match block {
                Block::Prose(prose, laid_out) => {
                    prose.recolour(tags);
                    laid_out.measure_again();
                }
                Block::Code(code) => code.recolour(),
                Block::Formula(formula) => formula.recolour(),
                Block::Details(details) => details.recolour(tags),
                Block::Table(_) | Block::Picture(_) | Block::Rule(_) => {}
            }
        }
    }

    /// The project has other files: their names lead there, and others do not any more.
    pub fn mark_files(&self) {
        for block in &self.blocks {
            match block {
                Block::Prose(prose, _) => {
                    prose.mark_files();
                    prose.widget().set_focusable(prose.has_links());
                }
                Block::Table(table) => table.mark_files(),
                Block::Details(details) => details.mark_files(),
                Block::Code(_) | Block::Formula(_) | Block::Picture(_) | Block::Rule(_) => {}
            }
        }
    }
}

/// A text without the signs of Markdown, in one line.
pub fn plain(text: &str) -> String {
    spoken(&ReplyText::of(text))
}

fn spoken(reply: &ReplyText) -> String {
    let mut out = String::new();
    for (at, segment) in reply.segments().iter().enumerate() {
        each_text_of_segment(segment.kind, reply.pieces(at), &mut |_, text| {
            for word in text.split_whitespace() {
                if !out.is_empty() {
                    out.push(' ');
                }
                out.push_str(word);
            }
        });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spoken_has_no_signs_of_markdown() {
        let text = "## Which of **two** `crates`?\n\n1. the *old*, by [Ada](https://example.org/)\n2. the new\n\n\
                    | name | size |\n|---|---|\n| **a** | 2 * 3 |\n\n---\n\n```rust\nfn a() {\n}\n```\n";
        assert_eq!(
            spoken(&ReplyText::of(text)),
            "Which of two crates? 1. the old, by Ada 2. the new name size a 2 * 3 fn a() { }"
        );
        assert_eq!(spoken(&ReplyText::of("")), "");
    }
}
