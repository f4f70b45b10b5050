//! Draws a text that does not change as Markdown, by the widgets that show replies.

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

/// A text that does not change, with what keeps its widgets up to date.
pub struct RichText {
    root: gtk::Box,
    spoken: String,
    /// Keeps links and buttons alive.
    blocks: Vec<Block>,
}

enum Block {
    Prose(Prose, LaidOut),
    Code(CodeBlock),
    Table(TableBlock),
    Formula(FormulaBlock),
    Details(DetailsBlock),
}

impl RichText {
    /// Shows this text, whose accessible name is `name`.
    pub fn new(text: &str, name: &str, context: &WidgetContext) -> Self {
        let reply = ReplyText::of(text);
        let root = gtk::Box::new(gtk::Orientation::Vertical, GAP);
        let mut blocks = Vec::new();
        for (at, segment) in reply.segments().iter().enumerate() {
            match (segment.kind, reply.pieces(at)) {
                (SegmentKind::Prose { .. }, pieces) => {
                    let prose = Prose::new(&context.tags, &context.links);
                    prose.update(pieces);
                    let view = prose.widget();
                    accessible::set_label(view, name);
                    // Tab leads to links and to what can be answered.
                    view.set_focusable(prose.has_links());
                    // A card is measured before its text was ever seen.
                    let laid_out = LaidOut::new(view);
                    root.append(laid_out.widget());
                    blocks.push(Block::Prose(prose, laid_out));
                }
                (SegmentKind::Code, [Piece::Code(piece)]) => {
                    let code =
                        CodeBlock::new(&context.tags, &context.code_blocks, context.uses(), None);
                    code.update(piece, false);
                    root.append(code.widget());
                    blocks.push(Block::Code(code));
                }
                (SegmentKind::Table, [Piece::Grid(grid)]) => {
                    let table = TableBlock::new(&context.links, context.uses().copied);
                    table.update(grid);
                    root.append(table.widget());
                    blocks.push(Block::Table(table));
                }
                (SegmentKind::Formula, [Piece::Formula(piece)]) => {
                    let formula = FormulaBlock::new(&context.tags, context.uses().copied);
                    formula.update(piece);
                    root.append(formula.widget());
                    blocks.push(Block::Formula(formula));
                }
                (SegmentKind::Picture, [Piece::Picture(piece)]) => {
                    let picture = PictureBlock::new(context);
                    picture.update(piece);
                    root.append(picture.widget());
                }
                (SegmentKind::Details, [Piece::Details(piece)]) => {
                    let details = DetailsBlock::new(context);
                    details.update(piece);
                    root.append(details.widget());
                    blocks.push(Block::Details(details));
                }
                _ => root.append(&gtk::Separator::new(gtk::Orientation::Horizontal)),
            }
        }
        Self { root, spoken: spoken(&reply), blocks }
    }

    /// The text as a screen reader says it: without the signs of Markdown, in one line.
    pub fn spoken(&self) -> &str {
        &self.spoken
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
                Block::Table(_) => {}
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
                Block::Code(_) | Block::Formula(_) => {}
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
