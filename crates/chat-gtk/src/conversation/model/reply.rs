//! Splits the text of a reply into rows: texts, code blocks and tables.
//!
//! While a long block grows its end may be shown as plain text for a while (see
//! [`Stream`]). Once two frames brought nothing new, everything is as the whole text says.
//!
//! Parsed text takes ten times the memory of its source. So a text that has ended keeps only its
//! source and its pieces, and the pieces can be forgotten while nobody is near.

use std::cell::OnceCell;
use std::ops::Range;

use crate::markdown::flow::{self, Gap, Piece};
use crate::markdown::{AlertKind, Block, BlockPosition, Stream};

/// The most bytes of prose in one text. Longer prose goes on in another one, so that what grows
/// stays small.
const MOST_BYTES: usize = 6_000;
/// The most paragraphs in one text: GTK keeps the layout of so many at hand.
const MOST_LINES: usize = 60;

/// Frames without new text after which everything is read.
const PAUSE: u8 = 2;

/// A text that may grow, as segments.
#[derive(Default)]
pub struct ReplyText {
    stream: Stream,
    /// What arrived and was not read yet.
    pending: String,
    /// Whether no more text comes.
    ended: bool,
    length: usize,
    /// Frames since text arrived.
    quiet: u8,
    pieces: Vec<Piece>,
    /// Where the pieces begin that hold text that was not read as Markdown yet, and the piece that
    /// stood there.
    lag: Option<(usize, Piece)>,
    /// Where blocks, and items of lists, begin among the pieces.
    marks: Vec<(BlockPosition, usize)>,
    segments: Vec<Segment>,
    /// For every segment, when it was made.
    revisions: Vec<u64>,
    /// Counts how often segments were made.
    revision: u64,
    /// The text, once it has ended and everything was read. Then nothing is left above but segments.
    finished: Option<Finished>,
}

/// A text that has ended.
struct Finished {
    source: Box<str>,
    /// Empty while nobody needs them.
    pieces: OnceCell<Vec<Piece>>,
}

impl Finished {
    fn pieces(&self) -> &[Piece] {
        self.pieces.get_or_init(|| {
            let mut text = ReplyText::default();
            text.push(&self.source);
            text.end();
            text.read();
            text.pieces
        })
    }
}

/// Pieces that are shown by one widget.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// What shows them.
    pub kind: SegmentKind,
    /// Which pieces.
    pub range: Range<usize>,
}

/// What shows pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// A text, for lines of as many quotations.
    Prose { quotes: u8, alert: Option<AlertKind> },
    /// A code block.
    Code,
    /// A table.
    Table,
    /// A formula on its own.
    Formula,
    /// A picture.
    Picture,
    /// A part that is folded.
    Details,
    /// A line across.
    Rule,
}

