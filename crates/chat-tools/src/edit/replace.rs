//! Builds the replacement for a matched text, in the file's own style.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::find::Occurrence;
use super::lines::Lines;
use super::quotes;
use super::refusal::Reason;

/// The new text for a match: unchanged lines stay exactly as they are, new lines are indented to
/// fit, and each ends like its neighbours.
///
/// # Errors
///
/// The depth of a new line is unknown.
pub fn replacement(
    lines: &Lines,
    old: &[&str],
    new: &str,
    place: &Occurrence,
) -> Result<String, Reason> {
    let new: Vec<&str> = new.split('\n').collect();
    let fitted = match &place.shift {
        None => new.iter().map(|line| (*line).to_owned()).collect(),
        Some(shift) => {
            shift.fit(&new, lines).ok_or(Reason::Indentation { line: place.first + 1 })?
        }
    };
    let there = |number: usize| {
        let line = lines.all.get(place.first + number)?;
        let (start, end) = (place.start.max(line.start), place.end.min(line.end()));
        Some(&line.text[start - line.start..end.max(start) - line.start])
    };
    let mut ending = lines.ending_at(place.first);
    let mut result: Vec<(String, &str)> = Vec::new();
    let mut put = |text: &str, own: Option<usize>| {
        let own = own.and_then(|number| lines.all.get(place.first + number));
        ending = own.map(|line| line.ending).filter(|own| !own.is_empty()).unwrap_or(ending);
        result.push((text.to_owned(), ending));
    };
    for op in capture_diff_slices(Algorithm::Myers, old, &new) {
        match op {
            DiffOp::Equal { old_index, new_index, len } => {
                for number in 0..len {
                    let own = old_index + number;
                    put(there(own).unwrap_or(new[new_index + number]), Some(own));
                }
            }
            DiffOp::Delete { .. } => {}
            DiffOp::Insert { new_index, new_len, .. } => {
                for text in &fitted[new_index..new_index + new_len] {
                    put(text, None);
                }
            }
            DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                for number in 0..new_len {
                    let text = &fitted[new_index + number];
                    let own = Some(old_index + number).filter(|_| number < old_len);
                    let kept = own
                        .filter(|_| place.tolerance.quotes && old_len == new_len)
                        .and_then(there);
                    match kept {
                        Some(kept) => put(&quotes::keep(&quotes::plain(kept), kept, text), own),
                        None => put(text, own),
                    }
                }
            }
        }
    }
    // If the text ends without a newline, the one that was given for it is removed, too.
    if place.at_end && result.len() > 1 && result.last().is_some_and(|(text, _)| text.is_empty()) {
        result.pop();
    }
    // Endings are between lines, with none after the last.
    if let Some((_, ending)) = result.last_mut() {
        *ending = "";
    }
    Ok(result.into_iter().flat_map(|(text, ending)| [text, ending.to_owned()]).collect())
}
