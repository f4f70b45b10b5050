//! Tracks `@` words in pasted text that mention nothing, such as package names and decorators.

use std::collections::BTreeSet;
use std::path::Path;

use chat_core::message::{AtResource, at_words};

/// Words that begin with an `@` but are plain text. They are identified by their spelling, so that
/// they stay plain when the text around them is moved, undone or kept as a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct PlainWords(BTreeSet<String>);

impl PlainWords {
    /// All words of a text.
    pub(crate) fn of(text: &str) -> Self {
        let unlisted = |_: &str, _: &str| Some(AtResource::Unlisted);
        let words = at_words(text, Some(Path::new("")), |_| None, unlisted);
        let places = words.mentions.into_iter().map(|word| word.range).chain(words.unknown);
        Self(places.map(|place| text[place].to_owned()).collect())
    }

    /// Whether this word is plain.
    pub(super) fn has(&self, word: &str) -> bool {
        self.0.contains(word)
    }

    /// The word is no longer plain.
    pub(super) fn remove(&mut self, word: &str) {
        self.0.remove(word);
    }

    /// Adds the words of another text, except `others`.
    pub(super) fn add_but(&mut self, mut more: Self, others: &Self) {
        more.0.retain(|word| !others.0.contains(word));
        self.0.extend(more.0);
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl<Word: Into<String>> Extend<Word> for PlainWords {
    fn extend<Words: IntoIterator<Item = Word>>(&mut self, words: Words) {
        self.0.extend(words.into_iter().map(Into::into));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_end_where_names_do() {
        let text = "{ \"@types/node\": 1 } me@home.org\n(@a.rs), @\"my notes.txt\" @ @src/ @../";
        let plain = PlainWords::of(text);
        let words: Vec<_> = plain.iter().collect();
        assert_eq!(words, ["@\"my notes.txt\"", "@../", "@a.rs", "@src/", "@types/node"]);
        let plain = PlainWords::of("see @wiki:note://today.");
        assert!(plain.has("@wiki:note://today"), "{plain:?}");
    }
}
