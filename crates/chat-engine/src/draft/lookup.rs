//! Finds where the newest tokens stood before.

use std::collections::HashMap;

/// So many tokens must be the same.
const SHORTEST: usize = 3;
/// More are not compared: the chances get no better.
const LONGEST: usize = 24;
/// So many places are compared, the newest first.
const PLACES: usize = 16;

/// The tokens of a prompt and its answer.
#[derive(Debug, Default)]
pub struct Lookup {
    tokens: Vec<i32>,
    /// Where the newest run of tokens of each kind ends.
    newest: HashMap<[i32; SHORTEST], usize>,
    /// For each token where the run that ends there stood before.
    earlier: Vec<Option<usize>>,
}

/// A place where the newest tokens stood before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LookupMatch {
    /// Where they end there.
    end: usize,
    /// How many are the same, [`LONGEST`] at most.
    pub length: usize,
}

impl Lookup {
    /// One more.
    pub fn push(&mut self, token: i32) {
        self.tokens.push(token);
        let run = self.tokens.last_chunk().copied();
        let at = self.tokens.len() - 1;
        self.earlier.push(run.and_then(|run| self.newest.insert(run, at)));
    }

    /// Where most of the newest tokens stood before; the newest of such places.
    pub fn find(&self) -> Option<LookupMatch> {
        let last = self.tokens.len().checked_sub(1)?;
        let places = std::iter::successors(self.earlier[last], |&at| self.earlier[at]);
        let found = places.take(PLACES).map(|end| LookupMatch { end, length: self.same(end) });
        // Of equals this keeps the first.
        found.reduce(|best, other| if other.length > best.length { other } else { best })
    }

    /// How many tokens up to this place are the same as the newest ones.
    fn same(&self, end: usize) -> usize {
        let newest = self.tokens.iter().rev().take(LONGEST);
        newest.zip(self.tokens[..=end].iter().rev()).take_while(|(a, b)| a == b).count()
    }

    /// Adds the tokens that followed a place. What repeats itself up to now is taken to go on so.
    pub fn follow(&self, found: LookupMatch, count: usize, out: &mut Vec<i32>) {
        let period = self.tokens.len() - 1 - found.end;
        let followed = &self.tokens[found.end + 1..];
        out.extend(followed.iter().cycle().take(count.min(count * period)));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lookup(tokens: &[i32]) -> Lookup {
        let mut lookup = Lookup::default();
        for &token in tokens {
            lookup.push(token);
        }
        lookup
    }

    fn follow(tokens: &[i32], count: usize) -> Vec<i32> {
        let lookup = lookup(tokens);
        let mut out = Vec::new();
        if let Some(found) = lookup.find() {
            lookup.follow(found, count, &mut out);
        }
        out
    }

    #[test]
    fn what_followed_the_same_tokens_is_found() {
        assert_eq!(follow(&[1, 2, 3, 4, 5, 9, 1, 2, 3], 2), [4, 5]);
        assert!(follow(&[1, 2, 3, 4, 9, 2, 3], 2).is_empty(), "two are too few");
        assert!(follow(&[], 2).is_empty());
    }

    #[test]
    fn of_several_places_the_one_that_is_more_alike_counts_and_then_the_newest() {
        assert_eq!(follow(&[7, 1, 2, 3, 4, 8, 1, 2, 3, 5, 7, 1, 2, 3], 1), [4]);
        assert_eq!(follow(&[8, 1, 2, 3, 4, 9, 1, 2, 3, 5, 7, 1, 2, 3], 1), [5]);
    }

    #[test]
    fn what_repeats_itself_goes_on() {
        assert_eq!(follow(&[1, 2, 1, 2, 1, 2], 5), [1, 2, 1, 2, 1]);
        assert_eq!(follow(&[1, 1, 1, 1], 3), [1, 1, 1]);
    }

    proptest! {
        #[test]
        fn what_is_found_is_as_long_as_it_says_and_there_is_no_newer_one_as_long(
            tokens in proptest::collection::vec(0..3_i32, 0..60)
        ) {
            let lookup = lookup(&tokens);
            let same = |end: usize| {
                let newest = tokens.iter().rev();
                newest.zip(tokens[..=end].iter().rev()).take_while(|(a, b)| a == b).count()
            };
            let ends = 0..tokens.len().saturating_sub(1);
            let mut places: Vec<_> = ends.filter(|&end| same(end) >= SHORTEST).collect();
            places.reverse();
            places.truncate(PLACES);
            // The last of equals is what `max_by_key` keeps.
            let best = places.iter().rev().max_by_key(|&&end| same(end).min(LONGEST));
            let found = lookup.find();
            prop_assert_eq!(found.map(|found| found.end), best.copied());
            if let Some(found) = found {
                prop_assert_eq!(found.length, same(found.end).min(LONGEST));
                let mut out = Vec::new();
                lookup.follow(found, 5, &mut out);
                let mut all = tokens.clone();
                for token in out {
                    all.push(token);
                    prop_assert_eq!(token, all[found.end + all.len() - tokens.len()]);
                }
            }
        }
    }
}
