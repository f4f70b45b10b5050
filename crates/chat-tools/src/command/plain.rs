//! A command's output without what is meant for a terminal: a model reads colours as noise.

/// A text without escape sequences; of a line that was written over again and again, as progress
/// is, what stood there last.
pub fn plain(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    for line in without_escapes(text).split_inclusive('\n') {
        let (bare, ending) = line.strip_suffix('\n').map_or((line, ""), |bare| (bare, "\n"));
        let bare = bare.trim_end_matches('\r');
        result.push_str(bare.rsplit('\r').next().unwrap_or(bare));
        result.push_str(ending);
    }
    result
}

fn without_escapes(text: &str) -> String {
    let mut result = String::with_capacity(text.len());
    let mut rest = text.chars();
    while let Some(character) = rest.next() {
        match character {
            '\u{1b}' => skip(&mut rest),
            // A bell, and steps backwards.
            '\u{7}' | '\u{8}' => {}
            other => result.push(other),
        }
    }
    result
}

/// Skips a sequence that has begun (ECMA-48): a control sequence up to its final character, a string up to its
/// end, or a character or two.
fn skip(rest: &mut std::str::Chars<'_>) {
    match rest.next() {
        Some('[') => {
            rest.find(|c| ('\u{40}'..='\u{7e}').contains(c));
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            let mut escaped = false;
            rest.find(|c| {
                std::mem::replace(&mut escaped, *c == '\u{1b}') && *c == '\\' || *c == '\u{7}'
            });
        }
        Some('(' | ')' | '#' | '%' | ' ') => {
            rest.next();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_for_terminals_goes() {
        assert_eq!(plain("\u{1b}[1;31merror\u{1b}[0m: \u{1b}(Bno\u{7}\n"), "error: no\n");
        assert_eq!(plain("\u{1b}]8;;http://a\u{1b}\\link\u{1b}]8;;\u{7} x"), "link x");
        assert_eq!(plain("10 %\r20 %\rdone\r\nnext\n"), "done\nnext\n");
        assert_eq!(plain("a\u{1b}"), "a");
    }

    proptest! {
        #[test]
        fn text_stays_text(text in "[a-zä \n]{0,40}") {
            prop_assert_eq!(plain(&text), text);
        }

        #[test]
        fn no_escape_is_left(text in "[\u{1b}\\[\\]m0;a\r\n\\\\\u{7}]{0,40}") {
            let left = plain(&text).contains(['\u{1b}', '\r']);
            prop_assert!(!left);
        }
    }
}
