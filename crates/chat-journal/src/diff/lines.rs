//! Finds which lines of two texts differ.

use std::collections::HashMap;
use std::ops::Range;

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Lines of the old text, and those that replace them. One of both may be empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// Lines of the old text, from 0.
    pub old: Range<usize>,
    /// Lines of the new text.
    pub new: Range<usize>,
}

/// The lines of a text, each with its ending. The last one may have none.
pub fn split(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|&byte| byte == b'\n').collect()
}

/// Which lines differ, in order; between two changes there is at least one unchanged line.
pub fn changed(old: &[&[u8]], new: &[&[u8]]) -> Vec<Changed> {
    let mut numbers = HashMap::new();
    let mut number = |lines: &[&[u8]]| -> Vec<u32> {
        let numbers = &mut numbers;
        let mut one = |line: &&[u8]| {
            let next = numbers.len() as u32;
            *numbers.entry(line.to_vec()).or_insert(next)
        };
        lines.iter().map(&mut one).collect()
    };
    let (old, new) = (number(old), number(new));
    changed_items(&old, &new)
}

/// How many steps of the exact search are allowed: about 20 ms.
const STEPS: usize = 4_000_000;

/// The same for numbers that represent lines.
pub fn changed_items(old: &[u32], new: &[u32]) -> Vec<Changed> {
    let head = old.iter().zip(new).take_while(|(one, other)| one == other).count();
    let most = old.len().min(new.len()) - head;
    let tail = old
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(most)
        .take_while(|(one, other)| one == other)
        .count();
    let mut found = Vec::new();
    let middle = (head..old.len() - tail, head..new.len() - tail);
    between(old, new, middle, &mut found);
    joined(found)
}

/// Compares two parts: by the lines that occur once in both, if the exact search would take too
/// long.
fn between(
    old: &[u32],
    new: &[u32],
    (o, n): (Range<usize>, Range<usize>),
    found: &mut Vec<Changed>,
) {
    if o.is_empty() || n.is_empty() {
        if !(o.is_empty() && n.is_empty()) {
            found.push(Changed { old: o, new: n });
        }
        return;
    }
    let differing = differing(&old[o.clone()], &new[n.clone()]);
    if differing.saturating_mul(o.len() + n.len()) <= STEPS {
        let ops = capture_diff_slices(Algorithm::Myers, &old[o.clone()], &new[n.clone()]);
        found.extend(ops.iter().filter(|op| op.tag() != DiffTag::Equal).map(|op| {
            let (old, new) = (op.old_range(), op.new_range());
            Changed {
                old: o.start + old.start..o.start + old.end,
                new: n.start + new.start..n.start + new.end,
            }
        }));
        return;
    }
    let anchors = anchors(&old[o.clone()], &new[n.clone()]);
    if anchors.is_empty() {
        found.push(Changed { old: o, new: n });
        return;
    }
    let (mut from_old, mut from_new) = (o.start, n.start);
    for (old_at, new_at) in anchors {
        let (old_at, new_at) = (o.start + old_at, n.start + new_at);
        // Equal lines next to an anchor need no search.
        let (mut end_old, mut end_new) = (old_at, new_at);
        while end_old > from_old && end_new > from_new && old[end_old - 1] == new[end_new - 1] {
            (end_old, end_new) = (end_old - 1, end_new - 1);
        }
        between(old, new, (from_old..end_old, from_new..end_new), found);
        (from_old, from_new) = (old_at + 1, new_at + 1);
        while from_old < o.end && from_new < n.end && old[from_old] == new[from_new] {
            (from_old, from_new) = (from_old + 1, from_new + 1);
        }
        (from_old, from_new) = (from_old.max(old_at + 1), from_new.max(new_at + 1));
    }
    between(old, new, (from_old.min(o.end)..o.end, from_new.min(n.end)..n.end), found);
}

