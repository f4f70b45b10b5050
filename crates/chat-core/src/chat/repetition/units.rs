//! Detects lines and sentences that differ only by a number or a word.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};

use super::DetectedLoop;

/// How many lines or sentences may form what repeats.
const LAGS: usize = 12;

/// Where no line and no sentence ends for so long, the next gap ends one, in bytes.
const LONGEST: usize = 400;

/// How many there must be.
const TIMES: usize = 24;

/// How many bytes of prose may differ in numbers alone, or in words that come again and again.
const STALE: usize = 16_000;

/// How many bytes of prose may differ in one place, where something new stands each time: lists of
/// countries, rivers, capitals; and how many may count up or down: verses, days, chapters.
const FRESH: usize = 30_000;

/// How many bytes of all that is no prose: code, tables, logs, test data, dumps.
const DATA: usize = 262_144;

/// How many numbers of a line are looked at for one that counts.
const NUMBERS: usize = 4;

/// A line or a sentence.
#[derive(Debug, Default)]
struct Unit {
    /// Its words, each as a number; numbers are all one word.
    words: Vec<u64>,
    /// The first of its numbers.
    numbers: Vec<u64>,
    bytes: usize,
    letters: usize,
    /// Digits, and signs that are no letters.
    signs: usize,
    is_code: bool,
}

/// How long those that stand so many lines apart have been alike.
#[derive(Debug, Default)]
struct Run {
    from: usize,
    count: usize,
    bytes: usize,
    letters: usize,
    signs: usize,
    /// How many were lines of code.
    code: usize,
    /// What stood where they differ.
    varied: HashSet<u64>,
    /// By how much a number last grew or fell, and which one.
    step: Option<(usize, i64)>,
    /// How often it did so by as much as before.
    counted: usize,
}

/// Compares each line or sentence with those before it.
#[derive(Debug, Default)]
pub(super) struct Units {
    text: String,
    total: usize,
    known: VecDeque<Unit>,
    runs: [Run; LAGS],
    after_stop: bool,
    now: Option<DetectedLoop>,
}

impl Units {
    pub(super) fn read(&mut self, more: &str) -> Option<DetectedLoop> {
        for c in more.chars() {
            let gap = c.is_whitespace();
            let ends = c == '\n'
                || matches!(c, '。' | '！' | '？')
                || (gap && (self.after_stop || self.text.len() >= LONGEST));
            self.after_stop = matches!(c, '.' | '!' | '?' | ';');
            self.text.push(c);
            self.total += c.len_utf8();
            if ends {
                self.end_unit();
            }
        }
        self.now
    }

    fn end_unit(&mut self) {
        let unit = Unit::of(&self.text);
        self.text.clear();
        if unit.words.is_empty() {
            return;
        }
        let mut found = None;
        for (lag, run) in self.runs.iter_mut().enumerate() {
            let before = self.known.get(lag);
            match before.and_then(|before| Some((before, unit.varies(before)?))) {
                Some((before, varied)) => run.add(&unit, varied, unit.step_from(before)),
                None => *run = Run { from: self.total, ..Run::default() },
            }
            if run.is_circle(lag + 1) {
                found = found.or(Some(DetectedLoop { from: run.from }));
            }
        }
        self.known.push_front(unit);
        self.known.truncate(LAGS);
        self.now = DetectedLoop::still(self.now, found);
    }
}

impl Run {
    fn add(&mut self, unit: &Unit, varied: u64, step: Option<(usize, i64)>) {
        self.count += 1;
        self.code += usize::from(unit.is_code);
        if step.is_some() {
            self.counted += usize::from(step == self.step);
            self.step = step;
        }
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
        let prose =
            self.letters * 20 >= (self.letters + self.signs) * 17 && self.code * 2 < self.count;
        let counts = self.counted * 4 >= self.count;
        let stale = self.varied.len() * 3 <= self.count && !counts;
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
        unit.is_code = is_code(text);
        let (mut letters, mut signs) = (0, 0);
        let (mut numbers, mut number) = (Vec::new(), None);
        let mut word = String::new();
        let mut push = |word: &mut String| {
            if !word.is_empty() {
                unit.words.push(hash(&*word));
                word.clear();
            }
        };
        for c in text.chars() {
            match c.to_digit(10).map(u64::from) {
                Some(digit) => {
                    let so_far: u64 = number.unwrap_or(0);
                    number = Some(so_far.saturating_mul(10).saturating_add(digit));
                }
                None => numbers.extend(number.take()),
            }
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
        numbers.extend(number);
        numbers.truncate(NUMBERS);
        Self { numbers, letters, signs, ..unit }
    }

    /// Which number is the first that differs from another's, and by how much.
    fn step_from(&self, other: &Self) -> Option<(usize, i64)> {
        let pairs = self.numbers.iter().zip(&other.numbers).enumerate();
        { pairs }.find(|(_, (now, before))| now != before).map(|(at, (now, before))| {
            (at, i64::try_from(*now).unwrap_or(i64::MAX).wrapping_sub_unsigned(*before))
        })
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

/// Whether a line looks like one of a program, and not of prose.
fn is_code(text: &str) -> bool {
    let line = text.trim();
    line.ends_with(['{', '}'])
        || (line.ends_with(';') && text.ends_with('\n'))
        || (line.starts_with('<') && line.ends_with('>'))
        || ["::", "->", "=>", " = ", "(\""].iter().any(|sign| line.contains(sign))
        // A field and its type.
        || (line.contains(": ") && line.split_whitespace().count() <= 3)
}

fn hash(what: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}
