//! Matches text without regard to case, accents, and the kinds of spaces, quotation marks and
//! dashes.

use std::ops::Range;

use icu_normalizer::properties::{CanonicalDecompositionBorrowed, Decomposed};

use super::words::is_spaced;

/// Below this length the index of parts of words knows nothing, in characters.
pub(super) const TRIGRAM: usize = 3;

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    folded: String,
    /// How many characters were typed.
    length: usize,
}

impl Pattern {
    /// These words. None where there is nothing to look for.
    pub fn new(words: &str) -> Option<Self> {
        let mut folded = String::with_capacity(words.len());
        for letter in words.chars() {
            fold(letter, &mut |letter| folded.push(letter));
        }
        let length = words.chars().count();
        (!folded.trim().is_empty()).then_some(Self { folded, length })
    }

    /// Whether it is too short to be looked for in the middle of words, where there are others.
    pub(super) fn is_short(&self) -> bool {
        self.length < TRIGRAM
    }

    /// Whether it is one letter of a script that puts spaces between words.
    pub(super) fn is_one_letter(&self) -> bool {
        self.length == 1
            && self.folded.chars().all(|letter| letter.is_alphabetic() && is_spaced(letter))
    }

    /// Whether a place where a text has it begins a word, or is one where it is a single character:
    /// far too many words begin with that.
    pub fn begins_word(&self, text: &str, place: &Range<usize>) -> bool {
        !self.is_short()
            || !continues(text, place.start) && (self.length > 1 || !continues(text, place.end))
    }

    /// Whether a place where a text has it is one that a search of the chats comes to first: nobody
    /// who looks for “Go” means “ago”.
    pub fn is_meant(&self, text: &str, place: &Range<usize>) -> bool {
        !self.is_short() || stands_alone(text, place)
    }

    /// Where a text has it, as ranges of bytes that do not overlap.
    pub fn find(&self, text: &str) -> Vec<Range<usize>> {
        if text.is_ascii() {
            // Nothing changes its length when it is folded.
            let mut folded = text.to_ascii_lowercase();
            if folded.contains('\t') {
                folded = folded.replace('\t', " ");
            }
            let found = folded.match_indices(&self.folded);
            return found.map(|(at, found)| at..at + found.len()).collect();
        }
        let folded = Folded::new(text);
        let mut out: Vec<Range<usize>> = Vec::new();
        for (at, found) in folded.text.match_indices(&self.folded) {
            let range = folded.range(at..at + found.len());
            // Two finds within one letter are one.
            if out.last().is_none_or(|last| last.end <= range.start) {
                out.push(range);
            }
        }
        out
    }
}

/// Whether no word goes on before or behind a place.
fn stands_alone(text: &str, place: &Range<usize>) -> bool {
    !continues(text, place.start) && !continues(text, place.end)
}

/// Whether a word goes on at this byte, having begun before it.
fn continues(text: &str, at: usize) -> bool {
    let (before, behind) = text.split_at(at);
    before.trim_end_matches(is_accent).ends_with(is_spaced) && behind.starts_with(is_spaced)
}

/// A text as it is compared.
struct Folded {
    text: String,
    /// For every byte of it the letter that it comes from: where that begins.
    origins: Vec<usize>,
    /// How long the original is.
    length: usize,
}

impl Folded {
    fn new(original: &str) -> Self {
        let mut text = String::with_capacity(original.len());
        let mut origins = Vec::with_capacity(original.len());
        for (at, letter) in original.char_indices() {
            fold(letter, &mut |letter| {
                text.push(letter);
                origins.resize(text.len(), at);
            });
        }
        Self { text, origins, length: original.len() }
    }

    /// The whole letters of the original that these bytes come from.
    fn range(&self, bytes: Range<usize>) -> Range<usize> {
        let last = self.origins[bytes.end - 1];
        let behind = self.origins[bytes.end..].iter().find(|origin| **origin > last);
        self.origins[bytes.start]..behind.copied().unwrap_or(self.length)
    }
}

