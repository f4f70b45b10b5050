//! Chooses how long a draft may be: as long as gains most by what was right lately and by what it
//! costs here, and never more than can be lost.

use super::{Costs, MOST};

/// Tokens that are found again in a row: up to 3, 5, 8, 15, and more.
const KINDS: [usize; 4] = [3, 5, 8, 15];
/// How often the next token was right where so many before it were found again, before anything is
/// known of this text.
const GUESSES: [f64; KINDS.len() + 1] = [0.4, 0.55, 0.7, 0.8, 0.9];
/// So many trials the guess counts for.
const WEIGHT: f64 = 4.0;
/// A trial counts so much for the one after it: the newest ones count most.
const MEMORY: f64 = 0.95;
/// What may be lost: so many evaluations of one token …
const STAKE: f64 = 1.0;
/// … and such a part of all that was written.
const SHARE: f64 = 0.01;

/// What is known of the drafts of one answer. What it counts in are evaluations of one token.
#[derive(Debug, Default)]
pub struct Pace {
    kinds: [Tally; KINDS.len() + 1],
    /// What was saved, less what was lost.
    balance: f64,
    /// Tokens that were written.
    written: f64,
}

/// How often the next token of a draft was right.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    right: f64,
    tried: f64,
}

impl Pace {
    /// How many tokens are worth a try where so many before them were found again; `most` at most.
    pub fn length(&self, found: usize, most: usize, costs: &Costs) -> usize {
        let stake = self.balance + STAKE + SHARE * self.written;
        let chance = self.chance(kind(found));
        let (mut best, mut gain) = (0, 1.0);
        let (mut written, mut next) = (1.0, 1.0);
        for length in 1..=most.min(MOST) {
            next *= chance;
            written += next;
            let cost = costs.of(length + 1);
            if cost - 1.0 > stake {
                break;
            }
            if written / cost > gain {
                (best, gain) = (length, written / cost);
            }
        }
        best
    }

    /// How likely the next token is right.
    fn chance(&self, kind: usize) -> f64 {
        let Tally { right, tried } = self.kinds[kind];
        (right + WEIGHT * GUESSES[kind]) / (tried + WEIGHT)
    }

    /// Of so many tokens that were thought to come next so many were right, the first ones.
    pub fn judge(&mut self, found: usize, guessed: usize, right: usize) {
        let tally = &mut self.kinds[kind(found)];
        for at in 0..guessed.min(right + 1) {
            tally.tried = tally.tried * MEMORY + 1.0;
            tally.right = tally.right * MEMORY + f64::from(u8::from(at < right));
        }
    }

    /// An evaluation with a draft of so many tokens wrote those that were right, and the one after them.
    pub fn pay(&mut self, drafted: usize, right: usize, costs: &Costs) {
        let written = (right + 1) as f64;
        self.written += written;
        if drafted > 0 {
            self.balance += written - costs.of(drafted + 1);
        }
    }
}

fn kind(found: usize) -> usize {
    KINDS.iter().position(|&longest| found <= longest).unwrap_or(KINDS.len())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    /// Where each further token costs so many milliseconds beside 10 of the first.
    fn costs(next: u64) -> Costs {
        let mut costs = Costs::default();
        for tokens in 1..=MOST + 1 {
            costs.wrote(tokens, Duration::from_millis(10 + next * (tokens - 1) as u64));
        }
        costs
    }

    #[test]
    fn a_text_that_repeats_itself_gets_long_drafts() {
        let (costs, mut pace) = (costs(3), Pace::default());
        for _ in 0..20 {
            let length = pace.length(24, MOST, &costs);
            pace.judge(24, length, length);
            pace.pay(length, length, &costs);
        }
        assert_eq!(pace.length(24, MOST, &costs), MOST);
        assert_eq!(pace.length(24, 3, &costs), 3, "no more than there is room for");
    }

    #[test]
    fn nothing_is_tried_where_a_further_token_costs_as_much_as_the_first() {
        let (costs, mut pace) = (costs(10), Pace::default());
        for _ in 0..20 {
            assert_eq!(pace.length(24, MOST, &costs), 0);
            pace.judge(24, 1, 1);
            pace.pay(0, 0, &costs);
        }
    }

    #[test]
    fn what_was_wrong_lately_is_tried_no_more_though_other_drafts_are() {
        let (costs, mut pace) = (costs(3), Pace::default());
        for _ in 0..20 {
            pace.judge(24, 8, 8);
            pace.pay(8, 8, &costs);
        }
        for _ in 0..20 {
            pace.judge(3, 1, 0);
        }
        assert_eq!(pace.length(3, MOST, &costs), 0);
        assert_eq!(pace.length(24, MOST, &costs), MOST);
    }

    proptest! {
        /// Whatever is found and however it ends: with these costs all takes no longer than without drafts,
        /// but for one token and a hundredth.
        #[test]
        fn no_more_is_lost_than_is_staked(
            next in 0..12_u64,
            found in proptest::collection::vec((3..25_usize, 0..=MOST), 1..400),
        ) {
            let (costs, mut pace) = (costs(next), Pace::default());
            let (mut took, mut without) = (0.0, 0.0);
            for (found, right) in found {
                let length = pace.length(found, MOST, &costs);
                let right = right.min(length);
                pace.judge(found, length.max(1), right);
                pace.pay(length, right, &costs);
                took += costs.of(length + 1);
                without += (right + 1) as f64;
                prop_assert!(took <= without * (1.0 + SHARE) + STAKE + 1e-6);
            }
        }
    }
}
