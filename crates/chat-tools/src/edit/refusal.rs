//! Explains to the model why an edit was not applied, so that it can fix it.

use std::fmt;

use super::find::Tolerance;
use super::lines::{Lines, is_blank};
use super::quotes::plain;

/// An edit that could not be applied. Nothing was changed, not even by the call's other edits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Which edit it was, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// Why.
    pub reason: Reason,
}

/// Why an edit was not applied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The text to replace is empty.
    Empty,
    /// It would change nothing.
    Same,
    /// Several places match, equally closely.
    Several {
        /// Their first lines, from 1.
        lines: Vec<usize>,
        /// How they differ from the given text.
        tolerance: Tolerance,
    },
    /// No place matches.
    Absent {
        /// The closest place.
        near: Option<Near>,
        /// Whether each given line begins with a number.
        numbered: bool,
    },
    /// More places match than are changed at once.
    TooMany,
    /// The text would become too large.
    TooLarge,
    /// The place was found, but the depth of the new lines is unknown.
    Indentation {
        /// The place's first line, from 1.
        line: usize,
    },
}

/// The part of a text that is closest to one that it does not contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Near {
    /// Its first line, from 1.
    pub line: usize,
    /// Its text.
    pub text: String,
}

/// How many lines are named, and how many lines of the closest place are shown.
const NAMED: usize = 10;
const SHOWN: usize = 30;
/// How many matches are searched for if only one is allowed: a number this large says enough.
pub const MOST: usize = 1000;

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.of > 1 {
            write!(f, "Edit {} of {}: ", self.number, self.of)?;
        }
        match &self.reason {
            Reason::Empty => f.write_str(
                "`old` is empty. Give the text to replace, or use write_file to create a file.",
            )?,
            Reason::Same => f.write_str("`old` and `new` are the same.")?,
            Reason::Several { lines, tolerance } => {
                let named: Vec<_> = lines.iter().take(NAMED).map(usize::to_string).collect();
                let more = if lines.len() > NAMED { ", …" } else { "" };
                let how = if *tolerance == Tolerance::default() {
                    "occurs"
                } else {
                    "has no exact match, but similar text occurs"
                };
                let all = if *tolerance == Tolerance::default() {
                    ", or set all"
                } else {
                    ", exactly as they are"
                };
                let (count, named) = (lines.len(), named.join(", "));
                let or_more = if count < MOST { "" } else { " or more" };
                write!(
                    f,
                    "The text to replace {how} {count}{or_more} times (lines {named}{more}): include more surrounding lines{all}."
                )?;
            }
            Reason::Absent { near, numbered } => {
                f.write_str("The text to replace is not in the file.")?;
                if *numbered {
                    f.write_str(" Give it without the line numbers.")?;
                } else if let Some(Near { line, text }) = near {
                    write!(
                        f,
                        " Starting at line {line}, the file has:\n{text}\nCopy it exactly.\n"
                    )?;
                } else {
                    f.write_str(" Read the file again.")?;
                }
            }
            Reason::TooMany => write!(
                f,
                "This text occurs in more than {} places: give a longer one.",
                super::MOST_PLACES
            )?,
            Reason::TooLarge => write!(
                f,
                "The file would become larger than {} MB, too large to edit as text.",
                super::LARGEST / 1_000_000
            )?,
            Reason::Indentation { line } => write!(
                f,
                "The text is at line {line} with different indentation, and it is unclear how to \
                 indent the new lines: use the file's own indentation."
            )?,
        }
        if self.of > 1 {
            f.write_str(" No edits were made.")?;
        }
        Ok(())
    }
}

/// Why a text, given as its lines, was not found.
pub fn absent(lines: &Lines, pieces: &[&str]) -> Reason {
    let is_numbered = |piece: &&str| {
        let rest = piece.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
        rest.len() < piece.trim_start().len() && rest.starts_with(['\t', ':', '|', '→'])
    };
    let mut filled = pieces.iter().filter(|piece| !is_blank(piece)).peekable();
    let numbered = filled.peek().is_some() && filled.all(is_numbered);
    Reason::Absent { near: near(lines, pieces), numbered }
}

