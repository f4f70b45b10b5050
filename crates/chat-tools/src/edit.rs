//! Matches a model's edits against a text. Pure: it knows no file.
//!
//! Models copy text imperfectly. Where the exact text is not found, trailing blanks, typographic
//! quotes and indentation may differ, and the closest match is tried first. An edit changes exactly
//! one place, and only if no other place matches as closely; otherwise it changes nothing.

mod find;
mod indentation;
mod lines;
mod numbers;
mod quotes;
mod refusal;
mod replace;

use schemars::JsonSchema;
use serde::Deserialize;

pub use find::Tolerance;
pub use refusal::{Near, Reason, Refusal};

use find::Occurrence;
use lines::Lines;

/// The maximum size of the resulting text, in bytes: that of a file that may be edited.
const LARGEST: usize = 16 * 1024 * 1024;

/// How many places one edit changes at most.
const MOST_PLACES: usize = 100_000;

/// One replacement.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// Text exactly as it is in the file, without line numbers
    pub old: String,
    /// Text to replace it with
    pub new: String,
    /// Replace every match
    #[serde(default)]
    pub all: bool,
}

/// The result of edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Applied {
    /// The whole new text.
    pub content: String,
    /// What each edit did, in order.
    pub notes: Vec<Note>,
}

/// What one edit did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// How many places it changed.
    pub places: usize,
    /// The first line that it changed, from 1, in the text that it was applied to.
    pub line: usize,
    /// How the text there differed from the given one.
    pub tolerance: Tolerance,
    /// Whether line numbers were removed that had been copied with the text.
    pub numbered: bool,
}

impl Note {
    /// What the model should know: where its text differed from the file's.
    pub fn for_model(&self) -> Option<String> {
        let Tolerance { trailing, quotes, indentation } = self.tolerance;
        let differing = [
            (indentation, "indentation (the new text was indented to fit)"),
            (quotes, "typographic quotes"),
            (trailing && !indentation && !quotes, "whitespace at the ends of lines"),
        ];
        let differing: Vec<_> =
            differing.iter().filter(|(on, _)| *on).map(|(_, what)| *what).collect();
        let numbered =
            self.numbered.then(|| "The line numbers in your text were removed.".to_owned());
        let differing = (!differing.is_empty()).then(|| {
            format!("The text at line {} differed in {}.", self.line, differing.join(" and "))
        });
        let notes: Vec<_> = numbered.into_iter().chain(differing).collect();
        (!notes.is_empty()).then(|| notes.join(" "))
    }
}

/// Applies edits in order, each to the result of the one before it: all of them, or none.
///
/// # Errors
///
/// The first edit that could not be applied, and why.
pub fn apply(content: &str, edits: &[Edit]) -> Result<Applied, Refusal> {
    let mut content = content.to_owned();
    let mut notes = Vec::with_capacity(edits.len());
    let refusal = |number, reason| Refusal { number, of: edits.len(), reason };
    for (number, edit) in edits.iter().enumerate() {
        let (next, note) =
            apply_one(&content, edit).map_err(|reason| refusal(number + 1, reason))?;
        content = next;
        notes.push(note);
    }
    Ok(Applied { content, notes })
}

/// Applies one edit.
fn apply_one(content: &str, edit: &Edit) -> Result<(String, Note), Reason> {
    // The model's line endings are normalized; those of the file are kept.
    let old = edit.old.replace("\r\n", "\n");
    let new = edit.new.replace("\r\n", "\n");
    if old.is_empty() {
        return Err(Reason::Empty);
    }
    if old == new {
        return Err(Reason::Same);
    }
    let lines = Lines::new(content);
    let pieces: Vec<&str> = old.split('\n').collect();
    let most = if edit.all { MOST_PLACES + 1 } else { refusal::MOST };
    let mut places = find::find(&lines, &pieces, most);
    if places.is_empty() {
        let absent = refusal::absent(&lines, &pieces);
        let Some(bare) = numbers::without(edit) else { return Err(absent) };
        return match apply_one(content, &bare) {
            Ok((text, note)) => Ok((text, Note { numbered: true, ..note })),
            Err(Reason::Absent { .. }) => Err(absent),
            Err(reason) => Err(reason),
        };
    }
    if places.len() > 1 && !edit.all {
        return Err(Reason::Several {
            lines: places.iter().map(|place| place.first + 1).collect(),
            tolerance: widest(&places),
        });
    }
    if places.len() > MOST_PLACES {
        return Err(Reason::TooMany);
    }
    drop_overlapping(&mut places);
    let mut result = String::with_capacity(content.len() + new.len());
    let mut taken = 0;
    for place in &places {
        let new = replace::replacement(&lines, &pieces, &new, place)?;
        let before = &content[taken..place.start];
        if result.len() + before.len() + new.len() > LARGEST {
            return Err(Reason::TooLarge);
        }
        result.push_str(before);
        result.push_str(&new);
        taken = place.end;
    }
    if result.len() + content.len() - taken > LARGEST {
        return Err(Reason::TooLarge);
    }
    result.push_str(&content[taken..]);
    let note = Note {
        places: places.len(),
        line: places[0].first + 1,
        tolerance: widest(&places),
        numbered: false,
    };
    Ok((result, note))
}

/// Keeps only places that do not overlap, from the beginning, as every editor does.
fn drop_overlapping(places: &mut Vec<Occurrence>) {
    let mut end = 0;
    places.retain(|place| {
        let free = place.start >= end;
        if free {
            end = place.end;
        }
        free
    });
}

/// Everything that differs at any of the places.
fn widest(places: &[Occurrence]) -> Tolerance {
    places.iter().fold(Tolerance::default(), |all, place| Tolerance {
        trailing: all.trailing || place.tolerance.trailing,
        quotes: all.quotes || place.tolerance.quotes,
        indentation: all.indentation || place.tolerance.indentation,
    })
}

#[cfg(test)]
mod tests;
