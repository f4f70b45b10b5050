//! Detects the same bytes again and again.

use super::DetectedLoop;

/// How much of the end is looked at, in bytes.
const WINDOW: usize = 32_768;

/// After how many bytes it is looked at again. The place of a look depends on the text alone.
const EVERY: usize = 1_024;

/// From which length on what repeats is a passage, and no line that somebody may want many times.
const PASSAGE: usize = 160;

/// How often a passage comes.
const PASSAGE_TIMES: usize = 8;

/// How often one comes that is longer than a thousand bytes.
const LONG_TIMES: usize = 5;

/// How many bytes of short lines and words may be the same: two hundred lines as a punishment, the
/// cells of a grid and the empty entries of a table pass.
const SAME: usize = 12_288;

/// How many bytes may be the same where nothing in them is a word: rules, borders, zeros, gaps.
const SAME_SIGNS: usize = 16_384;

/// Looks for a period at the end of a text.
#[derive(Debug, Default)]
pub(super) struct Exact {
    tail: Vec<u8>,
    total: usize,
    /// Of the end read backwards: how long the longest beginning is that is an end, too.
    borders: Vec<u32>,
    now: Option<DetectedLoop>,
}

impl Exact {
    pub(super) fn read(&mut self, mut more: &[u8]) -> Option<DetectedLoop> {
        while !more.is_empty() {
            let to_look = EVERY - self.total % EVERY;
            let (now, later) = more.split_at(to_look.min(more.len()));
            self.tail.extend_from_slice(now);
            self.total += now.len();
            more = later;
            if self.total.is_multiple_of(EVERY) {
                if self.tail.len() > 2 * WINDOW {
                    self.tail.drain(..self.tail.len() - WINDOW);
                }
                let found = self.find_loop();
                self.now = DetectedLoop::still(self.now, found);
            }
        }
        self.now
    }

    /// Every beginning of the reversed end has its period by Knuth, Morris and Pratt's table.
    fn find_loop(&mut self) -> Option<DetectedLoop> {
        let end = &self.tail[self.tail.len().saturating_sub(WINDOW)..];
        let at = |index: usize| end[end.len() - 1 - index];
        self.borders.clear();
        self.borders.push(0);
        let mut found = None;
        let mut border = 0;
        for index in 1..end.len() {
            while border > 0 && at(index) != at(border) {
                border = self.borders[border - 1] as usize;
            }
            border += usize::from(at(index) == at(border));
            self.borders.push(border as u32);
            let (covered, period) = (index + 1, index + 1 - border);
            if covered >= least(period) && is_circle(&end[end.len() - period..], covered) {
                found = Some((covered, period));
            }
        }
        // The longest stretch says from where on it went round.
        found.map(|(covered, period)| DetectedLoop { from: self.total - covered + period })
    }
}

/// The fewest bytes that count at all, so that few candidates are looked at closely.
fn least(period: usize) -> usize {
    match period {
        0..PASSAGE => SAME,
        PASSAGE..1_000 => (period * PASSAGE_TIMES).max(SAME / 3),
        _ => period * LONG_TIMES,
    }
}

fn is_circle(unit: &[u8], covered: usize) -> bool {
    // Of one letter, or of "A" in a base64 of nothing, too.
    let is_word = |byte: &&u8| byte.is_ascii_alphabetic() || !byte.is_ascii();
    let letters = unit.iter().filter(is_word).count();
    let says_something = unit.len() > 3 && letters * 4 >= unit.len();
    covered >= if says_something { least(unit.len()) } else { SAME_SIGNS.max(least(unit.len())) }
}
