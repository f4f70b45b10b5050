//! Finds which words of a changed line changed.

use std::collections::HashMap;
use std::ops::Range;

use super::lines::changed_items;

/// In a line with more words than this, none are marked.
const WORDS: usize = 400;

/// The bytes of two lines that differ, by words. Both are empty if the lines have so little in
/// common that marks would only be noise: then the lines differ as a whole.
pub fn marked(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    let (old_words, new_words) = (words(old), words(new));
    if old_words.len() > WORDS || new_words.len() > WORDS {
        return (Vec::new(), Vec::new());
    }
    let mut numbers = HashMap::new();
    let mut number = |text: &str, words: &[Range<usize>]| -> Vec<u32> {
        let one = |word: &Range<usize>| {
            let next = numbers.len() as u32;
            *numbers.entry(text[word.clone()].to_owned()).or_insert(next)
        };
        words.iter().map(one).collect()
    };
    let found = {
        let (old, new) = (number(old, &old_words), number(new, &new_words));
        changed_items(&old, &new)
    };
    let bytes = |words: &[Range<usize>], range: &Range<usize>| {
        (!range.is_empty()).then(|| words[range.start].start..words[range.end - 1].end)
    };
    let marks = |words: &[Range<usize>], side: fn(&super::Changed) -> &Range<usize>| {
        found.iter().filter_map(|part| bytes(words, side(part))).collect::<Vec<_>>()
    };
    let (in_old, in_new) = (marks(&old_words, |p| &p.old), marks(&new_words, |p| &p.new));
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    let marked = |text: &str, marks: &[Range<usize>]| -> usize {
        marks.iter().map(|mark| letters(&text[mark.clone()])).sum()
    };
    let all = letters(old) + letters(new);
    let differing = marked(old, &in_old) + marked(new, &in_new);
    // More than two thirds are different.
    if differing * 3 > all * 2 { (Vec::new(), Vec::new()) } else { (in_old, in_new) }
}

/// Runs of letters and digits, runs of blanks, and every other character.
fn words(line: &str) -> Vec<Range<usize>> {
    let kind = |c: char| match c {
        c if c.is_alphanumeric() || c == '_' => 0,
        c if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut last = 2;
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        match words.last_mut() {
            Some(word) if kind(c) == last && last != 2 => word.end = end,
            _ => words.push(at..end),
        }
        last = kind(c);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut<'a>(text: &'a str, marks: &[Range<usize>]) -> Vec<&'a str> {
        marks.iter().map(|mark| &text[mark.clone()]).collect()
    }

    #[test]
    fn words_are_marked_and_not_letters() {
        let (old, new) = ("let größe = old_name(1);", "let größe = new_name(1, 2);");
        let (in_old, in_new) = marked(old, new);
        assert_eq!(cut(old, &in_old), ["old_name"]);
        assert_eq!(cut(new, &in_new), ["new_name", ", 2"]);
    }

    #[test]
    fn lines_with_little_in_common_are_not_marked() {
        assert_eq!(marked("return None;", "let found = look(at)?;"), (vec![], vec![]));
        let long = "a b ".repeat(WORDS);
        assert_eq!(marked(&long, "a b"), (vec![], vec![]));
    }
}
