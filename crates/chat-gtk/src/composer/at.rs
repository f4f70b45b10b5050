//! Parses the `@` that the user is typing.

use super::written::begins;

/// A name that is typed has no more letters than this.
pub(super) const LONGEST: usize = 300;

/// The text between an `@` and the cursor, and how many characters it has together with the `@`.
/// `before` is the line up to the cursor.
pub(super) fn mention_query(before: &str) -> Option<(usize, &str)> {
    let word = before.rfind(char::is_whitespace).map_or(before, |blank| {
        let next = before[blank..].chars().next().map_or(0, char::len_utf8);
        &before[blank + next..]
    });
    let at = word
        .char_indices()
        .find(|(at, letter)| *letter == '@' && begins(word[..*at].chars().next_back()))?;
    let query = &word[at.0 + 1..];
    (query.len() <= LONGEST).then(|| (query.chars().count() + 1, query))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_follows_an_at() {
        let cases = [
            ("see @ma", Some((3, "ma"))),
            ("@", Some((1, ""))),
            ("(@src/m", Some((6, "src/m"))),
            ("see @ma ", None),
            ("me@example.org", None),
            ("@https://a.org/@b", Some((17, "https://a.org/@b"))),
            ("ä\u{a0}@ö", Some((2, "ö"))),
            ("", None),
        ];
        for (before, found) in cases {
            assert_eq!(mention_query(before), found, "{before:?}");
        }
    }
}
