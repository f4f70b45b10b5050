//! Finds circles of agents that wait for each other.

use std::collections::{HashMap, HashSet};

use crate::message::Fid;

/// Which sessions wait for which others, and how often.
#[derive(Debug, Default)]
pub(super) struct Waits(HashMap<Fid, HashMap<Fid, usize>>);

impl Waits {
    pub(super) fn add(&mut self, waiter: &Fid, target: &Fid) {
        *self.0.entry(waiter.clone()).or_default().entry(target.clone()).or_default() += 1;
    }

    pub(super) fn remove(&mut self, waiter: &Fid, target: &Fid) {
        let Some(others) = self.0.get_mut(waiter) else { return };
        super::release(others, target);
        if others.is_empty() {
            self.0.remove(waiter);
        }
    }

    pub(super) fn has(&self, waiter: &Fid, target: &Fid) -> bool {
        self.0.get(waiter).is_some_and(|targets| targets.contains_key(target))
    }

    #[cfg(test)]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The circle that would be closed if this one waited for that: from `waiter` back to `waiter`.
    pub(super) fn circle(&self, waiter: &Fid, target: &Fid) -> Option<Vec<Fid>> {
        let mut seen = HashSet::new();
        let mut paths = vec![vec![waiter.clone(), target.clone()]];
        while let Some(path) = paths.pop() {
            let last = path.last()?;
            if last == waiter {
                return Some(path);
            }
            if !seen.insert(last.clone()) {
                continue;
            }
            let next = self.0.get(last).into_iter().flat_map(HashMap::keys);
            paths.extend(next.map(|next| path.iter().chain([next]).cloned().collect()));
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fid(number: usize) -> Fid {
        Fid::new(number.to_string())
    }

    proptest! {
        /// Whatever is refused, those that wait never wait in a circle; and nothing is refused without
        /// one.
        #[test]
        fn nobody_ever_waits_for_themselves(
            steps in proptest::collection::vec((0..6_usize, 0..6_usize, any::<bool>()), 1..60)
        ) {
            let mut waits = Waits::default();
            let mut edges: Vec<(usize, usize)> = Vec::new();
            for (waiter, target, ends) in steps {
                if ends {
                    if !edges.is_empty() {
                        let (waiter, target) = edges.remove(target % edges.len());
                        waits.remove(&fid(waiter), &fid(target));
                    }
                    continue;
                }
                let reaches = |from: usize, to: usize| {
                    let mut reached = HashSet::from([from]);
                    for _ in 0..6 {
                        for (a, b) in &edges {
                            if reached.contains(a) {
                                reached.insert(*b);
                            }
                        }
                    }
                    reached.contains(&to)
                };
                let circle = waits.circle(&fid(waiter), &fid(target));
                prop_assert_eq!(circle.is_some(), reaches(target, waiter));
                if let Some(circle) = circle {
                    let ends = (circle.first(), circle.last());
                    prop_assert_eq!(ends, (Some(&fid(waiter)), Some(&fid(waiter))));
                } else {
                    waits.add(&fid(waiter), &fid(target));
                    edges.push((waiter, target));
                }
            }
        }
    }
}
