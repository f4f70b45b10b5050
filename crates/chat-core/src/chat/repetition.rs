//! Notices when a model goes round in circles: while its text comes, and without looking anything
//! up. Pure: what it says depends on the text alone, however that is cut into pieces.
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
pub struct Circle {
    /// From which byte on nothing new was said. What stands before is worth keeping.
    pub from: usize,
}

/// Reads along while a text grows. Below a microsecond a byte; its memory is bounded.
#[derive(Debug, Default)]
pub struct Repetition {
    exact: Exact,
    units: Units,
    words: Words,
    noticed: Option<Circle>,
}

impl Repetition {
    /// Reads more of the text. Once it was noticed it stays so.
    pub fn read(&mut self, more: &str) -> Option<Circle> {
        if self.noticed.is_none() {
            self.noticed = self
                .exact
                .read(more.as_bytes())
                .or_else(|| self.units.read(more))
                .or_else(|| self.words.read(more));
        }
        self.noticed
    }
}

#[cfg(test)]
mod tests;
