//! Resolves reference links in finished blocks when a definition further down gives them an
//! address.

use std::collections::HashMap;
use std::rc::Rc;

use super::super::block::Block;
use super::super::build::{Top, build_part};
use super::super::label::{Label, Target};
use super::{BlockPosition, Open, Region, Stream, What};

impl Stream {
    /// Updates the addresses of links in finished blocks to the current definitions. Regions from
    /// `recent` on have just been finished, perhaps with a definition that has changed since.
    pub(super) fn resolve(&mut self, pending: HashMap<Label, Target>, recent: usize) {
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
        let tops = build_part(&self.source[range], &resolve).tops;
        match what {
            What::Blocks { first, count } if tops.len() == count => {
                for (at, top) in (first..).zip(tops) {
                    if *self.blocks[at] != top.block {
                        self.blocks[at] = Rc::new(top.block);
                        self.unchanged = self.unchanged.min(BlockPosition { block: at, item: 0 });
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
        let place = BlockPosition { block: self.finished, item: at };
        self.unchanged = self.unchanged.min(place);
    }
}