/// The minimum number of lines that differ: those that occur more often on one side.
fn differing(old: &[u32], new: &[u32]) -> usize {
    let mut counts: HashMap<u32, i64> = HashMap::new();
    for item in old {
        *counts.entry(*item).or_default() += 1;
    }
    for item in new {
        *counts.entry(*item).or_default() -= 1;
    }
    counts.values().map(|count| count.unsigned_abs() as usize).sum::<usize>().max(1)
}

/// The positions of lines that occur exactly once in both, as many as are in the same order.
fn anchors(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let once = |items: &[u32]| {
        let mut places: HashMap<u32, Option<usize>> = HashMap::new();
        for (at, item) in items.iter().enumerate() {
            places.entry(*item).and_modify(|place| *place = None).or_insert(Some(at));
        }
        places
    };
    let (in_old, in_new) = (once(old), once(new));
    let mut pairs: Vec<(usize, usize)> = in_old
        .iter()
        .filter_map(|(item, place)| Some(((*place)?, (*in_new.get(item)?)?)))
        .collect();
    pairs.sort_unstable();
    // The longest increasing sequence: `ends[k]` is the pair that ends the best sequence of length
    // k + 1.
    let (mut ends, mut before): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    for (at, &(_, place)) in pairs.iter().enumerate() {
        let row = ends.partition_point(|&end| pairs[end].1 < place);
        before.push(row.checked_sub(1).map(|row| ends[row]));
        if row == ends.len() {
            ends.push(at);
        } else {
            ends[row] = at;
        }
    }
    let mut row: Vec<(usize, usize)> =
        std::iter::successors(ends.last().copied(), |&at| before[at]).map(|at| pairs[at]).collect();
    row.reverse();
    row
}

/// Joins changes that touch each other.
fn joined(found: Vec<Changed>) -> Vec<Changed> {
    let mut all: Vec<Changed> = Vec::with_capacity(found.len());
    for next in found {
        match all.last_mut() {
            Some(last) if last.old.end == next.old.start && last.new.end == next.new.start => {
                (last.old.end, last.new.end) = (next.old.end, next.new.end);
            }
            _ => all.push(next),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Applies the found changes to the old text.
    fn applied(old: &[u32], new: &[u32], found: &[Changed]) -> Vec<u32> {
        let (mut made, mut at) = (Vec::new(), 0);
        for Changed { old: o, new: n } in found {
            made.extend(&old[at..o.start]);
            made.extend(&new[n.clone()]);
            at = o.end;
        }
        made.extend(&old[at..]);
        made
    }

    #[test]
    fn lines_keep_their_ends() {
        assert_eq!(split(b"a\r\n\nb"), [&b"a\r\n"[..], b"\n", b"b"]);
        assert!(split(b"").is_empty());
        let found = changed(&split(b"a\nb\nc"), &split(b"a\nx\nc\n"));
        assert_eq!(found, [Changed { old: 1..3, new: 1..3 }]);
    }

    proptest! {
        #[test]
        fn what_is_found_leads_from_one_to_the_other(
            old in prop::collection::vec(0_u32..8, 0..40),
            new in prop::collection::vec(0_u32..8, 0..40),
        ) {
            let found = changed_items(&old, &new);
            prop_assert_eq!(applied(&old, &new, &found), new.clone());
            for pair in found.windows(2) {
                prop_assert!(pair[0].old.end < pair[1].old.start || pair[0].new.end < pair[1].new.start);
            }
            prop_assert_eq!(found.is_empty(), old == new);
        }

        /// This also tests what is used instead of the exact search.
        #[test]
        fn long_texts_take_the_short_way(seed in 0_u32..50) {
            let line = |at: u32, salt: u32| (at.wrapping_mul(2_654_435_761) ^ salt) % 9000;
            let old: Vec<u32> = (0..6000).map(|at| line(at, 0)).collect();
            let new: Vec<u32> = (0..6000)
                .map(|at| if at % 3 == seed % 3 { line(at, seed + 1) } else { line(at, 0) })
                .collect();
            let found = changed_items(&old, &new);
            prop_assert_eq!(applied(&old, &new, &found), new);
        }
    }
}