impl ReplyText {
    /// Adds text to the end; it is read with the next [`update`](Self::update).
    pub fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some(finished) = self.finished.take() {
            self.pending = finished.source.into();
        }
        self.pending.push_str(text);
        self.length += text.len();
    }

    /// No more text comes: what could have become something else by it is what it is.
    pub fn end(&mut self) {
        self.ended = true;
    }

    /// More text comes after all.
    pub fn reopen(&mut self) {
        self.ended = false;
    }

    /// How many bytes there are, read or not.
    pub fn len(&self) -> usize {
        self.length
    }

    /// Reads what arrived: once a frame. Gives the first segment that may have changed.
    pub fn update(&mut self) -> usize {
        let changed = self.read();
        if self.ended && self.finished.is_none() && self.is_settled() {
            self.finish();
        }
        changed
    }

    /// Drops what only a growing text needs.
    fn finish(&mut self) {
        let source = std::mem::take(&mut self.stream).into_source().into_boxed_str();
        let pieces = OnceCell::from(std::mem::take(&mut self.pieces));
        self.finished = Some(Finished { source, pieces });
        self.pending = String::new();
        self.lag = None;
        self.marks = Vec::new();
        self.segments.shrink_to_fit();
        self.revisions.shrink_to_fit();
    }

    /// Drops the pieces of a text that has ended. They are made again when they are needed.
    pub fn forget_pieces(&mut self) {
        if let Some(finished) = &mut self.finished {
            finished.pieces.take();
        }
    }

    /// Whether its pieces are in memory.
    #[cfg(test)]
    pub fn has_pieces(&self) -> bool {
        match &self.finished {
            Some(finished) => finished.pieces.get().is_some(),
            None => !self.pieces.is_empty(),
        }
    }

    /// Reads a whole text.
    pub fn of(text: &str) -> Self {
        let mut reply = Self::default();
        reply.push(text);
        reply.end();
        loop {
            reply.update();
            if reply.is_settled() {
                return reply;
            }
        }
    }

    fn read(&mut self) -> usize {
        let ready = self.pending.len() - self.held();
        if ready > 0 {
            self.quiet = 0;
            self.stream.push(&self.pending[..ready]);
            self.pending.drain(..ready);
        } else if self.is_settled() {
            return self.segments.len();
        } else {
            self.quiet += 1;
            if self.quiet < PAUSE {
                return self.segments.len();
            }
            self.stream.settle();
        }
        let changed = self.flow();
        self.segment(changed)
    }

    /// Whether everything is shown as the whole text says. Otherwise [`update`](Self::update) is
    /// to be called in the next frame, too.
    pub fn is_settled(&self) -> bool {
        self.pending.len() == self.held() && self.stream.unread().is_empty()
    }

    /// How many bytes at the end are not read yet since the letters to come say what they are: a
    /// line that is only signs so far would be a heading's underline for a moment, or half a fence.
    fn held(&self) -> usize {
        if self.ended {
            return 0;
        }
        let line = match self.pending.rfind('\n') {
            Some(end) => &self.pending[end + 1..],
            None if self.stream.source().is_empty() || self.stream.source().ends_with('\n') => {
                &self.pending
            }
            None => return 0,
        };
        if is_undecided(line) { line.len() } else { 0 }
    }

    /// Adds the text, as the model wrote it, to a text.
    pub fn add_source(&self, out: &mut String) {
        if let Some(finished) = &self.finished {
            out.push_str(&finished.source);
        }
        out.push_str(self.stream.source());
        out.push_str(&self.pending);
    }

    /// The segments.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// The pieces of a segment.
    pub fn pieces(&self, segment: usize) -> &[Piece] {
        let Some(segment) = self.segments.get(segment) else { return &[] };
        let pieces = self.finished.as_ref().map_or(&self.pieces[..], Finished::pieces);
        // Segments are made with the next update where text was added to one that had ended.
        pieces.get(segment.range.clone()).unwrap_or_default()
    }

    /// A number that differs where the pieces of a segment may.
    pub fn revision(&self, segment: usize) -> u64 {
        self.revisions.get(segment).copied().unwrap_or_default()
    }

    /// Makes the pieces of changed blocks again. Gives the first that may have changed.
    fn flow(&mut self) -> usize {
        let lagged = self.lag.take().map(|(at, piece)| {
            self.pieces.truncate(at);
            self.pieces.push(piece);
            at
        });
        let made = self.make_pieces();
        let mut changed = made.min(lagged.unwrap_or(made));
        let unread = self.stream.unread();
        if !unread.is_empty()
            && let Some(last) = self.pieces.last()
        {
            let at = self.pieces.len() - 1;
            self.lag = Some((at, last.clone()));
            flow::go_on(&mut self.pieces, unread);
            changed = changed.min(at);
        }
        changed
    }

    /// Makes the pieces of blocks that were read.
    fn make_pieces(&mut self) -> usize {
        let Some(place) = self.stream.take_changed() else { return self.pieces.len() };
        let keep = self.marks.partition_point(|(mark, _)| *mark <= place).saturating_sub(1);
        let (from, start) = self.marks.get(keep).copied().unwrap_or_default();
        self.marks.truncate(keep);
        self.pieces.truncate(start);
        for (index, block) in self.stream.blocks().iter().enumerate().skip(from.block) {
            let Block::List(list) = &**block else {
                self.marks.push((BlockPosition { block: index, item: 0 }, self.pieces.len()));
                flow::block_pieces(block, &mut self.pieces);
                continue;
            };
            let first = if index == from.block { from.item } else { 0 };
            for item in first..list.items.len() {
                self.marks.push((BlockPosition { block: index, item }, self.pieces.len()));
                flow::item_pieces(list, item, &mut self.pieces);
            }
        }
        start
    }

    /// Makes segments of the pieces from this one on. Gives the first that may have changed.
    fn segment(&mut self, changed: usize) -> usize {
        while self.segments.pop_if(|segment| segment.range.end >= changed).is_some() {}
        let first = self.segments.len();
        let from = self.segments.last().map_or(0, |segment| segment.range.end);
        let mut bytes = 0;
        for (index, piece) in self.pieces.iter().enumerate().skip(from) {
            let kind = kind_of(piece);
            let size = size_of(piece);
            if let SegmentKind::Prose { .. } = kind
                && let Some(last) = self.segments[first..].last_mut()
                && last.kind == kind
                && bytes + size <= MOST_BYTES
                && last.range.len() < MOST_LINES
            {
                last.range.end = index + 1;
                bytes += size;
                continue;
            }
            bytes = size;
            self.segments.push(Segment { kind, range: index..index + 1 });
        }
        self.revision += 1;
        self.revisions.truncate(first);
        self.revisions.resize(self.segments.len(), self.revision);
        first
    }
}

