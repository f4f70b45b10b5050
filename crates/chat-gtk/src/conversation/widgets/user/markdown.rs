//! Draws the Markdown that a person wrote, by the widgets that show replies, and as wide as its text.

use std::cell::{OnceCell, RefCell};

use gettextrs::gettext;
use gtk::prelude::*;

use super::LONG;
use super::text_width::TextWidth;
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
use crate::markdown::flow::Piece;

/// Space between two blocks, in pixels.
const GAP: i32 = 8;

/// Markdown that does not change. Of a long text the rest is drawn once somebody wants to see it.
pub struct Markdown {
    root: gtk::Box,
    first: Vec<Block>,
    rest: OnceCell<Vec<Block>>,
    /// What is not drawn yet.
    undrawn: RefCell<Vec<(SegmentKind, Vec<Piece>)>>,
    has_table: bool,
    /// What is marked.
    marked: RefCell<(Vec<Hit>, Option<usize>, MatchColours)>,
    context: WidgetContext,
}

enum Block {
    Prose(Prose, LaidOut, TextWidth),
    Code(CodeBlock, TextWidth),
    Table(TableBlock, Vec<Piece>),
    Formula(FormulaBlock),
    /// What has no text.
    Still(gtk::Widget),
}

impl Block {
    fn new(kind: SegmentKind, pieces: &[Piece], context: &WidgetContext) -> Self {
        match (kind, pieces) {
            (SegmentKind::Prose { .. }, pieces) => {
                let prose = Prose::new(&context.tags, &context.links);
                prose.update(pieces);
                let view = prose.widget();
                accessible::set_label(view, &gettext("Your Message"));
                let laid_out = LaidOut::new(view);
                let width = TextWidth::new(laid_out.widget(), view, pieces, &context.tags);
                Self::Prose(prose, laid_out, width)
            }
            (SegmentKind::Code, [Piece::Code(piece)]) => {
                let code = CodeBlock::new(&context.tags, &context.code_blocks, &context.hold, None);
                code.update(piece, false);
                let width = TextWidth::new(code.widget(), code.text_view(), pieces, &context.tags);
                Self::Code(code, width)
            }
            (SegmentKind::Table, pieces) => {
                let table = TableBlock::new(&context.links);
                if let [Piece::Grid(grid)] = pieces {
                    table.update(grid);
                }
                Self::Table(table, pieces.to_vec())
            }
            (SegmentKind::Formula, [Piece::Formula(piece)]) => {
                let formula = FormulaBlock::new(&context.tags);
                formula.update(piece);
                Self::Formula(formula)
            }
            (SegmentKind::Picture, [Piece::Picture(piece)]) => {
                let picture = PictureBlock::new(context);
                picture.update(piece);
                Self::Still(picture.widget().clone().upcast())
            }
            _ => Self::Still(gtk::Separator::new(gtk::Orientation::Horizontal).upcast()),
        }
    }

    fn widget(&self) -> &gtk::Widget {
        match self {
            Self::Prose(_, _, width) | Self::Code(_, width) => width.widget().upcast_ref(),
            Self::Table(table, _) => table.widget().upcast_ref(),
            Self::Formula(formula) => formula.widget().upcast_ref(),
            Self::Still(widget) => widget,
        }
    }

    /// Marks those of these places that are in this segment, and nothing else.
    fn highlight(&self, at: usize, hits: &[Hit], current: Option<usize>, colours: MatchColours) {
        let (mut of_block, mut now) = (Vec::new(), None);
        for (index, hit) in hits.iter().enumerate() {
            let Some((_, within)) = hit.cell.filter(|(segment, _)| *segment == at) else {
                continue;
            };
            if current == Some(index) {
                now = Some(of_block.len());
            }
            let cell = match self {
                Self::Table(_, pieces) => cell_at(pieces, within),
                _ => None,
            };
            of_block.push(Hit { cell, ..hit.clone() });
        }
        match self {
            Self::Prose(prose, ..) => {
                highlight_buffer(&prose.widget().buffer(), &of_block, now, colours);
            }
            Self::Code(code, _) => {
                highlight_buffer(&code.text_view().buffer(), &of_block, now, colours);
            }
            Self::Table(table, _) => table.highlight(&of_block, now, colours),
            Self::Formula(formula) => formula.highlight(&of_block, now, colours),
            Self::Still(_) => {}
        }
    }
}

impl Markdown {
    /// Shows this text, or its beginning.
    pub fn new(text: &ReplyText, context: &WidgetContext) -> Self {
        let root = gtk::Box::new(gtk::Orientation::Vertical, GAP);
        let (mut first, mut undrawn, mut letters) = (Vec::new(), Vec::new(), 0);
        for (at, segment) in text.segments().iter().enumerate() {
            let pieces = text.pieces(at);
            if letters > LONG {
                undrawn.push((segment.kind, pieces.to_vec()));
                continue;
            }
            letters += length(pieces);
            let block = Block::new(segment.kind, pieces, context);
            root.append(block.widget());
            first.push(block);
        }
        let has_table = text.segments().iter().any(|segment| segment.kind == SegmentKind::Table);
        Self {
            root,
            first,
            rest: OnceCell::new(),
            undrawn: RefCell::new(undrawn),
            has_table,
            marked: RefCell::default(),
            context: context.clone(),
        }
    }

