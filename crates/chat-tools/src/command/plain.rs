//! Strips terminal codes from a command's output, since they are only noise for a model.

use std::str::Chars;

/// A text without terminal codes.
#[derive(Debug, PartialEq, Eq)]
pub struct Plain {
    /// The text.
    pub text: String,
    /// Whether more than escape sequences may be missing: one had no end, and swallowed the rest of
    /// its line.
    pub is_cut: bool,
}

/// Removes escape sequences; of a line that was overwritten again and again, such as a progress
/// display, only the last version stays.
pub fn plain(text: &str) -> Plain {
    let mut result = String::with_capacity(text.len());
    let (bare, is_cut) = without_escapes(text);
    for line in bare.split_inclusive('\n') {
        let (bare, ending) = line.strip_suffix('\n').map_or((line, ""), |bare| (bare, "\n"));
        let bare = bare.trim_end_matches('\r');
        result.push_str(bare.rsplit('\r').next().unwrap_or(bare));
        result.push_str(ending);
    }
    Plain { text: result, is_cut }
}

/// The text, and whether a sequence had no end.
fn without_escapes(text: &str) -> (String, bool) {
    let (mut result, mut is_cut) = (String::with_capacity(text.len()), false);
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '\u{1b}' => is_cut |= !skip(&mut rest),
            // A bell, and backspaces.
            '\u{7}' | '\u{8}' => {}
            other => result.push(other),
        }
    }
    (result, is_cut)
}

/// Skips a sequence that has begun (ECMA-48): a control sequence up to its final character, a
/// string up to its end, or one or two characters. None extends beyond its line: otherwise a single
/// stray character would swallow all the rest. Returns whether a string had its end.
fn skip(rest: &mut Chars<'_>) -> bool {
    match in_line(rest) {
        Some('[') => {
            while ahead(rest).is_some_and(|c| ('\u{20}'..='\u{3f}').contains(&c)) {
                rest.next();
            }
            if ahead(rest).is_some_and(|c| ('\u{40}'..='\u{7e}').contains(&c)) {
                rest.next();
            }
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let mut is_escaped = false;
            while let Some(c) = in_line(rest) {
                if c == '\u{7}' || is_escaped && c == '\\' {
                    return true;
                }
                is_escaped = c == '\u{1b}';
            }
            return false;
        }
        Some('(' | ')' | '#' | '%' | ' ') => {
            in_line(rest);
        }
        _ => {}
    }
    true
}

fn ahead(rest: &Chars<'_>) -> Option<char> {
    rest.clone().next()
}

/// The next character of the line.
fn in_line(rest: &mut Chars<'_>) -> Option<char> {
    ahead(rest).filter(|c| *c != '\n')?;
    rest.next()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_for_terminals_goes() {
        let plain = |text| super::plain(text).text;
        assert_eq!(plain("\u{1b}[1;31merror\u{1b}[0m: \u{1b}(Bno\u{7}\n"), "error: no\n");
        assert_eq!(plain("\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{7} x"), "link x");
        assert_eq!(plain("10 %\r20 %\rdone\r\nnext\n"), "done\nnext\n");
        assert_eq!(plain("a\u{1b}"), "a");
    }

    #[test]
    fn a_sequence_without_an_end_takes_no_other_line() {
        for begun in ["X", "P", "]0;title", "^", "_", "]0;title\u{1b}"] {
            let plain = plain(&format!("a\u{1b}{begun}b\nc\n"));
            assert_eq!((&*plain.text, plain.is_cut), ("a\nc\n", true), "{begun}");
        }
        for begun in ["[1;3", "(", ""] {
            let plain = plain(&format!("a\u{1b}{begun}\nc\n"));
            assert_eq!((&*plain.text, plain.is_cut), ("a\nc\n", false), "{begun}");
        }
        assert!(!super::plain("\u{1b}]0;title\u{7}a").is_cut);
    }

    proptest! {
        #[test]
        fn text_stays_text(text in "[a-zä \n]{0,40}") {
            prop_assert_eq!(plain(&text).text, text);
        }

        #[test]
        fn no_escape_is_left(text in "[\u{1b}\\[\\]m0;a\r\n\\\\\u{7}]{0,40}") {
            let left = plain(&text).text.contains(['\u{1b}', '\r']);
            prop_assert!(!left);
        }

        #[test]
        fn no_line_is_lost(text in "[\u{1b}\\[\\]PX(m0;a\r\n\\\\\u{7}]{0,40}") {
            prop_assert_eq!(plain(&text).text.matches('\n').count(), text.matches('\n').count());
        }
    }
}
