//! Learns what an evaluation of so many tokens costs on this machine.

use std::time::Duration;

use super::MOST;

/// How much the newest measurement counts.
const NEWEST: f64 = 0.15;
/// Nobody knows what one more token costs before it was measured: less than half of the first, where memory is
/// what bounds it.
const NEXT: f64 = 0.5;

/// Milliseconds of evaluations with one model.
#[derive(Clone, Debug, Default)]
pub struct Costs {
    /// Of those that write, by their tokens, less one.
    writing: [Option<f64>; MOST + 1],
    /// Of a token among many that are read.
    reading: Option<f64>,
}

impl Costs {
    /// An evaluation of so many tokens that one answer needed took so long.
    pub fn wrote(&mut self, tokens: usize, took: Duration) {
        if let Some(cost) = tokens.checked_sub(1).and_then(|at| self.writing.get_mut(at)) {
            learn(cost, took.as_secs_f64() * 1e3);
        }
    }

    /// An evaluation of so many tokens of prompts took so long.
    pub fn read(&mut self, tokens: usize, took: Duration) {
        learn(&mut self.reading, took.as_secs_f64() * 1e3 / tokens as f64);
    }

    /// What an evaluation of so many tokens costs, in evaluations of one.
    pub fn of(&self, tokens: usize) -> f64 {
        let Some(one) = self.writing[0].filter(|&one| one > 0.0) else {
            return 1.0 + NEXT * (tokens - 1) as f64;
        };
        let next = self.reading.map_or(NEXT, |reading| (reading / one).clamp(0.0, 1.0));
        let known = self.writing.iter().take(tokens).enumerate();
        let nearest = known.filter_map(|(at, &cost)| Some((at + 1, cost?))).next_back();
        let (count, cost) = nearest.unwrap_or((1, one));
        cost / one + next * (tokens - count) as f64
    }
}

fn learn(known: &mut Option<f64>, measured: f64) {
    *known = Some(known.map_or(measured, |known| known + NEWEST * (measured - known)));
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(count: u64) -> Duration {
        Duration::from_millis(count)
    }

    #[test]
    fn what_was_not_measured_is_guessed_from_what_was() {
        let mut costs = Costs::default();
        assert!((costs.of(3) - 2.0).abs() < 1e-9, "nothing is known");
        costs.wrote(1, ms(10));
        assert!((costs.of(3) - 2.0).abs() < 1e-9);
        costs.read(100, ms(300));
        assert!((costs.of(1) - 1.0).abs() < 1e-9);
        assert!((costs.of(3) - 1.6).abs() < 1e-9, "what reading takes");
        costs.wrote(3, ms(20));
        assert!((costs.of(3) - 2.0).abs() < 1e-9, "what it took");
        assert!((costs.of(5) - 2.6).abs() < 1e-9, "two more than what it took");
        costs.wrote(3, ms(40));
        assert!(costs.of(3) > 2.0 && costs.of(3) < 4.0, "one that was slow is not all");
    }

    #[test]
    fn a_count_beyond_all_drafts_is_no_matter() {
        let mut costs = Costs::default();
        costs.wrote(0, ms(1));
        costs.wrote(MOST + 2, ms(1));
        assert!(costs.of(MOST + 1) > 1.0);
    }
}
