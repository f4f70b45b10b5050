//! Finds characters that are not seen as they are, and makes them visible.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character is a control character, invisible, or changes the direction of writing. The joiners of
/// several scripts and of emoji (U+200C, U+200D) are ordinary.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}'
            | '\u{ffa0}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}' | '\u{200e}' | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}'
            | '\u{fff0}'..='\u{fffb}'
            | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
}

/// The text with every hidden character as `\u{…}`.
pub fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// The text in one line with single spaces, and whether it has hidden characters other than white space.
pub(crate) fn one_line(text: &str) -> (String, bool) {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let hidden = line.contains(is_hidden);
    (line, hidden)
}

/// What a problem quotes: visible, and at most 80 characters.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 80;
    let start: String = text.chars().take(LONGEST).collect();
    visible(&start).chars().take(LONGEST).collect()
}

/// The first line of a text, counted from 0, that has hidden characters other than tabs and line ends.
pub(crate) fn hidden_line(text: &str) -> Option<usize> {
    text.split('\n').position(|line| {
        line.strip_suffix('\r').unwrap_or(line).contains(|c| c != '\t' && is_hidden(c))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_hidden_becomes_visible() {
        assert_eq!(visible("safe\u{202e}txt.exe"), "safe\\u{202e}txt.exe");
        assert_eq!(visible("\u{1b}[2J\u{e0041}"), "\\u{1b}[2J\\u{e0041}");
        assert_eq!(visible("größe 東京 ⚙️ 👩\u{200d}💻"), "größe 東京 ⚙️ 👩\u{200d}💻");
    }

    #[test]
    fn a_line_has_single_spaces() {
        assert_eq!(one_line(" a\n\tb\u{2028}c "), ("a b c".to_owned(), false));
        assert_eq!(one_line("a\u{200b}b"), ("a\u{200b}b".to_owned(), true));
    }

    #[test]
    fn the_line_with_something_hidden_is_found() {
        assert_eq!(hidden_line("a\r\n\tb\nc\u{202e}\n"), Some(2));
        assert_eq!(hidden_line("a\r\n\tb\n"), None);
    }

    proptest! {
        #[test]
        fn nothing_hidden_stays(text in any::<String>()) {
            prop_assert!(!visible(&text).contains(is_hidden));
            prop_assert!(quoted(&text).chars().count() <= 80);
        }
    }
}
