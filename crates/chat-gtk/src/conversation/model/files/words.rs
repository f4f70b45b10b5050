//! Finds words of a sentence that may name a file of the project: `src/a.rs`, `(lib.rs:19)`, `Makefile:3`.

use std::ops::Range;

/// The words of a text that look like a file's name or a place in one, from this byte on, in bytes.
/// The signs of the sentence round them do not belong to them. A word without `.`, `/` or `:` in it
/// would be a link wherever somebody speaks of a `test` and there is a file of that name.
pub fn candidates(text: &str, from: usize) -> impl Iterator<Item = Range<usize>> {
    let start = text.as_ptr() as usize;
    text[from..]
        .split(char::is_whitespace)
        .map(move |word| (word.as_ptr() as usize - start, word))
        .filter(|(_, word)| word.len() > 1 && word.contains(is_sign))
        .filter_map(|(at, word)| {
            let inner = trimmed(word);
            let begin = at + (inner.as_ptr() as usize - word.as_ptr() as usize);
            inner.contains(is_sign).then(|| begin..begin + inner.len())
        })
}

/// Where the word begins that stands at this byte.
pub fn start_of(text: &str, at: usize) -> usize {
    let before = &text[..at];
    before
        .char_indices()
        .rev()
        .find(|(_, c)| c.is_whitespace())
        .map_or(0, |(i, c)| i + c.len_utf8())
}

/// What of a word names a file: the whole of it, or, where letters of another script or typographic
/// signs stand against it, a part.
pub fn named(text: &str, word: Range<usize>, is: impl Fn(&str) -> bool) -> Option<Range<usize>> {
    let whole = &text[word.clone()];
    if is(whole) {
        return Some(word);
    }
    if whole.is_ascii() {
        return None;
    }
    let mut at = word.start;
    whole.split_inclusive(|c: char| !c.is_ascii()).find_map(|part| {
        let begin = at;
        at += part.len();
        let part = trimmed(part.trim_end_matches(|c: char| !c.is_ascii()));
        let begin = begin + text[begin..].find(part)?;
        (part.contains(is_sign) && is(part)).then(|| begin..begin + part.len())
    })
}

fn is_sign(c: char) -> bool {
    matches!(c, '.' | '/' | ':')
}

/// A word without the brackets, quotation marks and punctuation of its sentence.
fn trimmed(word: &str) -> &str {
    let mut word =
        word.trim_start_matches(['(', '[', '{', '<', '"', '\'', '“', '„', '‘', '«', '»']);
    let marks = ['.', ',', ';', ':', '!', '?', '"', '\'', '“', '”', '’', '«', '»', '…', '>'];
    // How many of each are closed that were not opened in it.
    let mut unopened = [('(', ')'), ('[', ']'), ('{', '}')].map(|(open, close)| {
        (close, word.matches(close).count().saturating_sub(word.matches(open).count()))
    });
    while let Some((at, last)) = word.char_indices().next_back() {
        match unopened.iter_mut().find(|(close, count)| *close == last && *count > 0) {
            Some((_, count)) => *count -= 1,
            None if marks.contains(&last) => {}
            None => break,
        }
        word = &word[..at];
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        let files = ["src/a.rs", "lib.rs", "Makefile", "src/straße.rs", "app/(x)/p.ts", ".env"];
        let is = |word: &str| files.contains(&word.split(":19").next().unwrap_or_default());
        candidates(text, 0).filter_map(|word| named(text, word, is)).map(|at| &text[at]).collect()
    }

    #[test]
    fn names_are_found_among_the_words_and_signs_of_a_sentence() {
        assert_eq!(found("See src/a.rs:19, then lib.rs."), ["src/a.rs:19", "lib.rs"]);
        assert_eq!(
            found("(src/a.rs:19) [lib.rs] \"lib.rs\"!"),
            ["src/a.rs:19", "lib.rs", "lib.rs"]
        );
        assert_eq!(
            found("„lib.rs“ and ‘lib.rs’: “src/a.rs:19”…"),
            ["lib.rs", "lib.rs", "src/a.rs:19"]
        );
        assert_eq!(found("in app/(x)/p.ts\u{2028}and (app/(x)/p.ts)"), ["app/(x)/p.ts"; 2]);
        assert_eq!(found("read .env, Makefile:19"), [".env", "Makefile:19"]);
    }

    #[test]
    fn names_are_found_between_letters_that_know_no_spaces() {
        assert_eq!(found("在src/a.rs:19中，见lib.rs。"), ["src/a.rs:19"]);
        assert_eq!(found("见lib.rs。"), ["lib.rs"]);
        assert_eq!(found("src/a.rs’s first line; src/straße.rs"), ["src/a.rs", "src/straße.rs"]);
    }

    #[test]
    fn other_words_are_not_asked_about() {
        let asked = |text| candidates(text, 0).map(|at| &text[at]).collect::<Vec<&str>>();
        assert!(asked("A Makefile. Then: what? (no) ... — … : .").is_empty());
        assert_eq!(asked("e.g. and/or 10:30."), ["e.g", "and/or", "10:30"]);
    }

    #[test]
    fn the_word_at_a_place_begins_behind_the_space_before_it() {
        assert_eq!(start_of("see src/a", 9), 4);
        assert_eq!(start_of("see ", 4), 4);
        assert_eq!(start_of("a\u{2028}über", 6), 4);
        assert_eq!(start_of("abc", 3), 0);
    }
}