/// Gives what stands for a letter when texts are compared: nothing for an accent.
pub(super) fn fold(letter: char, out: &mut impl FnMut(char)) {
    if letter.is_ascii() {
        out(if letter == '\t' { ' ' } else { letter.to_ascii_lowercase() });
        return;
    }
    match letter {
        // Accents, and what is not seen: a soft hyphen, joiners, the mark of the byte order.
        '\u{300}'..='\u{36F}' | '\u{AD}' | '\u{200B}'..='\u{200D}' | '\u{FEFF}' => {}
        '‘' | '’' | '‚' | '‛' | 'ʼ' => out('\''),
        '“' | '”' | '„' | '‟' => out('"'),
        '\u{2010}'..='\u{2015}' | '−' => out('-'),
        'ß' | 'ẞ' => {
            out('s');
            out('s');
        }
        'ø' | 'Ø' => out('o'),
        'ł' | 'Ł' => out('l'),
        'đ' | 'Đ' => out('d'),
        'ı' => out('i'),
        'ς' => out('σ'),
        // A line end within a paragraph is a space to the reader.
        '\u{2028}' => out(' '),
        _ if letter.is_whitespace() => out(' '),
        // Syllables are letters of their own.
        '\u{AC00}'..='\u{D7A3}' => out(letter),
        _ => match CanonicalDecompositionBorrowed::new().decompose(letter) {
            Decomposed::Default => letter.to_lowercase().filter(|c| !is_accent(*c)).for_each(out),
            Decomposed::Singleton(single) => fold(single, out),
            Decomposed::Expansion(base, mark) => {
                fold(base, out);
                if !is_accent(mark) {
                    out(mark);
                }
            }
        },
    }
}

fn is_accent(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36F}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn found<'a>(words: &str, text: &'a str) -> Vec<&'a str> {
        let ranges = Pattern::new(words).expect("words").find(text);
        ranges.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn case_and_accents_do_not_count() {
        assert_eq!(found("cafe", "Café CAFE\u{301} cafe"), ["Café", "CAFE\u{301}", "cafe"]);
        assert_eq!(found("CAFÉ", "a cafe"), ["cafe"]);
        assert_eq!(found("strasse", "Die STRAẞE, die Straße"), ["STRAẞE", "Straße"]);
        assert_eq!(found("tieng viet", "Tiếng Việt"), ["Tiếng Việt"]);
        assert_eq!(found("οδος", "ΟΔΌΣ"), ["ΟΔΌΣ"]);
        assert_eq!(found("smorrebrod", "Smørrebrød"), ["Smørrebrød"]);
    }

    #[test]
    fn marks_that_keyboards_do_not_have_are_found_by_those_that_they_have() {
        assert_eq!(found("don't", "don’t"), ["don’t"]);
        assert_eq!(found("\"a\" - b", "“a”\u{A0}– b"), ["“a”\u{A0}– b"]);
        assert_eq!(found("two lines", "two\u{2028}lines"), ["two\u{2028}lines"]);
        assert_eq!(found("hyphen", "hy\u{AD}phen"), ["hy\u{AD}phen"]);
    }

    #[test]
    fn other_scripts_are_compared_letter_by_letter() {
        assert_eq!(found("模型", "本地模型很好,模型"), ["模型", "模型"]);
        assert!(found("하", "한국").is_empty());
        assert!(found("か", "がく").len() <= 1);
    }

    #[test]
    fn finds_do_not_overlap_and_paragraphs_part_them() {
        assert_eq!(found("aa", "aaaaa"), ["aa", "aa"]);
        assert_eq!(found("s", "ß"), ["ß"]);
        assert!(found("end start", "end\nstart").is_empty());
    }

    #[test]
    fn nothing_is_no_pattern() {
        assert_eq!(Pattern::new(""), None);
        assert_eq!(Pattern::new(" \t"), None);
        assert_eq!(Pattern::new("\u{301}"), None);
    }

    proptest! {
        #[test]
        fn what_is_put_into_a_text_is_found_there(before in "\\PC{0,20}", word in "\\PC{1,8}", after in "\\PC{0,20}") {
            let Some(pattern) = Pattern::new(&word) else { return Ok(()) };
            let text = format!("{before}\n{word}\n{after}");
            let ranges = pattern.find(&text);
            let mut end = 0;
            for range in &ranges {
                // Whole letters, in order, and each of them has it.
                prop_assert!(range.start >= end && text.get(range.clone()).is_some());
                prop_assert_eq!(pattern.find(&text[range.clone()]).len(), 1);
                end = range.end;
            }
            let (start, stop) = (before.len() + 1, before.len() + 1 + word.len());
            prop_assert!(ranges.iter().any(|r| r.start < stop && r.end > start));
        }

        #[test]
        fn plain_text_is_found_alike_by_the_short_way(text in "[ -~\\t]{0,60}", word in "[ -~]{1,3}") {
            let Some(pattern) = Pattern::new(&word) else { return Ok(()) };
            // The accent sends it the long way.
            let long: Vec<_> = pattern.find(&format!("{text}\u{301}")).into_iter()
                .map(|range| range.start..range.end.min(text.len())).collect();
            prop_assert_eq!(pattern.find(&text), long);
        }
    }
}
