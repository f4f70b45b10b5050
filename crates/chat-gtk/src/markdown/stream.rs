//! Parses Markdown that grows while a reply arrives.
//!
//! This is our own code because `pulldown-cmark`, which does the parsing, reads only whole texts: to
//! parse the reply so far again with each chunk would take time in the square of its length. `Stream`
//! decides how little has to be parsed again, and property tests compare it with parsing the whole.
//!
//! A block is finished once another one begins below it on a whole line. Nothing that comes later can
//! change it, except a link definition, which gives links above it an address. So the source is cut
//! before the last block, and only the text after the cut is parsed again. Two kinds of long last
//! blocks are cut further: an open code fence, which is read line by line, and a list, in which all
//! items but the last two are finished.
//!
//! Any other long block (a paragraph, a quotation, a table, a list within an item) is parsed again
//! only after it has grown by an eighth, so the cost stays in proportion to the length of the text,
//! whatever its shape. Until then the blocks lag behind the source: [`Stream::unread`] returns the
//! missing text. [`Stream::settle`] parses it, and the blocks are then exactly those of the whole text.

mod finish;
mod links;
mod normal;

use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use super::block::{Block, Item, List};
use super::build::{Built, Top, build, build_part};
use super::fence::Fence;
use super::label::{Label, Target};
pub use normal::normalise;

/// What is not finished and shorter than this, in bytes, is read with every piece that arrives: it
/// takes some tens of microseconds.
const SHORT: usize = 2_000;
/// What is longer is read again when it has grown by this part of itself.
const GROWTH: usize = 8;
/// How far before its end the text that was read is searched for a blank line, in bytes.
const BLANK: usize = 64;

/// A place in the blocks: so many blocks, and in a list behind them so many items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct BlockPosition {
    /// Blocks before it.
    pub block: usize,
    /// Items before it of the list that is the next block.
    pub item: usize,
}

/// A text that grows, and its blocks.
#[derive(Debug, Default)]
pub struct Stream {
    /// The text with its line ends made `\n`.
    source: String,
    after_return: bool,
    /// What was read lies before this byte: the blocks say it.
    read: usize,
    blocks: Vec<Rc<Block>>,
    /// What is finished lies before this byte, and is the blocks before `finished`.
    cut: usize,
    finished: usize,
    open: Open,
    regions: Vec<Region>,
    /// Which regions have links that refer to a label.
    referred: HashMap<Label, Vec<usize>>,
    /// Definitions before the cut.
    known: HashMap<Label, Target>,
    /// Labels that became known with the last piece of text.
    learnt: Vec<Label>,
    /// Definitions behind the cut: they may still change.
    pending: HashMap<Label, Target>,
    /// What is before this place is as it was when the changes were last taken.
    unchanged: BlockPosition,
    /// Whether anything was read since then.
    changed: bool,
}

/// What the last block is, where that spares reading it again.
#[derive(Debug, Default)]
enum Open {
    #[default]
    Any,
    Fence {
        fence: Fence,
        info: String,
        /// The code of the whole lines so far.
        code: String,
        /// Where the lines begin that were not looked at.
        next: usize,
    },
    List {
        start: Option<u64>,
        /// Where the list begins.
        from: usize,
        items: Vec<Rc<Item>>,
        loose: bool,
        labels: Vec<Label>,
    },
}

/// A finished piece of the source.
#[derive(Debug)]
struct Region {
    range: Range<usize>,
    what: What,
}

#[derive(Clone, Copy, Debug)]
enum What {
    Blocks {
        first: usize,
        count: usize,
    },
    /// An item of the open list.
    Item(usize),
    /// An item of a list that is finished by now, and a region as a whole.
    Gone,
}

impl Stream {
    /// An empty text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds text to the end. It is read now, or later together with more.
    pub fn push(&mut self, text: &str) {
        self.after_return = normalise(&mut self.source, text, self.after_return);
        if self.is_due() {
            self.settle();
        }
    }

    /// Reads everything: the blocks are those of the whole text so far.
    pub fn settle(&mut self) {
        if self.unread().is_empty() {
            return;
        }
        let regions = self.regions.len();
        let last_line = self.unread().rfind('\n').map(|at| self.read + at + 1);
        self.read = self.source.len();
        self.changed = true;
        if let Some(end) = last_line {
            self.finish_lines(end);
        }
        let pending = self.show_tail();
        self.resolve(pending, regions);
        self.unchanged = self.unchanged.min(self.finished());
    }

