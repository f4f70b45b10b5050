//! Splits text into what the word index holds: whole words, folded as [`Pattern`](super::Pattern)
//! folds them, and pairs of neighbouring characters where a script puts no spaces between words.
//!
//! The index only proposes messages. Whether one really has what was typed, its text decides.

use std::collections::HashSet;

use icu_normalizer::properties::CanonicalCombiningClassMapBorrowed;

use super::pattern::fold;

/// Words that are longer are cut off, in characters. Such words are hashes and encoded data.
const LONGEST: usize = 40;

/// A piece of a word in one kind of script.
#[derive(Debug, PartialEq, Eq)]
struct Run {
    letters: Vec<char>,
    unspaced: bool,
}

/// The distinct words and pairs of a text, separated by spaces.
pub(super) fn of_text(text: &str) -> String {
    let mut seen = HashSet::new();
    let mut all = String::new();
    let mut add = |word: String| {
        if !seen.contains(&word) {
            all.push_str(&word);
            all.push(' ');
            seen.insert(word);
        }
    };
    for run in runs(text) {
        if run.unspaced {
            run.letters.windows(2).for_each(|pair| add(pair.iter().collect()));
            // No pair begins with the last one, which is looked for by itself as well.
            if let Some(last) = run.letters.last() {
                add(last.to_string());
            }
        } else {
            add(cut(&run.letters));
        }
    }
    all
}

/// What the index is asked for to find a word as somebody typed it: all of these terms.
/// `open_from`: how many letters it must have for longer words that begin with it to be wanted too.
pub(super) fn terms(word: &str, open_from: usize) -> Vec<String> {
    let runs = runs(word);
    let mut terms = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        match (&run.letters[..], run.unspaced) {
            ([single], true) => terms.push(format!("\"{single}\"*")),
            (letters, true) => {
                terms.extend(letters.windows(2).map(|pair| format!("\"{}{}\"", pair[0], pair[1])));
            }
            (letters, false) => {
                let open = at + 1 == runs.len() && letters.len() >= open_from;
                terms.push(format!("\"{}\"{}", cut(letters), if open { "*" } else { "" }));
            }
        }
    }
    terms
}

/// Whether a letter or digit belongs to a script that puts spaces between words.
pub(super) fn is_spaced(letter: char) -> bool {
    letter.is_alphanumeric() && !is_unspaced(letter)
}

fn runs(text: &str) -> Vec<Run> {
    let marks = CanonicalCombiningClassMapBorrowed::new();
    let mut runs: Vec<Run> = Vec::new();
    let mut within = false;
    let mut add = |letter: char| {
        if !letter.is_ascii() && marks.get_u8(letter) != 0 {
            // A sign on the letter before it does not end a word.
            return;
        }
        if !letter.is_alphanumeric() {
            within = false;
            return;
        }
        let unspaced = is_unspaced(letter);
        match runs.last_mut().filter(|run| within && run.unspaced == unspaced) {
            Some(run) => run.letters.push(letter),
            None => runs.push(Run { letters: vec![letter], unspaced }),
        }
        within = true;
    };
    for letter in text.chars() {
        fold(letter, &mut add);
    }
    runs
}

fn cut(letters: &[char]) -> String {
    letters.iter().take(LONGEST).collect()
}

/// Scripts in which a space does not end every word. Korean has spaces, but its particles cling
/// to the words.
fn is_unspaced(letter: char) -> bool {
    matches!(letter,
        // Thai, Lao, Burmese, Korean letters, Khmer
        '\u{E00}'..='\u{EFF}' | '\u{1000}'..='\u{109F}' | '\u{1100}'..='\u{11FF}' | '\u{1780}'..='\u{17FF}'
        // Chinese and Japanese
        | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        // Korean syllables, compatible ideographs, narrow kana, rare ideographs
        | '\u{AC00}'..='\u{D7A3}' | '\u{F900}'..='\u{FAFF}' | '\u{FF66}'..='\u{FF9F}' | '\u{20000}'..='\u{323AF}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn words(text: &str) -> Vec<String> {
        of_text(text).split(' ').filter(|word| !word.is_empty()).map(ToOwned::to_owned).collect()
    }

    #[test]
    fn words_are_folded_and_told_once() {
        assert_eq!(words("Café, CAFÉ & cafe\u{301}!"), ["cafe"]);
        assert_eq!(words("Go 7 C++ sort_by"), ["go", "7", "c", "sort", "by"]);
        assert_eq!(words("Straße"), ["strasse"]);
        assert_eq!(words(" \t--\0"), [""; 0]);
        assert_eq!(words(&"x".repeat(100)), ["x".repeat(LONGEST)]);
    }

    #[test]
    fn scripts_without_spaces_become_pairs() {
        assert_eq!(words("東京都"), ["東京", "京都", "都"]);
        assert_eq!(words("Go语言很好"), ["go", "语言", "言很", "很好", "好"]);
        assert_eq!(words("ガッツ"), ["カッ", "ッツ", "ツ"], "the voicing sign does not count");
        assert_eq!(words("한국은 좋다"), ["한국", "국은", "은", "좋다", "다"]);
    }

    #[test]
    fn a_word_is_asked_for_whole() {
        assert_eq!(terms("Go", 3), ["\"go\""]);
        assert_eq!(terms("Go", 2), ["\"go\"*"]);
        assert_eq!(terms("Café", 3), ["\"cafe\"*"]);
        assert_eq!(terms("Café", usize::MAX), ["\"cafe\""]);
        assert_eq!(terms("sort_unst", 3), ["\"sort\"", "\"unst\"*"]);
        assert_eq!(terms("東京都", 3), ["\"東京\"", "\"京都\""]);
        assert_eq!(terms("京", 3), ["\"京\"*"]);
        assert_eq!(terms("\"*", 3), [""; 0]);
    }

    proptest! {
        /// Whatever is asked for stands in the index of a text that has the word.
        #[test]
        fn every_word_of_a_text_proposes_it(text in "\\PC{0,60}|([a-zé]{1,4}|[東京都が]{1,4}|[0-9]{1,2}|[ ,.\"'_-]){0,20}") {
            let index = words(&text);
            for word in text.split_whitespace() {
                for term in terms(word, 3) {
                    let (term, open) = match term.strip_suffix('*') {
                        Some(term) => (term, true),
                        None => (&*term, false),
                    };
                    let term = term.trim_matches('"');
                    let has = |word: &String| if open { word.starts_with(term) } else { word == term };
                    prop_assert!(index.iter().any(has), "{term:?} of {word:?} is not in {index:?}");
                }
            }
        }
    }
}
