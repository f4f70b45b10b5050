//! Finds circles of agents that wait for each other.

use std::collections::{HashMap, HashSet};

use crate::message::Fid;

/// Who waits for whom, each as often as it does.
#[derive(Debug, Default)]
pub(super) struct Waits(HashMap<Fid, HashMap<Fid, usize>>);

impl Waits {
    pub(super) fn add(&mut self, who: &Fid, whom: &Fid) {
        *self.0.entry(who.clone()).or_default().entry(whom.clone()).or_default() += 1;
    }

    pub(super) fn remove(&mut self, who: &Fid, whom: &Fid) {
        let Some(others) = self.0.get_mut(who) else { return };
        super::release(others, whom);
        if others.is_empty() {
            self.0.remove(who);
        }
    }

    /// The circle that would be closed if this one waited for that: from `who` back to `who`.
    pub(super) fn circle(&self, who: &Fid, whom: &Fid) -> Option<Vec<Fid>> {
        let mut seen = HashSet::new();
        let mut paths = vec![vec![who.clone(), whom.clone()]];
        while let Some(path) = paths.pop() {
            let last = path.last()?;
            if last == who {
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
            for (who, whom, ends) in steps {
                if ends {
                    if !edges.is_empty() {
                        let (who, whom) = edges.remove(whom % edges.len());
                        waits.remove(&fid(who), &fid(whom));
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
                let circle = waits.circle(&fid(who), &fid(whom));
                prop_assert_eq!(circle.is_some(), reaches(whom, who));
                if let Some(circle) = circle {
                    let ends = (circle.first(), circle.last());
                    prop_assert_eq!(ends, (Some(&fid(who)), Some(&fid(who))));
                } else {
                    waits.add(&fid(who), &fid(whom));
                    edges.push((who, whom));
                }
            }
        }
    }
}
