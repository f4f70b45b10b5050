//! Parses a text that grows.
//!
//! A block is finished once another one begins below it on a complete line: nothing that comes
//! later can change it, except a link definition, which gives links above it an address. So the
//! source is cut before the last block, and only what follows the cut is parsed again. Two kinds of
//! block that could make even the last one long are cut further: an open code fence, which is read
//! line by line, and a list, in which all items but the last two are finished.
//!
//! Any other long block (a paragraph, a quotation, a table, a list within an item) is parsed again
//! only once it has grown by an eighth, so that the total cost is proportional to the length of the
//! text, whatever its shape. Until then the blocks lag behind the source: [`Stream::unread`] is the
//! part that they do not contain yet. [`Stream::settle`] parses it; the blocks are then exactly
//! those of the whole text.

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

/// An unfinished part shorter than this, in bytes, is parsed for every piece that arrives: it takes
/// some tens of microseconds.
const SHORT: usize = 2_000;
/// A longer part is parsed again when it has grown by one part in this many.
const GROWTH: usize = 8;
/// How far from its end the parsed text is searched for a blank line, in bytes.
const BLANK: usize = 64;

/// A position in the blocks: a number of blocks, and of items if the next block is a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Blocks before it.
    pub block: usize,
    /// Items before it of the list that is the next block.
    pub item: usize,
}

/// A text that grows, and its blocks.
#[derive(Debug, Default)]
pub struct Stream {
    /// The text with its line endings normalized to `\n`.
    source: String,
    after_return: bool,
    /// The text before this byte was parsed and is in the blocks.
    read: usize,
    blocks: Vec<Rc<Block>>,
    /// The text before this byte is finished: it is the blocks before `finished`.
    cut: usize,
    finished: usize,
    open: Open,
    regions: Vec<Region>,
    /// Which regions have links to a label.
    referred: HashMap<Label, Vec<usize>>,
    /// Definitions before the cut.
    known: HashMap<Label, Target>,
    /// Labels that were defined by the last piece of text.
    learnt: Vec<Label>,
    /// Definitions after the cut: they may still change.
    pending: HashMap<Label, Target>,
    /// Everything before this position is unchanged since the changes were last taken.
    unchanged: Place,
    /// Whether anything was parsed since then.
    changed: bool,
}

/// The kind of the last block, if knowing it saves parsing it again.
#[derive(Debug, Default)]
enum Open {
    #[default]
    Any,
    Fence {
        fence: Fence,
        info: String,
        /// The code of the whole lines so far.
        code: String,
        /// Where the unread lines begin.
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
    /// An item of a list that is now finished, and whose region is the whole list.
    Gone,
}

impl Stream {
    /// Creates an empty text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends text. It is parsed now, or later together with more.
    pub fn push(&mut self, text: &str) {
        self.after_return = normalise(&mut self.source, text, self.after_return);
        if self.is_due() {
            self.settle();
        }
    }

    /// Parses everything: the blocks are then those of the whole text so far.
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

    /// The text that the blocks do not contain yet.
    pub fn unread(&self) -> &str {
        &self.source[self.read..]
    }

    /// Whether it is worth parsing again.
    fn is_due(&self) -> bool {
        if matches!(self.open, Open::Fence { .. }) {
            return true;
        }
        let (new, old) = (self.unread().len(), self.read - self.cut);
        new > 0 && (new + old <= SHORT || new >= old / GROWTH || self.begins_anew())
    }

    /// Whether the unparsed text certainly ends the last block: then little remains to be parsed
    /// the next time.
    fn begins_anew(&self) -> bool {
        let open = &self.blocks[self.finished..];
        if open.len() > 1 {
            // All but the last item are finished when its first line is complete.
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
            Some(Block::Paragraph(_) | Block::Table(_) | Block::Quote(_)) => {
                behind_blanks.next().is_some()
            }
            Some(Block::List(_)) => behind_blanks.any(|text| text.starts_with(char::is_alphabetic)),
            _ => false,
        }
    }

    /// The blocks of the text that was parsed.
    pub fn blocks(&self) -> &[Rc<Block>] {
        &self.blocks
    }

    /// The text so far.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// The end of what can no longer change, except for the addresses of links.
    pub fn finished(&self) -> Place {
        let item = match &self.open {
            Open::List { items, .. } => items.len(),
            _ => 0,
        };
        Place { block: self.finished, item }
    }

    /// The position from which the blocks may have changed since the last call, if any.
    pub fn take_changed(&mut self) -> Option<Place> {
        let place = self.unchanged;
        self.unchanged = self.finished();
        std::mem::take(&mut self.changed).then_some(place)
    }

    /// Parses a part of the source with the definitions before the cut.
    fn read(&self, range: Range<usize>) -> Built {
        build(&self.source[range], &|label| self.known.get(label).cloned())
    }

    /// Parses a finished part of the source.
    fn read_part(&self, range: Range<usize>) -> Built {
        build_part(&self.source[range], &|label| self.known.get(label).cloned())
    }

    /// Parses the unfinished part for display. Returns the definitions in it.
    fn show_tail(&mut self) -> HashMap<Label, Target> {
        self.blocks.truncate(self.finished);
        let mut pending = HashMap::new();
        if let Open::Fence { fence, info, code, next } = &self.open {
            let partial = &self.source[*next..];
            let mut text = code.clone();
            // A few spaces at the end are not code yet: a closing fence may follow them.
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
