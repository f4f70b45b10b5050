//! Lines and sentences that are the same but for a number or a word.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::Circle;

/// How many lines or sentences may form what repeats.
const LAGS: usize = 12;

/// Where no line and no sentence ends for so long, the next gap ends one, in bytes.
const LONGEST: usize = 400;

/// How many there must be.
const TIMES: usize = 24;

/// How many bytes of prose may differ in numbers alone, or in words that come again and again.
const STALE: usize = 10_000;

/// How many bytes of prose may differ in one place, where something new stands each time: lists of
/// countries, rivers, capitals.
const FRESH: usize = 20_000;

/// How many bytes of all that is no prose: tables, logs, test data, dumps.
const DATA: usize = 262_144;

/// A line or a sentence.
#[derive(Debug, Default)]
struct Unit {
    /// Its words, each as a number; numbers are all one word.
    words: Vec<u64>,
    bytes: usize,
    letters: usize,
    /// Digits, and signs that are no letters.
    signs: usize,
}

/// How long those that stand so many lines apart have been alike.
#[derive(Debug, Default)]
struct Run {
    from: usize,
    count: usize,
    bytes: usize,
    letters: usize,
    signs: usize,
    /// What stood where they differ.
    varied: HashSet<u64>,
}

/// Compares each line or sentence with those before it.
#[derive(Debug, Default)]
pub(super) struct Units {
    text: String,
    total: usize,
    known: VecDeque<Unit>,
    runs: [Run; LAGS],
    after_stop: bool,
}

impl Units {
    pub(super) fn read(&mut self, more: &str) -> Option<Circle> {
        for c in more.chars() {
            let gap = c.is_whitespace();
            let ends = c == '\n'
                || matches!(c, '。' | '！' | '？')
                || (gap && (self.after_stop || self.text.len() >= LONGEST));
            self.after_stop = matches!(c, '.' | '!' | '?' | ';');
            self.text.push(c);
            self.total += c.len_utf8();
            if ends && let Some(circle) = self.end_unit() {
                return Some(circle);
            }
        }
        None
    }

    fn end_unit(&mut self) -> Option<Circle> {
        let unit = Unit::of(&self.text);
        self.text.clear();
        if unit.words.is_empty() {
            return None;
        }
        let mut found = None;
        for (lag, run) in self.runs.iter_mut().enumerate() {
            let varied = self.known.get(lag).and_then(|before| unit.varies(before));
            match varied {
                Some(varied) => run.add(&unit, varied),
                None => *run = Run { from: self.total, ..Run::default() },
            }
            if run.is_circle(lag + 1) {
                found = found.or(Some(Circle { from: run.from }));
            }
        }
        self.known.push_front(unit);
        self.known.truncate(LAGS);
        found
    }
}

impl Run {
    fn add(&mut self, unit: &Unit, varied: u64) {
        self.count += 1;
        self.bytes += unit.bytes;
        self.letters += unit.letters;
        self.signs += unit.signs;
        if self.varied.len() <= self.count {
            self.varied.insert(varied);
        }
    }

    fn is_circle(&self, lag: usize) -> bool {
        if self.count < TIMES.max(6 * lag) || self.bytes < STALE {
            return false;
        }
        let prose = self.letters * 20 >= (self.letters + self.signs) * 17;
        let stale = self.varied.len() * 3 <= self.count;
        self.bytes
            >= if !prose {
                DATA
            } else if stale {
                STALE
            } else {
                FRESH
            }
    }
}

impl Unit {
    fn of(text: &str) -> Self {
        let mut unit = Self { bytes: text.len(), ..Self::default() };
        let (mut letters, mut signs) = (0, 0);
        let mut word = String::new();
        let mut push = |word: &mut String| {
            if !word.is_empty() {
                unit.words.push(hash(&*word));
                word.clear();
            }
        };
        for c in text.chars() {
            if c.is_whitespace() {
                push(&mut word);
                continue;
            }
            if c.is_alphabetic() {
                letters += 1;
            } else if !matches!(c, '。' | '，' | '、' | '！' | '？') {
                signs += 1;
            }
            if c.is_ascii_digit() {
                // All numbers are one.
                if !word.ends_with('0') {
                    word.push('0');
                }
            } else if c >= '\u{2e80}' {
                // Scripts without gaps: each sign is a word.
                push(&mut word);
                word.push(c);
                push(&mut word);
            } else {
                word.push(c);
            }
        }
        push(&mut word);
        Self { letters, signs, ..unit }
    }

    /// What differs from another, in one place of at most a third of it; none where more does.
    fn varies(&self, other: &Self) -> Option<u64> {
        let (a, b) = (&self.words, &other.words);
        let shorter = a.len().min(b.len());
        let same = |pairs: &mut dyn Iterator<Item = (&u64, &u64)>| {
            pairs.take(shorter).take_while(|(a, b)| a == b).count()
        };
        let before = same(&mut a.iter().zip(b));
        let behind = same(&mut a.iter().rev().zip(b.iter().rev())).min(shorter - before);
        let alike = before + behind;
        (alike * 3 >= a.len().max(b.len()) * 2).then(|| hash(&a[before..a.len() - behind]))
    }
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
