//! Draws the Markdown that a person wrote, by the widgets that show replies, and as wide as its text.

use gettextrs::gettext;
use gtk::glib;
use gtk::prelude::*;

use crate::accessible;
use crate::conversation::model::hits::Hit;
use crate::conversation::model::reply::{ReplyText, SegmentKind};
use crate::conversation::model::said::cell_at;
use crate::conversation::widgets::code::CodeBlock;
use crate::conversation::widgets::context::WidgetContext;
use crate::conversation::widgets::formula::FormulaBlock;
use crate::conversation::widgets::highlight::{MatchColours, highlight_buffer};
use crate::conversation::widgets::laid_out::LaidOut;
use crate::conversation::widgets::picture::PictureBlock;
use crate::conversation::widgets::position::RowPosition;
use crate::conversation::widgets::prose::Prose;
use crate::conversation::widgets::table::TableBlock;
use crate::conversation::widgets::tags::Tags;
use crate::conversation::widgets::text_surface::TextSurface;
use crate::layout::{self, Layout, height_of, width_of};
use crate::markdown::flow::Piece;

/// Space between two blocks, in pixels.
const GAP: i32 = 8;
/// What lists and the ends of lines need besides the letters, in pixels.
const ROOM: i32 = 48;

/// Markdown that does not change.
pub struct Markdown {
    root: gtk::Box,
    blocks: Vec<Block>,
}

enum Block {
    Prose(Prose, LaidOut),
    Code(CodeBlock),
    Table(TableBlock, Vec<Piece>),
    Formula(FormulaBlock),
    /// What has no text.
    Still,
}

