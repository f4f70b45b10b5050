//! Puts arguments into the text of a command.

/// The text of a command with its arguments: `$ARGUMENTS` is all of them, `$1` to `$9` are single ones, or nothing
/// if there are fewer, and `$$` is a `$`. Arguments with spaces are written in quotes. If the text uses none of these
/// placeholders, the arguments follow on a line of their own.
///
/// What is put in is not looked at again. Every other `$` is text.
pub fn expand(body: &str, arguments: &str) -> String {
    let arguments = arguments.trim();
    let words = words(arguments);
    let mut out = String::with_capacity(body.len() + arguments.len());
    let mut is_used = false;
    let mut rest = body;
    while let Some((before, after)) = rest.split_once('$') {
        out.push_str(before);
        let (text, length) = match after.bytes().next() {
            Some(b'$') => ("$", 1),
            Some(digit @ b'1'..=b'9') => {
                is_used = true;
                (words.get(usize::from(digit - b'1')).copied().unwrap_or_default(), 1)
            }
            _ if is_all(after) => {
                is_used = true;
                (arguments, ALL.len())
            }
            _ => ("$", 0),
        };
        out.push_str(text);
        rest = &after[length..];
    }
    out.push_str(rest);
    if !is_used && !arguments.is_empty() {
        out.truncate(out.trim_end().len());
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(arguments);
    }
    out
}

const ALL: &str = "ARGUMENTS";

/// Whether the placeholder of all arguments follows, and not a longer word.
fn is_all(after: &str) -> bool {
    after
        .strip_prefix(ALL)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

/// The single arguments. Quotes count only around a whole argument, so that an apostrophe is one.
fn words(arguments: &str) -> Vec<&str> {
    let mut words = Vec::new();
    let mut rest = arguments.trim_start();
    while let Some(first) = rest.chars().next() {
        let in_quotes = matches!(first, '"' | '\'').then(|| quoted_word(rest, first)).flatten();
        let (word, after) = in_quotes
            .unwrap_or_else(|| rest.split_at(rest.find(char::is_whitespace).unwrap_or(rest.len())));
        words.push(word);
        rest = after.trim_start();
    }
    words
}

/// A word in quotes that ends where the next one may begin, and what follows it.
fn quoted_word(text: &str, quote: char) -> Option<(&str, &str)> {
    let (word, after) = text[1..].split_once(quote)?;
    (after.is_empty() || after.starts_with(char::is_whitespace)).then_some((word, after))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("Fix $ARGUMENTS now", " a  b ", "Fix a  b now")]
    #[case("$2 before $1$1", "a b", "b before aa")]
    #[case("[$1] [$3]", "a b", "[a] []")]
    #[case("$1|$2", "\"a b\" 'c d'", "a b|c d")]
    #[case("$1|$2", "don't \"stop", "don't|\"stop")]
    #[case("$1|$2", "\"a\"b c", "\"a\"b|c")]
    #[case("costs $$5, $0, $, $x, $10", "a", "costs $5, $0, $, $x, a0")]
    #[case("$ARGUMENTS_ $ARGUMENTSX $1", "a", "$ARGUMENTS_ $ARGUMENTSX a")]
    #[case("$1", "$2 $1", "$2")]
    #[case("$ARGUMENTS", "$1 $$", "$1 $$")]
    #[case("$$1", "a", "$1\na")]
    #[case("Review.\n", "src", "Review.\nsrc")]
    #[case("Review.\n", "  ", "Review.\n")]
    #[case("", "a", "a")]
    #[case("$1.", "", ".")]
    fn arguments_are_put_in(#[case] body: &str, #[case] arguments: &str, #[case] expanded: &str) {
        assert_eq!(expand(body, arguments), expanded);
    }

    proptest! {
        #[test]
        fn no_text_panics(body in any::<String>(), arguments in any::<String>()) {
            let _ = expand(&body, &arguments);
        }

        #[test]
        fn all_arguments_are_in_it_once(before in "[a-z \n]{0,9}", after in "[ a-z\n]{0,9}", arguments in "[!-~]([ -~]{0,20}[!-~])?") {
            prop_assert_eq!(
                expand(&format!("{before}$ARGUMENTS {after}"), &arguments),
                format!("{before}{arguments} {after}")
            );
        }

        #[test]
        fn a_text_with_every_dollar_doubled_stays(body in "[a-z$A-Z0-9\n]{0,40}") {
            prop_assert_eq!(expand(&body.replace('$', "$$"), ""), body);
        }
    }
}
