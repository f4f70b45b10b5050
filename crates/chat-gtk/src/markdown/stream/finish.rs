//! Finishes parts of a growing text: blocks, list items, and lines of code.

use std::collections::hash_map::Entry;
use std::ops::Range;
use std::rc::Rc;

use super::super::block::{Block, List};
use super::super::build::{Built, Definition, Top, build};
use super::super::fence::Fence;
use super::super::label::Label;
use super::{Open, Region, Stream, What};

impl Stream {
    /// Finishes everything that complete lines up to `end` finish.
    pub(super) fn finish_lines(&mut self, end: usize) {
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

    /// Reads complete lines of code. Returns whether the fence was closed, which finishes the
    /// block.
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

    /// The block after the cut, if it is a code block that is still open.
    fn opened_fence(&self, end: usize) -> Option<Open> {
        if matches!(self.open, Open::List { .. }) {
            return None;
        }
        let tail = &self.source[self.cut..end];
        // There may be blank lines between the cut and the fence.
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

    /// Finishes everything before the last block or definition of what was parsed from the cut on.
    fn cut_before_last(&mut self, built: Built) {
        let base = self.cut;
        let at = last_cut(&self.source[base..], &built);
        let Built { tops, definitions, open } = built;
        let (done, rest): (Vec<Top>, Vec<Top>) =
            tops.into_iter().partition(|top| top.range.start < at);
        if at > 0 {
            self.learn(definitions.into_iter().filter(|d| d.start < at));
            self.finish_tops(done, base + at);
        }
        if let [list @ Top { block: Block::List(_), .. }] = rest.as_slice() {
            self.finish_items(list, base + at, base, open.map(|open| base + open));
        }
    }

    /// Stores definitions that can no longer change. The first one of a label wins.
    fn learn(&mut self, definitions: impl Iterator<Item = Definition>) {
        for Definition { label, target, .. } in definitions {
            if let Entry::Vacant(place) = self.known.entry(label) {
                self.learnt.push(place.key().clone());
                place.insert(target);
            }
        }
    }

    /// Finishes these blocks, which end at this byte.
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

    /// Adds finished blocks: the source from the cut to this byte.
    fn finish(&mut self, blocks: Vec<Rc<Block>>, labels: Vec<Label>, until: usize) {
        let what = What::Blocks { first: self.finished, count: blocks.len() };
        self.finished += blocks.len();
        self.blocks.extend(blocks);
        self.region(self.cut..until, what, labels);
        self.cut = until;
    }

    /// Remembers a region that has reference links.
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

    /// If a single list follows the cut, its items but the last two are finished. Nothing after
    /// `open` is certain.
    fn finish_items(&mut self, top: &Top, cut: usize, base: usize, open: Option<usize>) {
        let Block::List(list) = &top.block else { return };
        if list.items.len() < 3 || top.items.len() != list.items.len() {
            return;
        }
        let keep = list.items.len() - 2;
        // Without text directly in an item, it is unknown whether the list is tight.
        if !top.items[keep..].iter().any(|item| item.shows_tightness) {
            return;
        }
        let starts: Vec<usize> =
            top.items.iter().map(|item| base + line_start(&self.source[base..], item.at)).collect();
        if open.is_some_and(|open| open < starts[keep]) {
            return;
        }
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
        // Every item is its own region, so that a definition requires parsing only the items that
        // refer to it. Which labels belong to which item is found by parsing them once more, and
        // only if there are any.
        for (index, item) in list.items[..keep].iter().enumerate() {
            let range = starts[index]..starts[index + 1];
            let labels = if top.labels.is_empty() {
                Vec::new()
            } else {
                self.read_part(range.clone()).tops.into_iter().flat_map(|top| top.labels).collect()
            };
            let Open::List { items, labels: all, .. } = &mut self.open else { return };
            let place = items.len();
            items.push(Rc::clone(item));
            all.extend(labels.iter().cloned());
            self.region(range, What::Item(place), labels);
        }
        let definitions = self.read_part(self.cut..until).definitions;
        self.learn(definitions.into_iter());
        if let Open::List { loose, .. } = &mut self.open {
            *loose |= !list.tight;
        }
        self.cut = until;
    }

    /// The items of the finished list are no longer separate regions.
    fn forget_items(&mut self) {
        for region in self.regions.iter_mut().rev() {
            match region.what {
                What::Item(_) => region.what = What::Gone,
                What::Gone => {}
                What::Blocks { .. } => break,
            }
        }
    }
}

/// The end of what is finished: before the last top-level block or definition that would be parsed
/// the same if nothing came before it.
fn last_cut(source: &str, built: &Built) -> usize {
    let open = built.open.unwrap_or(usize::MAX);
    let inside = |at: usize| built.tops.iter().any(|top| top.range.contains(&at));
    let definitions = built.definitions.iter().map(|d| d.start).filter(|at| !inside(*at)).rev();
    let definition = definitions.map(|start| line_start(source, start)).find(|&at| {
        let line = &source[at..];
        at <= open && !line.starts_with("    ") && !line.trim_start_matches(' ').starts_with('\t')
    });
    let ends = built.tops.iter().rev().skip(1).map(|top| top.end).chain([0]);
    let starts = built.tops.iter().rev().map(|top| line_start(source, top.range.start));
    let block = starts.zip(ends).find_map(|(at, end)| {
        // There is a definition in between. Text after it without a blank line is parsed as if a
        // paragraph continued.
        let between = source.get(end..at).unwrap_or_default();
        let line_before = between.lines().next_back().unwrap_or_default();
        (at <= open && line_before.trim().is_empty()).then_some(at)
    });
    definition.max(block).unwrap_or(0)
}

/// The beginning of this byte's line.
fn line_start(source: &str, at: usize) -> usize {
    source[..at].rfind('\n').map_or(0, |end| end + 1)
}
