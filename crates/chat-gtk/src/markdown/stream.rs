//! A text that grows.
//!
//! A block is finished once another begins below it on a whole line: nothing that comes later can
//! change it, but for a link definition, which gives links above it an address. So the source is
//! cut before the last block, and only what follows the cut is read again. Two things could make
//! even the last block long: an open code fence, which is read line by line, and a list, of which
//! all items but the last two are finished.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::rc::Rc;

use super::block::{Block, Item, List};
use super::build::{Built, Definition, Top, build};
use super::fence::Fence;
use super::label::{Label, Target};

/// A place in the blocks: so many blocks, and in a list behind them so many items.
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
    /// The text with its line ends made `\n`.
    source: String,
    after_return: bool,
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
    unchanged: Place,
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

    /// Adds text to the end.
    pub fn push(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        let before = self.source.len();
        let regions = self.regions.len();
        let after_return = self.after_return;
        self.after_return = normalise(&mut self.source, text, after_return);
        let last_line = self.source[before..].rfind('\n').map(|at| before + at + 1);
        if let Some(end) = last_line {
            self.finish_lines(end);
        }
        let pending = self.show_tail();
        self.resolve(pending, regions);
        self.unchanged = self.unchanged.min(self.finished());
    }

    /// The blocks of the text so far.
    pub fn blocks(&self) -> &[Rc<Block>] {
        &self.blocks
    }

    /// The text so far.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// What can no longer change, but for the addresses of its links.
    pub fn finished(&self) -> Place {
        let item = match &self.open {
            Open::List { items, .. } => items.len(),
            _ => 0,
        };
        Place { block: self.finished, item }
    }

    /// From where on the blocks differ from those when this was last called.
    pub fn take_changed(&mut self) -> Place {
        let place = self.unchanged;
        self.unchanged = self.finished();
        place
    }

    /// Finishes what whole lines up to `end` finish.
    fn finish_lines(&mut self, end: usize) {
        loop {
            if let Open::Fence { .. } = self.open {
                if !self.read_code(end) {
                    return;
                }
                continue;
            }
            let built = self.read(self.cut..end);
            self.cut_before_last(built);
            let Some(fence) = self.opened_fence(end) else { return };
            self.open = fence;
        }
    }

    /// Reads a piece of the source with the definitions that stand before the cut.
    fn read(&self, range: Range<usize>) -> Built {
        build(&self.source[range], &|label| self.known.get(label).cloned())
    }

    /// Takes whole lines of code. Whether the fence was closed, and the block is finished.
    fn read_code(&mut self, end: usize) -> bool {
        let Open::Fence { fence, info, code, next } = &mut self.open else { return false };
        while *next < end {
            let rest = &self.source[*next..end];
            let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
            let line = &rest[..length];
            *next += length;
            if fence.is_closed_by(line.trim_end_matches('\n')) {
                let block = Block::Code { info: std::mem::take(info), text: std::mem::take(code) };
                let until = *next;
                self.open = Open::Any;
                self.blocks.truncate(self.finished);
                self.finish(vec![Rc::new(block)], Vec::new(), until);
                return true;
            }
            code.push_str(line);
        }
        false
    }

    /// The block behind the cut, if it is a code block that is still open.
    fn opened_fence(&self, end: usize) -> Option<Open> {
        if matches!(self.open, Open::List { .. }) {
            return None;
        }
        let tail = &self.source[self.cut..end];
        // Blank lines may stand between the cut and the fence.
        let skipped = tail.len() - tail.trim_start_matches('\n').len();
        let first = tail[skipped..].split_inclusive('\n').next()?;
        let fence = Fence::opened_by(first.strip_suffix('\n')?)?;
        let built = build(first, &|_| None);
        let Some(Top { block: Block::Code { info, .. }, .. }) = built.tops.into_iter().next()
        else {
            return None;
        };
        let next = self.cut + skipped + first.len();
        Some(Open::Fence { fence, info, code: String::new(), next })
    }

    /// Finishes everything before the last block or definition of what was read from the cut on.
    fn cut_before_last(&mut self, built: Built) {
        let base = self.cut;
        let at = last_cut(&self.source[base..], &built);
        let Built { tops, definitions } = built;
        let (done, rest): (Vec<Top>, Vec<Top>) =
            tops.into_iter().partition(|top| top.range.start < at);
        if at > 0 {
            self.learn(definitions.into_iter().filter(|d| d.start < at));
            self.finish_tops(done, base + at);
        }
        if let [list @ Top { block: Block::List(_), .. }] = rest.as_slice() {
            self.finish_items(list, base + at, base);
        }
    }

    /// Takes definitions that can no longer change. The first of a label is the one that holds.
    fn learn(&mut self, definitions: impl Iterator<Item = Definition>) {
        for Definition { label, target, .. } in definitions {
            if let Entry::Vacant(place) = self.known.entry(label) {
                self.learnt.push(place.key().clone());
                place.insert(target);
            }
        }
    }

    /// These blocks are finished, and end at this byte.
    fn finish_tops(&mut self, tops: Vec<Top>, until: usize) {
        self.blocks.truncate(self.finished);
        let mut labels = Vec::new();
        let mut blocks = Vec::with_capacity(tops.len());
        let mut from = None;
        let open = std::mem::take(&mut self.open);
        if let Open::List { start, from: begin, items, loose, labels: old } = open {
            self.forget_items();
            from = Some(begin);
            labels = old;
            let mut tops = tops.into_iter();
            if let Some(Top { block: Block::List(tail), labels: more, .. }) = tops.next() {
                labels.extend(more);
                let items = items.into_iter().chain(tail.items).collect();
                let list = List { start, tight: tail.tight && !loose, items };
                blocks.push(Rc::new(Block::List(list)));
            }
            for top in tops {
                labels.extend(top.labels);
                blocks.push(Rc::new(top.block));
            }
        } else {
            for top in tops {
                labels.extend(top.labels);
                blocks.push(Rc::new(top.block));
            }
        }
        if let Some(from) = from {
            self.cut = from;
        }
        self.finish(blocks, labels, until);
    }

    /// Adds finished blocks: the source from the cut until this byte.
    fn finish(&mut self, blocks: Vec<Rc<Block>>, labels: Vec<Label>, until: usize) {
        let what = What::Blocks { first: self.finished, count: blocks.len() };
        self.finished += blocks.len();
        self.blocks.extend(blocks);
        self.region(self.cut..until, what, labels);
        self.cut = until;
    }

    /// Remembers a region that has links by label.
    fn region(&mut self, range: Range<usize>, what: What, labels: Vec<Label>) {
        if labels.is_empty() {
            return;
        }
        let index = self.regions.len();
        for label in labels {
            let regions = self.referred.entry(label).or_default();
            if regions.last() != Some(&index) {
                regions.push(index);
            }
        }
        self.regions.push(Region { range, what });
    }

    /// The list that stands alone behind the cut has finished items if it has three.
    fn finish_items(&mut self, top: &Top, cut: usize, base: usize) {
        let Block::List(list) = &top.block else { return };
        if list.items.len() < 3 || top.items.len() != list.items.len() {
            return;
        }
        let keep = list.items.len() - 2;
        // Without text directly in an item it does not show whether the list is tight.
        if !top.items[keep..].iter().any(|item| item.shows_tightness) {
            return;
        }
        let starts: Vec<usize> =
            top.items.iter().map(|item| base + line_start(&self.source[base..], item.at)).collect();
        if !matches!(self.open, Open::List { .. }) {
            self.open = Open::List {
                start: list.start,
                from: cut,
                items: Vec::new(),
                loose: false,
                labels: Vec::new(),
            };
        }
        let until = starts[keep];
        // Every item is a region of its own, so that a definition has only those read again that
        // refer to it. Which labels are whose is found by reading them once more, and only where
        // there are any.
        for (index, item) in list.items[..keep].iter().enumerate() {
            let range = starts[index]..starts[index + 1];
            let labels = if top.labels.is_empty() {
                Vec::new()
            } else {
                self.read(range.clone()).tops.into_iter().flat_map(|top| top.labels).collect()
            };
            let Open::List { items, labels: all, .. } = &mut self.open else { return };
            let place = items.len();
            items.push(Rc::clone(item));
            all.extend(labels.iter().cloned());
            self.region(range, What::Item(place), labels);
        }
        let definitions = self.read(self.cut..until).definitions;
        self.learn(definitions.into_iter());
        if let Open::List { loose, .. } = &mut self.open {
            *loose |= !list.tight;
        }
        self.cut = until;
    }

    /// The items of the list that is now finished are no regions of their own any more.
    fn forget_items(&mut self) {
        for region in self.regions.iter_mut().rev() {
            match region.what {
                What::Item(_) => region.what = What::Gone,
                What::Gone => {}
                What::Blocks { .. } => break,
            }
        }
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

/// Where what is finished ends: before the last block or definition that stands at the outermost
/// level and would be read the same if nothing stood before it.
fn last_cut(source: &str, built: &Built) -> usize {
    let inside = |at: usize| built.tops.iter().any(|top| top.range.contains(&at));
    let definitions = built.definitions.iter().map(|d| d.start).filter(|at| !inside(*at)).rev();
    let definition = definitions.map(|start| line_start(source, start)).find(|&at| {
        let line = &source[at..];
        !line.starts_with("    ") && !line.trim_start_matches(' ').starts_with('\t')
    });
    let ends = built.tops.iter().rev().skip(1).map(|top| top.end).chain([0]);
    let starts = built.tops.iter().rev().map(|top| line_start(source, top.range.start));
    let block = starts.zip(ends).find_map(|(at, end)| {
        // What stands in between is a definition. What follows it without a blank line is read as
        // if a paragraph went on.
        let between = source.get(end..at).unwrap_or_default();
        let line_before = between.lines().next_back().unwrap_or_default();
        line_before.trim().is_empty().then_some(at)
    });
    definition.max(block).unwrap_or(0)
}

/// Where the line of this byte begins.
fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Adds text with every kind of line end made `\n`, and without the one character that the
/// specification forbids. `after_return`: whether the text before ended in a carriage return;
/// the answer says the same of this one.
pub fn normalise(source: &mut String, text: &str, after_return: bool) -> bool {
    let text = if after_return { text.strip_prefix('\n').unwrap_or(text) } else { text };
    let mut rest = text;
    while let Some(at) = rest.find(['\r', '\0']) {
        source.push_str(&rest[..at]);
        if rest.as_bytes()[at] == b'\0' {
            source.push('\u{FFFD}');
            rest = &rest[at + 1..];
        } else {
            source.push('\n');
            rest = &rest[at + 1..];
            if rest.is_empty() {
                return true;
            }
            rest = rest.strip_prefix('\n').unwrap_or(rest);
        }
    }
    source.push_str(rest);
    false
}

impl Stream {
    /// Gives links in finished blocks the addresses that definitions have now. Regions from
    /// `recent` on were finished just now, perhaps with a definition that has changed since.
    fn resolve(&mut self, pending: HashMap<Label, Target>, recent: usize) {
        let before = std::mem::replace(&mut self.pending, pending);
        let learnt = std::mem::take(&mut self.learnt);
        if self.referred.is_empty() {
            return;
        }
        let mut stale = Vec::new();
        for label in before.keys().chain(self.pending.keys()).chain(&learnt) {
            let Some(regions) = self.referred.get(label) else { continue };
            let now = self.known.get(label).or_else(|| self.pending.get(label));
            let held = self.known.contains_key(label) && !learnt.contains(label);
            if !held && before.get(label) != now {
                stale.extend_from_slice(regions);
            }
        }
        if !self.pending.is_empty() || !learnt.is_empty() {
            stale.extend(recent..self.regions.len());
        }
        stale.sort_unstable();
        stale.dedup();
        for index in stale {
            self.read_again(index);
        }
    }

    fn read_again(&mut self, index: usize) {
        let Region { range, what } = &self.regions[index];
        let (what, range) = (*what, range.clone());
        if matches!(what, What::Gone) {
            return;
        }
        let resolve =
            |label: &Label| self.known.get(label).or_else(|| self.pending.get(label)).cloned();
        let tops = build(&self.source[range], &resolve).tops;
        match what {
            What::Blocks { first, count } if tops.len() == count => {
                for (at, top) in (first..).zip(tops) {
                    if *self.blocks[at] != top.block {
                        self.blocks[at] = Rc::new(top.block);
                        self.unchanged = self.unchanged.min(Place { block: at, item: 0 });
                    }
                }
            }
            What::Item(at) => self.replace_item(at, tops),
            _ => {}
        }
    }

    fn replace_item(&mut self, at: usize, tops: Vec<Top>) {
        let Some(Top { block: Block::List(list), .. }) = tops.into_iter().next() else { return };
        let Some(item) = list.items.into_iter().next() else { return };
        let Open::List { items, .. } = &mut self.open else { return };
        if *items[at] == *item {
            return;
        }
        items[at] = Rc::clone(&item);
        if let Some(Block::List(shown)) = self.blocks.get_mut(self.finished).map(Rc::make_mut) {
            shown.items[at] = item;
        }
        let place = Place { block: self.finished, item: at };
        self.unchanged = self.unchanged.min(place);
    }
}

#[cfg(test)]
mod tests;
