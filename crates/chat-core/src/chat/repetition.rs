//! Detects a model that repeats itself, while its text arrives. Pure: the verdict depends on the
//! text alone, however that is cut into pieces.
//!
//! Three observers read along. What a person may well have asked for (tables, logs, code, dumps,
//! refrains, a line a hundred times) repeats, too: so each has bounds that such texts do not reach.
//! The corpus in `tests/repetition` holds them to it.

mod exact;
mod units;
mod words;

use exact::Exact;
use units::Units;
use words::Words;

/// A text that goes round in circles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectedLoop {
    /// From which byte on nothing new was said. What stands before is worth keeping.
    pub from: usize,
}

impl DetectedLoop {
    /// The same circle where it goes on, from where it began.
    fn still(before: Option<Self>, now: Option<Self>) -> Option<Self> {
        now.map(|now| before.unwrap_or(now))
    }
}

/// Reads along while a text grows. Below a microsecond a byte; its memory is bounded.
#[derive(Debug, Default)]
pub struct Repetition {
    exact: Exact,
    units: Units,
    words: Words,
}

impl Repetition {
    /// Reads more of the text, and says whether its end goes round in circles.
    pub fn read(&mut self, more: &str) -> Option<DetectedLoop> {
        let exact = self.exact.read(more.as_bytes());
        let units = self.units.read(more);
        let words = self.words.read(more);
        exact.or(units).or(words)
    }
}

#[cfg(test)]
mod tests;