/// The lines that have the most in common with the given ones, if that is at least a third.
fn near(lines: &Lines, pieces: &[&str]) -> Option<Near> {
    let wanted: Vec<_> = pieces.iter().map(|piece| plain(piece.trim())).collect();
    let filled = wanted.iter().filter(|piece| !piece.is_empty()).count();
    // Each given line votes for where the whole would begin.
    let mut votes = std::collections::HashMap::<usize, usize>::new();
    let mut places: std::collections::HashMap<&str, Vec<usize>> =
        wanted.iter().map(|piece| (&**piece, Vec::new())).collect();
    for (number, line) in lines.all.iter().enumerate() {
        // A very frequent line says nothing, and would take long.
        if let Some(places) = places.get_mut(&*plain(line.text.trim()))
            && places.len() < 1000
        {
            places.push(number);
        }
    }
    for (number, piece) in wanted.iter().enumerate().filter(|(_, piece)| !piece.is_empty()) {
        for at in &places[&**piece] {
            if let Some(begin) = at.checked_sub(number) {
                *votes.entry(begin).or_default() += 1;
            }
        }
    }
    let best = votes.into_iter().max_by_key(|(line, votes)| (*votes, std::cmp::Reverse(*line)));
    let (first, _) = best.filter(|(_, votes)| votes * 3 >= filled)?;
    let shown = lines.all[first..].iter().take(wanted.len().min(SHOWN)).map(|line| line.text);
    Some(Near { line: first + 1, text: shown.collect::<Vec<_>>().join("\n") })
}

#[cfg(test)]
mod tests {
    use super::super::{Edit, apply};

    fn said(content: &str, edits: &[(&str, &str)]) -> String {
        let edits = edits.iter().map(|(old, new)| Edit {
            old: (*old).to_owned(),
            new: (*new).to_owned(),
            all: false,
        });
        apply(content, &edits.collect::<Vec<_>>()).unwrap_err().to_string()
    }

    #[test]
    fn a_text_that_is_there_several_times_is_named_with_its_lines() {
        assert_eq!(
            said("a\nb\na\na\n", &[("a", "c")]),
            "The text to replace occurs 3 times (lines 1, 3, 4): include more surrounding lines, or set all."
        );
        assert_eq!(
            said(&"a\n".repeat(12), &[("a", "c")]),
            "The text to replace occurs 12 times (lines 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, …): \
             include more surrounding lines, or set all."
        );
        assert!(said(&"a\n".repeat(10), &[("a", "c")]).contains("8, 9, 10): "));
        assert!(said(&"a\n".repeat(999), &[("a", "c")]).contains(" occurs 999 times "));
        assert!(said(&"a\n".repeat(2000), &[("a", "c")]).contains(" occurs 1000 or more times "));
        assert_eq!(
            said("“a”\n„a“\n", &[("\"a\"", "c")]),
            "The text to replace has no exact match, but similar text occurs 2 times (lines 1, 2): \
             include more surrounding lines, exactly as they are."
        );
    }

    #[test]
    fn what_comes_nearest_is_shown() {
        let content = "fn a() {\n    one();\n    two();\n}\n";
        assert_eq!(
            said(content, &[("    one();\n    three();\n}", "")]),
            "The text to replace is not in the file. Starting at line 2, the file has:\n    one();\n    two();\n}\nCopy it exactly.\n"
        );
        let nothing = "The text to replace is not in the file. Read the file again.";
        assert_eq!(said(content, &[("zero();", "")]), nothing);
        // A third of the lines is close enough, a quarter is not.
        assert!(said(content, &[("one();\nx();\ny();", "")]).contains("Starting at line 2,"));
        assert_eq!(said(content, &[("one();\nx();\ny();\nz();", "")]), nothing);
    }

    #[test]
    fn line_numbers_are_noticed() {
        let text = "The text to replace is not in the file. Give it without the line numbers.";
        assert_eq!(said("a\nb\n", &[("1\tx\n2\ty", "c")]), text);
        for none in ["12 apples", ": a colon"] {
            assert!(said("a\nb\n", &[(none, "c")]).ends_with("Read the file again."), "{none}");
        }
    }

    #[test]
    fn the_edit_is_named_where_there_are_several() {
        assert_eq!(
            said("a\n", &[("a", "b"), ("b", "b")]),
            "Edit 2 of 2: `old` and `new` are the same. No edits were made."
        );
        assert!(said("a\n", &[("", "b")]).starts_with("`old` is empty."));
    }

    #[test]
    fn an_indentation_that_is_not_clear_is_said() {
        let said = said("a\n    b\n", &[("        a\n            b", "a")]);
        assert!(said.starts_with("The text is at line 1 with different indentation"), "{said}");
    }
}
