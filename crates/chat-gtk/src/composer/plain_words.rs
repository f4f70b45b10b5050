//! The words behind an `@` that came with pasted text: a package's name or a decorator, which points at nothing.

use std::collections::BTreeSet;

use super::written::begins;

/// Words that begin with an `@` and are plain text. They are told apart by how they are written, so that they stay
/// plain however the text around them is moved, undone or kept as a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlainWords(BTreeSet<String>);

impl PlainWords {
    /// All words of a text.
    pub(crate) fn of(text: &str) -> Self {
        let begun = text.match_indices('@').map(|(at, _)| at);
        let begun = begun.filter(|at| begins(text[..*at].chars().next_back()));
        Self(begun.map(|at| word_at(text, at).to_owned()).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the word that begins at this byte of a text is plain.
    pub(super) fn has_at(&self, text: &str, at: usize) -> bool {
        !self.is_empty() && self.0.contains(word_at(text, at))
    }

    /// Adds those of another text that are not among `others`.
    pub(super) fn add_but(&mut self, mut more: Self, others: &Self) {
        more.0.retain(|word| !others.0.contains(word));
        self.0.extend(more.0);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl<Word: AsRef<str>> Extend<Word> for PlainWords {
    fn extend<Words: IntoIterator<Item = Word>>(&mut self, words: Words) {
        self.0.extend(words.into_iter().map(|word| word_at(word.as_ref(), 0).to_owned()));
    }
}

/// The word that begins at this byte, without the signs at its end, which may belong to what is written behind it.
fn word_at(text: &str, at: usize) -> &str {
    let rest = &text[at..];
    let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
    rest[..end].trim_end_matches(|letter: char| !letter.is_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_the_same_whatever_stands_behind_it() {
        let plain =
            PlainWords::of("{ \"@types/node\": 1 } me@home.org\n(@a.rs), @app.route(\"/x\")");
        assert_eq!(plain.iter().collect::<Vec<_>>(), ["@a.rs", "@app.route(\"/x", "@types/node"]);
        for (text, at, is_plain) in [
            ("@a.rs", 0, true),
            ("see @a.rs, and", 4, true),
            ("@a.rs:3", 0, false),
            ("@b", 0, false),
        ] {
            assert_eq!(plain.has_at(text, at), is_plain, "{text}");
        }
    }
}
