//! Joins two texts that were written separately, so that each `@` word keeps its meaning.

use std::sync::Arc;

use chat_core::message::Mention;

use super::written::{Pin, Pinned, Written, all_places, places, words};

impl Pin {
    /// Whether both are the same thing under the same word.
    pub(super) fn is(&self, other: &Self) -> bool {
        self.word == other.word && self.is_of(&other.what) && (self.word.is_some() || self == other)
    }

    /// Whether both stand for the same thing. A page stays the same one when its text arrives.
    pub(super) fn is_of(&self, what: &Pinned) -> bool {
        match (&self.what, what) {
            (
                Pinned::Mention(Mention::Page { url, .. }),
                Pinned::Mention(Mention::Page { url: other, .. }),
            ) => url == other,
            (
                Pinned::Mention(Mention::Resource { server, uri, .. }),
                Pinned::Mention(Mention::Resource { server: other, uri: of_other, .. }),
            ) => server == other && uri == of_other,
            (this, other) => this == other,
        }
    }

    /// The address of a page that has not arrived yet.
    pub(super) fn awaited(&self) -> Option<&str> {
        match &self.what {
            Pinned::Mention(Mention::Page { url, text }) if text.is_empty() => Some(url),
            _ => None,
        }
    }
}

impl Written {
    /// Joins this with another one that was written after it. If both use one word for two things,
    /// the word of the other gets a number.
    pub(crate) fn followed_by(mut self, mut other: Self, between: &str) -> Self {
        let mut added = Vec::new();
        for at in 0..other.pins.len() {
            let pin = &other.pins[at];
            if let Some(same) = self.pins.iter_mut().find(|mine| mine.is(pin)) {
                if same.awaited().is_some() {
                    *same = Arc::clone(pin);
                }
                continue;
            }
            let renamed = match &pin.word {
                Some(word) => self.other_word(&other, word).map(|new| {
                    let text = other.with_word(word, &new);
                    (text, Pin { word: Some(new), ..Pin::clone(pin) })
                }),
                None => self
                    .other_label(&other, &pin.label)
                    .map(|label| (other.text.clone(), Pin { label, ..Pin::clone(pin) })),
            };
            if let Some((text, pin)) = renamed {
                other.text = text;
                other.pins[at] = Arc::new(pin);
            }
            added.push(Arc::clone(&other.pins[at]));
        }
        if !self.text.is_empty() && !other.text.is_empty() {
            self.text.push_str(between);
        }
        self.text.push_str(&other.text);
        self.pins.extend(added);
        self.plain.extend(other.plain.iter());
        self
    }

    /// Another word for something of the other, if this one uses its word for something else.
    fn other_word(&self, other: &Self, word: &str) -> Option<String> {
        let is_pinned = |word: &str| {
            let mut all = self.pins.iter().chain(&other.pins);
            all.any(|pin| pin.word.as_deref() == Some(word))
        };
        let is_mine = self.pins.iter().any(|pin| pin.word.as_deref() == Some(word));
        let stands = |word: &str| {
            [self, other].iter().any(|written| places(&written.text, &[word])[0].is_some())
        };
        let mut free = words(word, usize::MAX).filter(|word| !is_pinned(word) && !stands(word));
        if is_mine { free.next() } else { None }
    }

    /// The text with every occurrence of this word replaced.
    fn with_word(&self, word: &str, new: &str) -> String {
        let words: Vec<_> = self.pins.iter().filter_map(|pin| pin.word.as_deref()).collect();
        let text = &self.text;
        let mut made = String::with_capacity(text.len());
        let mut from = 0;
        for at in all_places(text, word, &words) {
            made.push_str(&text[from..at]);
            made.push_str(new);
            from = at + word.len();
        }
        made.push_str(&text[from..]);
        made
    }

    /// Another label for something of the other that has no word, if this one already uses the
    /// label.
    fn other_label(&self, other: &Self, label: &str) -> Option<String> {
        let has = |written: &Self, label: &str| {
            written.pins.iter().any(|pin| pin.word.is_none() && pin.label == label)
        };
        if !has(self, label) {
            return None;
        }
        labels(label).find(|label| !has(self, label) && !has(other, label))
    }
}

/// The labels for things of one name that have no word: the name, and then numbered ones.
pub(super) fn labels(wanted: &str) -> impl Iterator<Item = String> {
    let numbered = (2..).map(move |number: usize| format!("{wanted} ({number})"));
    std::iter::once(wanted.to_owned()).chain(numbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin(word: &str, path: &str) -> Arc<Pin> {
        let what = Pinned::Mention(Mention::File { path: path.into(), lines: None });
        Arc::new(Pin { label: word[1..].to_owned(), word: Some(word.to_owned()), what })
    }

    fn written(text: &str, pins: &[&Arc<Pin>]) -> Written {
        let pins = pins.iter().map(|pin| Arc::clone(pin)).collect();
        Written { pins, ..Written::text(text) }
    }

    #[test]
    fn nothing_is_lost_when_two_are_joined() {
        let (a, b) = (pin("@a", "a"), pin("@b", "b"));
        let both = written("one @a", &[&a]).followed_by(written("two @a @b", &[&a, &b]), "\n");
        assert_eq!(both, written("one @a\ntwo @a @b", &[&a, &b]));
    }

    #[test]
    fn a_word_that_means_two_things_becomes_two_words() {
        let (here, there) = (pin("@run", "a.rs"), pin("@run", "b.rs"));
        let (second, fourth) = (pin("@run#2", "c.rs"), pin("@run#4", "d.rs"));
        let one = written("see @run, and not @run#3", &[&here]);
        let other = written("or @run (@run), @run#2, my@run", &[&there, &second]);
        let both = one.followed_by(other, "\n");
        assert_eq!(both.text, "see @run, and not @run#3\nor @run#4 (@run#4), @run#2, my@run");
        let what: Vec<_> = both.pins.iter().map(|pin| (&pin.word, &pin.what)).collect();
        let what_of = |pin: &Arc<Pin>| pin.what.clone();
        let expected = [
            (here.word.clone(), what_of(&here)),
            (fourth.word.clone(), what_of(&there)),
            (second.word.clone(), what_of(&second)),
        ];
        assert_eq!(what, expected.iter().map(|(word, what)| (word, what)).collect::<Vec<_>>());
        assert_eq!(both.content().1.len(), 3, "each goes along");
    }

    #[test]
    fn a_page_that_came_meanwhile_is_the_same_one() {
        let page = |text: &str| {
            let (url, text) = ("https://a.org".to_owned(), text.to_owned());
            let what = Pinned::Mention(Mention::Page { url: url.clone(), text });
            Arc::new(Pin { word: Some(format!("@{url}")), label: url, what })
        };
        let (awaited, there) = (page(""), page("text"));
        for (one, other) in [(&awaited, &there), (&there, &awaited)] {
            let text = "@https://a.org ";
            let both = written(text, &[one]).followed_by(written(text, &[other]), "");
            assert_eq!(both, written(&text.repeat(2), &[&there]));
        }
    }

    #[test]
    fn pasted_texts_are_told_apart() {
        let log = |label: &str, text: &str| {
            let what = Pinned::Text(text.to_owned());
            Arc::new(Pin { label: label.to_owned(), word: None, what })
        };
        let (one, two) = (log("Pasted", "1"), log("Pasted", "2"));
        let both = written("", &[&one]).followed_by(written("", &[&one, &two]), "\n");
        assert_eq!(both.pins, [one, log("Pasted (2)", "2")]);
    }
}