impl Markdown {
    /// Shows this text.
    pub fn new(text: &ReplyText, context: &WidgetContext) -> Self {
        let root = gtk::Box::new(gtk::Orientation::Vertical, GAP);
        let blocks = text.segments().iter().enumerate().map(|(at, segment)| {
            match (segment.kind, text.pieces(at)) {
                (SegmentKind::Prose { .. }, pieces) => {
                    let prose = Prose::new(&context.tags, &context.links);
                    prose.update(pieces);
                    let view = prose.widget();
                    accessible::set_label(view, &gettext("Your Message"));
                    let laid_out = LaidOut::new(view);
                    root.append(&as_wide(laid_out.widget(), view, lines(pieces)));
                    Block::Prose(prose, laid_out)
                }
                (SegmentKind::Code, [Piece::Code(piece)]) => {
                    let code =
                        CodeBlock::new(&context.tags, &context.code_blocks, context.uses(), None);
                    code.update(piece, false);
                    root.append(&as_wide(code.widget(), code.text_view(), piece.text.clone()));
                    Block::Code(code)
                }
                (SegmentKind::Table, pieces) => {
                    let table = TableBlock::new(&context.links, context.uses().copied);
                    if let [Piece::Grid(grid)] = pieces {
                        table.update(grid);
                    }
                    root.append(table.widget());
                    Block::Table(table, pieces.to_vec())
                }
                (SegmentKind::Formula, [Piece::Formula(piece)]) => {
                    let formula = FormulaBlock::new(&context.tags, context.uses().copied);
                    formula.update(piece);
                    root.append(formula.widget());
                    Block::Formula(formula)
                }
                (SegmentKind::Picture, [Piece::Picture(piece)]) => {
                    let picture = PictureBlock::new(context);
                    picture.update(piece);
                    root.append(picture.widget());
                    Block::Still
                }
                _ => {
                    root.append(&gtk::Separator::new(gtk::Orientation::Horizontal));
                    Block::Still
                }
            }
        });
        let blocks = blocks.collect();
        Self { root, blocks }
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// What shows its text, block by block.
    pub fn surfaces(&self) -> Vec<TextSurface<'_>> {
        fn surface(block: &Block) -> TextSurface<'_> {
            match block {
                Block::Prose(prose, _) => TextSurface::Prose(prose),
                Block::Code(code) => TextSurface::Code(code),
                Block::Table(table, _) => TextSurface::Table(table),
                Block::Formula(formula) => TextSurface::Formula(formula),
                Block::Still => TextSurface::Still,
            }
        }
        self.blocks.iter().map(surface).collect()
    }

    /// Whether a table in it needs all the room.
    pub fn has_table(&self) -> bool {
        self.blocks.iter().any(|block| matches!(block, Block::Table(..)))
    }

    /// Gives its first text the keyboard. Whether there is one.
    pub fn focus(&self) -> bool {
        self.blocks.iter().any(|block| match block {
            Block::Prose(prose, _) => prose.widget().grab_focus(),
            Block::Code(code) => code.text_view().grab_focus(),
            Block::Table(..) | Block::Formula(_) | Block::Still => false,
        })
    }

    /// Marks what was found, and nothing else.
    pub fn highlight(&self, hits: &[Hit], current: Option<usize>, colours: MatchColours) {
        for (at, block) in self.blocks.iter().enumerate() {
            let (mut of_block, mut now) = (Vec::new(), None);
            for (index, hit) in hits.iter().enumerate() {
                let Some((_, within)) = hit.cell.filter(|(segment, _)| *segment == at) else {
                    continue;
                };
                if current == Some(index) {
                    now = Some(of_block.len());
                }
                let cell = match block {
                    Block::Table(_, pieces) => cell_at(pieces, within),
                    _ => None,
                };
                of_block.push(Hit { cell, ..hit.clone() });
            }
            match block {
                Block::Prose(prose, _) => {
                    highlight_buffer(&prose.widget().buffer(), &of_block, now, colours);
                }
                Block::Code(code) => {
                    highlight_buffer(&code.text_view().buffer(), &of_block, now, colours);
                }
                Block::Table(table, _) => table.highlight(&of_block, now, colours),
                Block::Formula(formula) => formula.highlight(&of_block, now, colours),
                Block::Still => {}
            }
        }
    }

    /// Where a place stands in the row.
    pub fn position(&self, hit: &Hit, row: &gtk::Widget) -> Option<RowPosition> {
        let (segment, within) = hit.cell?;
        match self.blocks.get(segment)? {
            Block::Prose(prose, _) => {
                Some(RowPosition::in_text(prose.widget(), row, hit.letters.start))
            }
            Block::Code(code) => {
                Some(RowPosition::in_text(code.text_view(), row, hit.letters.start))
            }
            Block::Table(table, pieces) => {
                let cell = table.cell(cell_at(pieces, within)?)?;
                Some(RowPosition::in_label(&cell, row, hit.bytes.start))
            }
            Block::Formula(_) | Block::Still => None,
        }
    }

    /// Takes the theme's colours and measures.
    pub fn recolour(&self, tags: &Tags) {
        for block in &self.blocks {
            match block {
                Block::Prose(prose, laid_out) => {
                    prose.recolour(tags);
                    laid_out.measure_again();
                }
                Block::Code(code) => code.recolour(),
                Block::Formula(formula) => formula.recolour(),
                Block::Table(..) | Block::Still => {}
            }
        }
    }

    /// The project has other files.
    pub fn mark_files(&self) {
        for block in &self.blocks {
            match block {
                Block::Prose(prose, _) => prose.mark_files(),
                Block::Table(table, _) => table.mark_files(),
                Block::Code(_) | Block::Formula(_) | Block::Still => {}
            }
        }
    }
}

/// The lines of prose, as they are typed.
fn lines(pieces: &[Piece]) -> String {
    let mut out = String::new();
    for piece in pieces {
        let Piece::Line(line) = piece else { continue };
        out.extend(line.runs.iter().map(|run| run.text.as_str()));
        out.push('\n');
    }
    out
}

/// A block that wants to be as wide as the lines of its text: a `TextView` wants nothing.
fn as_wide(block: &impl IsA<gtk::Widget>, text: &gtk::TextView, lines: String) -> gtk::Box {
    let root = gtk::Box::new(gtk::Orientation::Vertical, 0);
    root.append(block);
    root.set_layout_manager(Some(layout::manager(AsWide { text: text.downgrade(), lines })));
    root
}

struct AsWide {
    text: glib::WeakRef<gtk::TextView>,
    lines: String,
}

impl Layout for AsWide {
    fn measure(
        &self,
        widget: &gtk::Widget,
        orientation: gtk::Orientation,
        for_size: i32,
    ) -> (i32, i32) {
        let Some(child) = widget.first_child() else { return (0, 0) };
        if orientation == gtk::Orientation::Vertical {
            let height = height_of(&child, for_size);
            return (height, height);
        }
        let (least, wanted) = width_of(&child);
        // In the letters of the text itself.
        let Some(text) = self.text.upgrade() else { return (least, wanted) };
        let lines = text.create_pango_layout(Some(&self.lines));
        (least, wanted.max(lines.pixel_size().0 + ROOM))
    }
}