    /// Whether some of it is not drawn yet.
    pub fn has_more(&self) -> bool {
        !self.undrawn.borrow().is_empty()
    }

    /// Draws the rest.
    pub fn draw_rest(&self) {
        let undrawn = self.undrawn.take();
        if undrawn.is_empty() {
            return;
        }
        let rest = undrawn.iter().map(|(kind, pieces)| Block::new(*kind, pieces, &self.context));
        let rest = self.rest.get_or_init(|| rest.collect());
        let (hits, current, colours) = &*self.marked.borrow();
        for (at, block) in rest.iter().enumerate() {
            self.root.append(block.widget());
            block.highlight(self.first.len() + at, hits, *current, *colours);
        }
    }

    /// All that is drawn.
    fn blocks(&self) -> impl Iterator<Item = &Block> {
        self.first.iter().chain(self.rest.get().into_iter().flatten())
    }

    /// The widget.
    pub fn widget(&self) -> &gtk::Box {
        &self.root
    }

    /// What shows its text, block by block, as far as it is drawn.
    pub fn surfaces(&self) -> Vec<TextSurface<'_>> {
        fn surface(block: &Block) -> TextSurface<'_> {
            match block {
                Block::Prose(prose, ..) => TextSurface::Prose(prose),
                Block::Code(code, _) => TextSurface::Code(code),
                Block::Table(table, _) => TextSurface::Table(table),
                Block::Formula(formula) => TextSurface::Formula(formula),
                Block::Still(_) => TextSurface::Still,
            }
        }
        self.blocks().map(surface).collect()
    }

    /// Whether a table in it needs all the room.
    pub fn has_table(&self) -> bool {
        self.has_table
    }

    /// Gives its first text the keyboard. Whether there is one.
    pub fn focus(&self) -> bool {
        self.blocks().any(|block| match block {
            Block::Prose(prose, ..) => prose.widget().grab_focus(),
            Block::Code(code, _) => code.text_view().grab_focus(),
            Block::Table(..) | Block::Formula(_) | Block::Still(_) => false,
        })
    }

    /// Marks what was found, and nothing else.
    pub fn highlight(&self, hits: &[Hit], current: Option<usize>, colours: MatchColours) {
        if self.has_more() {
            self.marked.replace((hits.to_vec(), current, colours));
        }
        for (at, block) in self.blocks().enumerate() {
            block.highlight(at, hits, current, colours);
        }
    }

    /// Where a place stands in the row.
    pub fn position(&self, hit: &Hit, row: &gtk::Widget) -> Option<RowPosition> {
        let (segment, within) = hit.cell?;
        match self.blocks().nth(segment)? {
            Block::Prose(prose, ..) => {
                Some(RowPosition::in_text(prose.widget(), row, hit.letters.start))
            }
            Block::Code(code, _) => {
                Some(RowPosition::in_text(code.text_view(), row, hit.letters.start))
            }
            Block::Table(table, pieces) => {
                let cell = table.cell(cell_at(pieces, within)?)?;
                Some(RowPosition::in_label(&cell, row, hit.bytes.start))
            }
            Block::Formula(_) | Block::Still(_) => None,
        }
    }

    /// Takes the theme's colours and measures.
    pub fn recolour(&self, tags: &Tags) {
        for block in self.blocks() {
            match block {
                Block::Prose(prose, laid_out, width) => {
                    prose.recolour(tags);
                    laid_out.measure_again();
                    width.measure_again();
                }
                Block::Code(code, width) => {
                    code.recolour();
                    width.measure_again();
                }
                Block::Formula(formula) => formula.recolour(),
                Block::Table(..) | Block::Still(_) => {}
            }
        }
    }

    /// The project has other files.
    pub fn mark_files(&self) {
        for block in self.blocks() {
            match block {
                Block::Prose(prose, ..) => prose.mark_files(),
                Block::Table(table, _) => table.mark_files(),
                Block::Code(..) | Block::Formula(_) | Block::Still(_) => {}
            }
        }
    }
}

/// How long the text of a segment is, in bytes.
fn length(pieces: &[Piece]) -> usize {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Line(line) => line.runs.iter().map(|run| run.text.len()).sum(),
            Piece::Code(code) => code.text.len(),
            Piece::Grid(grid) => {
                let runs = grid.rows.iter().flatten().flatten();
                runs.map(|run| run.text.len()).sum()
            }
            _ => 0,
        })
        .sum()
}
