//! Merges three versions of a text by its lines, or of whatever is at a path.

use std::ops::Range;

use crate::diff::{Changed, changed, split};
use crate::node::{Node, State};

/// Merges two versions of a text by lines; none if both changed the same lines differently.
pub fn merge_texts(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let merged = texts(base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
    // Lines of valid texts are valid text.
    (!merged.contested).then(|| String::from_utf8_lossy(&merged.text).into_owned())
}

/// The same, but conflicts contain both sides between markers like those of git.
pub fn merge_texts_marked(base: &str, ours: (&str, &str), theirs: (&str, &str)) -> String {
    let (our_name, ours) = ours;
    let (their_name, theirs) = theirs;
    let both = |text: &mut Vec<u8>, one: &[u8], other: &[u8]| {
        let mut put = |line: &[u8]| {
            if !text.is_empty() && !text.ends_with(b"\n") {
                text.push(b'\n');
            }
            text.extend_from_slice(line);
        };
        put(format!("<<<<<<< {our_name}\n").as_bytes());
        put(one);
        put(b"=======\n");
        put(other);
        put(format!(">>>>>>> {their_name}\n").as_bytes());
    };
    let merged = joined(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), both);
    String::from_utf8_lossy(&merged.text).into_owned()
}

/// The merged versions of a text.
#[derive(Debug, PartialEq, Eq)]
pub struct Merged {
    pub text: Vec<u8>,
    /// Whether there is a conflict: both sides changed the same place differently, and the text has
    /// `theirs` there.
    pub contested: bool,
}

/// Merges two versions of a text. Changes of neighbouring lines do not conflict; two different
/// insertions at the same position do.
pub fn texts(ancestor: &[u8], ours: &[u8], theirs: &[u8]) -> Merged {
    joined(ancestor, ours, theirs, |text, _, other| text.extend_from_slice(other))
}

/// The same; `contested` returns the text for a conflict.
fn joined(
    ancestor: &[u8],
    ours: &[u8],
    theirs: &[u8],
    contested: impl Fn(&mut Vec<u8>, &[u8], &[u8]),
) -> Merged {
    let (base, one, other) = (split(ancestor), split(ours), split(theirs));
    let (by_one, by_other) = (changed(&base, &one), changed(&base, &other));
    let mut merged = Merged { text: Vec::new(), contested: false };
    let (mut at, mut i, mut j) = (0, 0, 0);
    let put = |text: &mut Vec<u8>, lines: &[&[u8]]| {
        for line in lines {
            text.extend_from_slice(line);
        }
    };
    loop {
        let first = match (by_one.get(i), by_other.get(j)) {
            (None, None) => break,
            (Some(a), None) => a,
            (None, Some(b)) => b,
            (Some(a), Some(b)) => {
                if key(&a.old) <= key(&b.old) {
                    a
                } else {
                    b
                }
            }
        };
        let mut span = first.old.clone();
        let (from_i, from_j) = (i, j);
        // Collects all changes that overlap.
        loop {
            let before = (i, j);
            while by_one.get(i).is_some_and(|next| meets(&span, &next.old)) {
                span.end = span.end.max(by_one[i].old.end);
                i += 1;
            }
            while by_other.get(j).is_some_and(|next| meets(&span, &next.old)) {
                span.end = span.end.max(by_other[j].old.end);
                j += 1;
            }
            if (i, j) == before {
                break;
            }
        }
        put(&mut merged.text, &base[at..span.start]);
        at = span.end;
        let of_one = made(&base, &one, &by_one[from_i..i], &span);
        let of_other = made(&base, &other, &by_other[from_j..j], &span);
        if j == from_j {
            merged.text.extend(of_one);
        } else if i != from_i && of_one != of_other {
            merged.contested = true;
            contested(&mut merged.text, &of_one, &of_other);
        } else {
            merged.text.extend(of_other);
        }
    }
    put(&mut merged.text, &base[at..]);
    // A line without an ending may get others after it.
    let no_end = |text: &[u8]| !text.is_empty() && !text.ends_with(b"\n");
    if (no_end(ours) || no_end(theirs) || no_end(ancestor))
        && merged.text != ours
        && merged.text != theirs
    {
        merged.contested |= runs_together(&merged.text, &[&base, &one, &other]);
    }
    merged
}

/// Whether the merged text has a line that is in none of the three, because two lines were joined.
fn runs_together(text: &[u8], all: &[&Vec<&[u8]>; 3]) -> bool {
    let known: std::collections::HashSet<&[u8]> =
        all.iter().flat_map(|lines| lines.iter().copied()).collect();
    split(text).iter().any(|line| !known.contains(line))
}

/// An insertion comes before a change of the line after it.
fn key(range: &Range<usize>) -> (usize, usize) {
    (range.start, range.end)
}

/// Whether two changes of the same text overlap.
fn meets(span: &Range<usize>, next: &Range<usize>) -> bool {
    match (span.is_empty(), next.is_empty()) {
        (true, true) => span.start == next.start,
        (true, false) => next.start < span.start && span.start < next.end,
        (false, true) => span.start < next.start && next.start < span.end,
        (false, false) => next.start < span.end && span.start < next.end,
    }
}

/// One side's version of a range of the ancestor.
fn made(base: &[&[u8]], side: &[&[u8]], changes: &[Changed], span: &Range<usize>) -> Vec<u8> {
    let (mut text, mut at) = (Vec::new(), span.start);
    for Changed { old, new } in changes {
        base[at..old.start].iter().for_each(|line| text.extend_from_slice(line));
        side[new.clone()].iter().for_each(|line| text.extend_from_slice(line));
        at = old.end;
    }
    base[at..span.end].iter().for_each(|line| text.extend_from_slice(line));
    text
}

/// Merges two versions of what is at a path, if possible.
pub fn states(ancestor: &State, ours: &State, theirs: &State) -> Result<State, Contested> {
    if ancestor == ours || ours == theirs {
        return Ok(theirs.clone());
    }
    if ancestor == theirs {
        return Ok(ours.clone());
    }
    let (Some(base), Some(one), Some(other)) = (ancestor, ours, theirs) else {
        return Err(Contested(None));
    };
    if !(base.is_text() && one.is_text() && other.is_text()) {
        return Err(Contested(None));
    }
    // Only files are left once links are excluded: where both sides differ from the base, they
    // agree.
    let mode = if base.mode == one.mode { other.mode } else { one.mode };
    let merged = texts(&base.bytes, &one.bytes, &other.bytes);
    let state = Some(Node { mode, bytes: merged.text.into(), permissions: one.permissions });
    if merged.contested { Err(Contested(Some(state))) } else { Ok(state) }
}

/// Both sides changed the same place. For texts, the merge in which `theirs` wins.
#[derive(Debug, PartialEq, Eq)]
pub struct Contested(pub Option<State>);

#[cfg(test)]
mod tests;
