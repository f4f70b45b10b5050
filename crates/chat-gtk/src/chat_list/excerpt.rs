//! Builds the line below a chat that a search found. It starts close to the match, so that a narrow
//! list does not cut the match off, and keeps what to look for when the chat is opened.

use std::ops::Range;

use chat_core::message::MessageId;
use chat_core::store::Hit;

use crate::conversation::Pattern;

/// The most letters before the match: a third of what a row of the usual width shows.
const BEFORE: usize = 12;

/// Where a search found text in a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FoundIn {
    /// The message.
    pub(crate) message: MessageId,
    /// The part of the search that was found there: all of it, or its first word.
    pub(crate) words: String,
    /// The text around it, on one line.
    pub(super) line: String,
    /// The matches in the line, in bytes.
    pub(super) marks: Vec<Range<usize>>,
}

impl FoundIn {
    /// What a search for `query` found; none if only the title matches.
    pub(super) fn of(hit: &Hit, query: &str) -> Option<Self> {
        let message = hit.message?;
        let text = hit.excerpt.as_deref()?;
        let whole = query.split_whitespace().collect::<Vec<_>>().join(" ");
        let first = whole.split(' ').next().unwrap_or_default();
        let has = |words: &str, text: &str| {
            Pattern::new(words).and_then(|words| words.find(text).into_iter().next())
        };
        let of_first = |mark: &&Range<usize>| has(first, &text[Range::clone(mark)]).is_some();
        let (words, place) = match has(&whole, text) {
            // A word that matches as a whole is at the given position, not inside another word
            // before it.
            Some(place) if whole != first => (whole.as_str(), Some(place.start)),
            _ => (first, hit.highlights.iter().find(of_first).map(|mark| mark.start)),
        };
        let (line, marks) = round(text, place.unwrap_or_default(), &hit.highlights);
        Some(Self { message, words: words.to_owned(), line, marks })
    }
}

/// An excerpt that begins a little before this byte, with a whole word if one is near, and the
/// marks that are left in it.
fn round(text: &str, at: usize, marks: &[Range<usize>]) -> (String, Vec<Range<usize>>) {
    let from = text[..at].char_indices().rev().nth(BEFORE - 1).map_or(0, |(from, _)| from);
    if from == 0 {
        return (text.to_owned(), marks.to_vec());
    }
    let word = text[from..at].find(' ').map_or(from, |space| from + space + 1);
    let rest = text[word..].trim_start_matches('…');
    let (cut, sign) = (text.len() - rest.len(), "…");
    let marks = marks.iter().filter(|mark| mark.start >= cut);
    let shifted = |at: usize| at - cut + sign.len();
    let marks = marks.map(|mark| shifted(mark.start)..shifted(mark.end)).collect();
    (format!("{sign}{rest}"), marks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, at: usize) -> String {
        round(text, at, &[]).0
    }

    #[test]
    fn the_word_stands_near_the_beginning_of_the_line() {
        let text = "…words that nobody looked for and then the needle in it";
        assert_eq!(line(text, text.find("needle").unwrap()), "…then the needle in it");
        assert_eq!(line("a needle", 2), "a needle");
        assert_eq!(line("…a needle", 4), "…a needle");
        let text = "abcdefghijklmnopqrstuvwxyz";
        assert_eq!(line(text, 20), "…ijklmnopqrstuvwxyz");
        let text = "请告诉我本地模型怎么用谢谢你的帮助再见";
        assert!(line(text, text.find("再见").unwrap()).contains("再见"));
    }

    #[test]
    fn marks_stay_on_their_words() {
        let text = "…the needle that nobody looked for and then the needle, the needle";
        let marks: Vec<_> =
            text.match_indices("needle").map(|(at, it)| at..at + it.len()).collect();
        let (line, marks) = round(text, marks[1].start, &marks);
        assert_eq!(line, "…then the needle, the needle");
        let marked: Vec<_> = marks.into_iter().map(|mark| &line[mark]).collect();
        assert_eq!(marked, ["needle", "needle"]);
    }
}
