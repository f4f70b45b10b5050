//! Matches typographic quotes, which models replace with plain ones.

use std::borrow::Cow;

/// A text with plain quotes, character by character; borrowed if it has no others.
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.is_ascii() || text.chars().all(|character| plain_character(character) == character) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.chars().map(plain_character).collect())
}

fn plain_character(character: char) -> char {
    match character {
        '“' | '”' | '„' | '‟' => '"',
        '‘' | '’' | '‚' | '‛' | 'ʼ' => '\'',
        other => other,
    }
}

/// A changed line, with the file's own quotes where it did not change: at its beginning and its
/// end. What the model rewrote stays as it is, since a typographic quote breaks code; and a pair of
/// quotes is never split. `given` and `there` are equal except for quotes.
pub fn keep(given: &str, there: &str, new: &str) -> String {
    if given == new {
        return there.to_owned();
    }
    let given: Vec<char> = given.chars().collect();
    let there: Vec<char> = there.chars().collect();
    let new: Vec<char> = new.chars().collect();
    let limit = given.len().min(new.len());
    let head = given.iter().zip(&new).take_while(|(a, b)| a == b).count();
    let tail = given
        .iter()
        .rev()
        .zip(new.iter().rev())
        .take(limit - head)
        .take_while(|(a, b)| a == b)
        .count();
    // A line that begins differently is another line.
    if given.len() != there.len() || !given[..head].iter().any(|c| c.is_alphanumeric()) {
        return new.into_iter().collect();
    }
    let ends = [head, given.len() - tail];
    let kept = |quote| {
        let quotes = |part: &[char], at: usize| {
            let quotes = part
                .iter()
                .enumerate()
                .filter(|(i, c)| is_quote(**c, quote) && !is_apostrophe(&given, at + i));
            quotes.count()
        };
        let middle = quotes(&given[ends[0]..ends[1]], ends[0])
            + new[head..new.len() - tail].iter().filter(|c| is_quote(**c, quote)).count();
        middle == 0
            || (quotes(&given[..head], 0) % 2 == 0 && quotes(&given[ends[1]..], ends[1]) % 2 == 0)
    };
    let (double, single) = (kept('"'), kept('\''));
    let own = |at: usize| {
        let keeps = match plain_character(given[at]) {
            '"' => double,
            '\'' => single || is_apostrophe(&given, at),
            _ => true,
        };
        if keeps { there[at] } else { given[at] }
    };
    let head = (0..head).map(own);
    let rest = (ends[1]..given.len()).map(own);
    head.chain(new[ends[0]..new.len() - tail].iter().copied()).chain(rest).collect()
}

fn is_quote(character: char, quote: char) -> bool {
    plain_character(character) == quote
}

/// Whether a quote is inside a word.
fn is_apostrophe(text: &[char], at: usize) -> bool {
    let is_letter =
        |at: Option<usize>| at.and_then(|at| text.get(at)).is_some_and(|c| c.is_alphabetic());
    is_quote(text[at], '\'') && is_letter(at.checked_sub(1)) && is_letter(Some(at + 1))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn unchanged_parts_keep_their_quotes() {
        let keep = |there: &str, new: &str| keep(&plain(there), there, new);
        assert_eq!(keep("say “hello” now", "say \"hello\" then"), "say “hello” then");
        assert_eq!(keep("say “hello there”", "say \"hello you\""), "say “hello you”");
        assert_eq!(keep("it’s a dog’s life", "it's a cat's life"), "it’s a cat’s life");
        assert_eq!(keep("it’s fine", "it's fine, isn't it"), "it’s fine, isn't it");
        assert_eq!(keep("a ‘b’ c", "a 'b' 'd' c"), "a ‘b’ 'd' c");
    }

    #[test]
    fn a_pair_is_not_torn() {
        let keep = |there: &str, new: &str| keep(&plain(there), there, new);
        assert_eq!(keep("say “a” x", "say \"b\" and \"c\" x"), "say \"b\" and \"c\" x");
        assert_eq!(keep("say “a b” x", "say \"a\", \"b\" x"), "say \"a\", \"b\" x");
    }

    #[test]
    fn what_is_written_anew_stays_as_it_was_written() {
        let keep = |there: &str, new: &str| keep(&plain(there), there, new);
        assert_eq!(keep("// “fast”", "let mode = \"fast\""), "let mode = \"fast\"");
        assert_eq!(keep("x = \"a\" # don’t", "x = 'b' # don't"), "x = 'b' # don’t");
        assert_eq!(keep("\t“a”", "\t\"b\""), "\t\"b\"");
    }

    proptest! {
        #[test]
        fn only_quotes_are_other(there in "[ab “”‘’\"']{0,12}", new in "[ab \"']{0,12}") {
            let kept = keep(&plain(&there), &there, &new);
            prop_assert_eq!(plain(&kept), new);
        }

        #[test]
        fn an_unchanged_line_stays_as_it_is(there in "[ab “”‘’\"']{0,12}") {
            let kept = keep(&plain(&there), &there, &plain(&there));
            prop_assert_eq!(kept, there);
        }
    }
}
