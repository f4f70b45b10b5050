//! The line below a chat that a search found: round the word, so that a narrow list does not cut it
//! away, and what is to be found when the chat is opened.

use chat_core::message::MessageId;
use chat_core::store::Hit;

use crate::conversation::Pattern;

/// The most letters before the word: a third of what a row of the usual width shows.
const BEFORE: usize = 12;

/// Where a search found a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundIn {
    /// The message.
    pub(crate) message: MessageId,
    /// What stands there of what was looked for: all of it, or the first of its words.
    pub(crate) words: String,
    /// The text round it, on one line.
    pub(super) line: String,
}

impl FoundIn {
    /// What a search for `query` found; none where only the title has it.
    pub(super) fn of(hit: &Hit, query: &str) -> Option<Self> {
        let message = hit.message?;
        let text = hit.excerpt.as_deref()?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let whole = query.split_whitespace().collect::<Vec<_>>().join(" ");
        let first = whole.split(' ').next().unwrap_or_default();
        let place = |words: &str| Pattern::new(words)?.find(&text).into_iter().next();
        let (words, at) = match (place(&whole), place(first)) {
            (Some(place), _) => (whole.as_str(), place.start),
            (None, place) => (first, place.map_or(0, |place| place.start)),
        };
        Some(Self { message, words: words.to_owned(), line: round(&text, at) })
    }
}

/// A line that begins a little before this byte, with a whole word if there is one so near.
fn round(text: &str, at: usize) -> String {
    let from = text[..at].char_indices().rev().nth(BEFORE - 1).map_or(0, |(from, _)| from);
    if from == 0 {
        return text.to_owned();
    }
    let word = text[from..at].find(' ').map_or(from, |space| from + space + 1);
    format!("…{}", text[word..].trim_start_matches('…'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_stands_near_the_beginning_of_the_line() {
        let text = "…words that nobody looked for and then the needle in it";
        assert_eq!(round(text, text.find("needle").unwrap()), "…then the needle in it");
        assert_eq!(round("a needle", 2), "a needle");
        assert_eq!(round("…a needle", 4), "…a needle");
        let text = "abcdefghijklmnopqrstuvwxyz";
        assert_eq!(round(text, 20), "…ijklmnopqrstuvwxyz");
        let text = "请告诉我本地模型怎么用谢谢你的帮助再见";
        assert!(round(text, text.find("再见").unwrap()).contains("再见"));
    }
}