/// Whether what this line is depends on the letters to come.
fn is_undecided(line: &str) -> bool {
    let mut rest = line.trim_start_matches([' ', '\t', '>']);
    loop {
        let Some(sign) = rest.chars().next() else { return !line.is_empty() };
        let repeated = rest.trim_start_matches(sign).is_empty();
        match sign {
            '`' | '~' => return repeated && rest.len() < 3,
            '-' | '=' | '*' | '+' | '_' | '#' if rest.chars().all(|c| c == sign || c == ' ') => {
                return true;
            }
            '-' | '*' | '+' | '0'..='9' => {
                // Behind the mark of an item the same may stand.
                let number = rest.trim_start_matches(|c: char| c.is_ascii_digit());
                let mark = number.trim_start_matches(['-', '*', '+', '.', ')']);
                if mark.is_empty() {
                    // The number of an item has nine digits at most.
                    return number.len() < 2 && rest.len() - number.len() <= 9;
                }
                if mark.len() + 1 != number.len() || !mark.starts_with(' ') {
                    return false;
                }
                rest = mark.trim_start();
            }
            _ => return false,
        }
    }
}

/// What is to be left free above a piece.
pub fn gap_of(piece: &Piece) -> Gap {
    match piece {
        Piece::Line(line) => line.gap,
        _ => Gap::Block,
    }
}

fn kind_of(piece: &Piece) -> SegmentKind {
    match piece {
        Piece::Line(line) => {
            SegmentKind::Prose { quotes: line.indent.quotes, alert: line.indent.alert }
        }
        Piece::Code(_) => SegmentKind::Code,
        Piece::Grid(_) => SegmentKind::Table,
        Piece::Formula(_) => SegmentKind::Formula,
        Piece::Picture(_) => SegmentKind::Picture,
        Piece::Details(_) => SegmentKind::Details,
        Piece::Rule(_) => SegmentKind::Rule,
    }
}

fn size_of(piece: &Piece) -> usize {
    match piece {
        Piece::Line(line) => line.runs.iter().map(|run| run.text.len()).sum(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests;
