//! Parses a query, and rates how well a text matches it.

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Matcher, Utf32Str};

use crate::letters::Letters;

/// What part of its score a text gets once more for having the large letters of the query: enough to come before what
/// matches as well without, and too little for letters that are scattered.
const EXACT: u32 = 4;

/// What is looked for.
pub(super) struct FileQuery {
    any_case: Pattern,
    /// The same to the letter, where the query has large ones.
    exact: Option<Pattern>,
    letters: Letters,
    /// The query as it was typed, where it is one word.
    word: Option<Vec<u8>>,
}

impl FileQuery {
    pub(super) fn new(query: &str) -> Self {
        let pattern = |case| Pattern::new(query, case, Normalization::Smart, AtomKind::Fuzzy);
        let has_large = query.chars().any(char::is_uppercase);
        let any_case = pattern(CaseMatching::Ignore);
        let letters = any_case.atoms.iter().flat_map(|atom| {
            let letters = atom.needle_text().chars().collect::<Vec<_>>();
            letters
                .into_iter()
                .map(|letter| Letters::of(letter.encode_utf8(&mut [0; 4]).as_bytes()))
        });
        Self {
            letters: letters.fold(Letters::default(), Letters::and),
            any_case,
            word: Some(query.trim())
                .filter(|word| !word.is_empty() && !word.contains(char::is_whitespace))
                .map(|word| word.as_bytes().to_vec()),
            exact: has_large.then(|| pattern(CaseMatching::Respect)),
        }
    }

    /// Whether every text has it.
    pub(super) fn is_anything(&self) -> bool {
        self.any_case.atoms.is_empty()
    }

    /// The letters that a text has that has it.
    pub(super) fn letters(&self) -> Letters {
        self.letters
    }

    /// How well a text has it; none where it has not. `letters` is a buffer to be used again.
    pub(super) fn score(
        &self,
        text: &[u8],
        is_ascii: bool,
        letters: &mut Vec<char>,
        matcher: &mut Matcher,
    ) -> Option<u32> {
        // Most paths are ASCII, and need not be taken apart into letters.
        let shown;
        let text = if is_ascii {
            Utf32Str::Ascii(text)
        } else {
            shown = String::from_utf8_lossy(text);
            Utf32Str::new(&shown, letters)
        };
        let score = self.any_case.score(text, matcher)?;
        let exact = self.exact.as_ref().and_then(|exact| exact.score(text, matcher));
        Some(score.max(exact.map_or(0, |exact| exact + exact / EXACT)))
    }

    /// Whether a folder or the name of a path begins with it, whatever the case.
    pub(super) fn begins_part(&self, path: &[u8]) -> bool {
        let Some(word) = &self.word else { return false };
        let begins = |at: usize| {
            path.get(at..at + word.len()).is_some_and(|part| part.eq_ignore_ascii_case(word))
        };
        let after_slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        begins(0) || after_slashes.map(|(at, _)| at + 1).any(begins)
    }

    /// Which of its characters were looked for, in order, counted from 0; none where it has not all.
    pub(super) fn positions(&self, text: &str, matcher: &mut Matcher) -> Option<Vec<u32>> {
        let mut letters = Vec::new();
        let text = Utf32Str::new(text, &mut letters);
        let mut positions = |pattern: &Pattern| {
            let mut positions = Vec::new();
            pattern.indices(text, matcher, &mut positions)?;
            positions.sort_unstable();
            positions.dedup();
            Some(positions)
        };
        self.exact.as_ref().and_then(&mut positions).or_else(|| positions(&self.any_case))
    }
}