    /// The text that the blocks do not say yet.
    pub fn unread(&self) -> &str {
        &self.source[self.read..]
    }

    /// Whether reading again is worth what it costs.
    fn is_due(&self) -> bool {
        if matches!(self.open, Open::Fence { .. }) {
            return true;
        }
        let (new, old) = (self.unread().len(), self.read - self.cut);
        new > 0 && (new + old <= SHORT || new >= old / GROWTH || self.begins_anew())
    }

    /// Whether what was not read ends the last block for certain: then little remains to be read
    /// the next time.
    fn begins_anew(&self) -> bool {
        let open = &self.blocks[self.finished..];
        if open.len() > 1 {
            // All but the last are finished when its first line is whole.
            return self.unread().contains('\n');
        }
        let from = self.source.floor_char_boundary(self.read.saturating_sub(BLANK).max(self.cut));
        let from = from + self.source[from..self.read].trim_end().len();
        let new = self.source[from..].trim_end();
        if from + new.len() <= self.read {
            return false;
        }
        let mut behind_blanks = new.split("\n\n").skip(1);
        match open.last().map(|block| &**block) {
            Some(Block::Paragraph(_) | Block::Table(_) | Block::Quote(_) | Block::Alert { .. }) => {
                behind_blanks.next().is_some()
            }
            Some(Block::List(_)) => behind_blanks.any(|text| text.starts_with(char::is_alphabetic)),
            _ => false,
        }
    }

    /// The blocks of the text, as far as it was read.
    pub fn blocks(&self) -> &[Rc<Block>] {
        &self.blocks
    }

    /// The text so far.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The text, without its blocks.
    pub fn into_source(self) -> String {
        self.source
    }

    /// What can no longer change, but for the addresses of its links.
    pub fn finished(&self) -> BlockPosition {
        let item = match &self.open {
            Open::List { items, .. } => items.len(),
            _ => 0,
        };
        BlockPosition { block: self.finished, item }
    }

    /// From where on the blocks may differ from those when this was last called, if they may.
    pub fn take_changed(&mut self) -> Option<BlockPosition> {
        let place = self.unchanged;
        self.unchanged = self.finished();
        std::mem::take(&mut self.changed).then_some(place)
    }

    /// Reads a piece of the source with the definitions that stand before the cut.
    fn read(&self, range: Range<usize>) -> Built {
        build(&self.source[range], &|label| self.known.get(label).cloned())
    }

    /// Reads a piece of the source that is finished.
    fn read_part(&self, range: Range<usize>) -> Built {
        build_part(&self.source[range], &|label| self.known.get(label).cloned())
    }

    /// Reads what is not finished, for now. Gives the definitions in it.
    fn show_tail(&mut self) -> HashMap<Label, Target> {
        self.blocks.truncate(self.finished);
        let mut pending = HashMap::new();
        if let Open::Fence { fence, info, code, next } = &self.open {
            let partial = &self.source[*next..];
            let mut text = code.clone();
            // A few spaces at the end are not yet code: they may stand before the closing fence.
            let undecided = partial.len() < 4 && partial.bytes().all(|byte| byte == b' ');
            if !undecided && !fence.is_closed_by(partial) {
                text.push_str(partial);
            }
            self.blocks.push(Rc::new(Block::Code { info: info.clone(), text }));
        } else {
            let built = self.read(self.cut..self.source.len());
            for definition in built.definitions {
                pending.entry(definition.label).or_insert(definition.target);
            }
            let mut tops = built.tops.into_iter();
            if let Open::List { start, items, loose, .. } = &self.open
                && let Some(Top { block: Block::List(tail), .. }) = tops.next()
            {
                let items = items.iter().cloned().chain(tail.items).collect();
                let list = List { start: *start, tight: tail.tight && !*loose, items };
                self.blocks.push(Rc::new(Block::List(list)));
            }
            self.blocks.extend(tops.map(|top| Rc::new(top.block)));
        }
        pending
    }
}

#[cfg(test)]
mod tests;
