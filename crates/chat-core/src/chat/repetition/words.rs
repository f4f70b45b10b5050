//! Detects the same few words in ever new orders.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::DetectedLoop;

/// How many words are looked at: a text of so many has several hundred different ones, a song half
/// of these. A hundred verses that differ in a number have fewer words.
const WINDOW: usize = 3_600;

/// How many of them may be different.
const FEW: usize = 36;

/// Fewer than these are no language: notes, truth values, bases.
const FEWEST: usize = 5;

/// Longer words than these, in bytes, are data.
const LONGEST: usize = 40;

/// Counts the different words at the end of a text.
#[derive(Debug, Default)]
pub(super) struct Words {
    word: String,
    total: usize,
    /// The last words, each with the byte behind it; none for what is no word.
    last: VecDeque<(Option<u64>, usize)>,
    counts: HashMap<u64, u32>,
    none: usize,
    now: Option<DetectedLoop>,
}

impl Words {
    pub(super) fn read(&mut self, more: &str) -> Option<DetectedLoop> {
        for c in more.chars() {
            self.total += c.len_utf8();
            if !c.is_whitespace() {
                if self.word.len() <= LONGEST {
                    self.word.extend(c.to_lowercase());
                }
            } else if !self.word.is_empty() {
                let found = self.end_word();
                self.now = DetectedLoop::still(self.now, found);
            }
        }
        self.now
    }

    fn end_word(&mut self) -> Option<DetectedLoop> {
        let word = self.word.trim_matches(|c: char| c.is_ascii_punctuation());
        let is_word = !word.is_empty()
            && word.len() <= LONGEST
            && word.chars().all(|c| c.is_alphabetic() || matches!(c, '\'' | '’' | '-'));
        let word = is_word.then(|| {
            let mut hasher = DefaultHasher::new();
            word.hash(&mut hasher);
            hasher.finish()
        });
        self.word.clear();
        match word {
            Some(word) => *self.counts.entry(word).or_default() += 1,
            None => self.none += 1,
        }
        self.last.push_back((word, self.total));
        if self.last.len() <= WINDOW {
            return None;
        }
        let (gone, from) = self.last.pop_front()?;
        match gone {
            Some(gone) => {
                if let Some(count) = self.counts.get_mut(&gone) {
                    *count -= 1;
                    if *count == 0 {
                        self.counts.remove(&gone);
                    }
                }
            }
            None => self.none -= 1,
        }
        let prose = self.none * 10 <= WINDOW;
        let few = (FEWEST..=FEW).contains(&self.counts.len());
        (prose && few).then_some(DetectedLoop { from })
    }
}
