//! Caches the prompt that a model's memory holds, so that a conversation that goes on is not read
//! again.
//!
//! It is compared by text and not by tokens: what a model wrote is kept as the tokens that it chose,
//! and reading its text again could give others.

use crate::prompt::guard;

/// The tokens in memory, each with the text that it stands for.
#[derive(Clone, Debug, Default)]
pub struct PromptCache {
    tokens: Vec<Entry>,
    text: Vec<u8>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    token: i32,
    /// Where its text ends.
    end: usize,
    /// Whether it is a word of the model's own, at which texts are cut anyhow.
    special: bool,
}

/// A token that is to be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    /// Its number.
    pub id: i32,
    /// Its text.
    pub piece: Vec<u8>,
    /// Whether it is a word of the model's own.
    pub special: bool,
}

/// How much of a prompt is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CachedPrefix {
    /// So many tokens of the memory.
    pub tokens: usize,
    /// So many bytes of the prompt.
    pub bytes: usize,
}

impl PromptCache {
    /// How many tokens there are.
    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// The tokens, oldest first.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = i32> + '_ {
        self.tokens.iter().map(|entry| entry.token)
    }

    /// One more was read.
    pub fn push(&mut self, token: &Token) {
        self.text.extend_from_slice(&token.piece);
        let entry = Entry { token: token.id, end: self.text.len(), special: token.special };
        self.tokens.push(entry);
    }

    /// Only so many stay.
    pub fn truncate(&mut self, tokens: usize) {
        self.tokens.truncate(tokens);
        self.text.truncate(self.tokens.last().map_or(0, |entry| entry.end));
    }

    /// How much of a prompt is known. At least its last token never is, since what follows is
    /// reckoned from that.
    pub fn common(&self, prompt: &str) -> CachedPrefix {
        let same = self.text.iter().zip(prompt.as_bytes()).take_while(|(a, b)| a == b).count();
        let mut tokens = self.tokens.partition_point(|entry| entry.end <= same);
        // A token without a text of its own belongs to the one after it.
        let end = self.end(tokens);
        let all = tokens == self.tokens.len() && end < prompt.len();
        // A token may be a part of a character, and what was stopped may have ended there.
        if !all || !guard::can_be_cut(prompt, end) {
            // Elsewhere the rest might have been read as one token with what stands before it.
            while tokens > 0 && !self.is_seam(tokens, prompt) {
                tokens -= 1;
            }
        }
        CachedPrefix { tokens, bytes: self.end(tokens) }
    }

    fn end(&self, tokens: usize) -> usize {
        if tokens == 0 { 0 } else { self.tokens[tokens - 1].end }
    }

    /// Whether reading can begin again after so many tokens: after a word of the model's own, or
    /// where white space begins.
    fn is_seam(&self, tokens: usize, prompt: &str) -> bool {
        let end = self.end(tokens);
        let bytes = prompt.as_bytes();
        let Some(next) = bytes.get(end) else { return false };
        let before = end.checked_sub(1).map(|at| bytes[at]);
        let seam = self.tokens[tokens - 1].special
            || (next.is_ascii_whitespace()
                && before.is_some_and(|byte| !byte.is_ascii_whitespace()));
        seam && guard::can_be_cut(prompt, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known<P: AsRef<[u8]>>(pieces: &[P]) -> PromptCache {
        let mut known = PromptCache::default();
        for (id, piece) in pieces.iter().enumerate() {
            let piece = piece.as_ref().to_owned();
            let special = piece.starts_with(b"<");
            known.push(&Token { id: id as i32, piece, special });
        }
        known
    }

    fn common(pieces: &[&str], prompt: &str) -> (usize, usize) {
        let common = known(pieces).common(prompt);
        (common.tokens, common.bytes)
    }

    const TURN: &[&str] = &["", "<user>", "Hi", " there", "<bot>", "Hel", "lo"];

    #[test]
    fn a_conversation_that_goes_on_is_known_to_its_end() {
        assert_eq!(common(TURN, "<user>Hi there<bot>Hello<user>More"), (7, 24));
    }

    #[test]
    fn another_question_is_read_from_where_it_differs() {
        assert_eq!(common(TURN, "<user>Hi you<bot>"), (3, 8));
        assert_eq!(common(TURN, "<user>Hiya<bot>"), (2, 6));
        assert_eq!(common(TURN, "Other"), (0, 0));
    }

    #[test]
    fn what_could_have_been_one_token_with_the_rest_is_read_again() {
        // The reply is the same up to "Hel", and then it is not.
        assert_eq!(common(TURN, "<user>Hi there<bot>Help<user>"), (5, 19));
    }

    #[test]
    fn of_the_same_prompt_the_end_is_read_again() {
        assert_eq!(common(TURN, "<user>Hi there<bot>Hello"), (5, 19));
        assert_eq!(common(TURN, "<user>Hi there<bot>"), (3, 8));
        assert_eq!(common(&[], "Hi"), (0, 0));
    }

    #[test]
    fn what_ends_inside_a_character_is_known_up_to_where_it_can_be_cut() {
        let part: &[&[u8]] = &[b"Hi", b" you", b"\xF0"];
        assert_eq!(known(part).common("Hi you😀"), CachedPrefix { tokens: 1, bytes: 2 });
        let part: &[&[u8]] = &[b"Hi", b"\xF0"];
        assert_eq!(known(part).common("Hi😀"), CachedPrefix::default());
        // Where nothing of it was known, the character itself is no hindrance.
        let whole: &[&[u8]] = &[b"Hi", b"\xF0", b"\x9F\x98\x80"];
        assert_eq!(known(whole).common("Hi😀!"), CachedPrefix { tokens: 3, bytes: 6 });
    }

    #[test]
    fn a_marked_word_is_known_as_a_whole_or_not_at_all() {
        let prompt = "Hi\u{F8F0}<the end>\u{F8F1} there";
        let begun = ["Hi", "\u{F8F0}<", "the"];
        assert_eq!(common(&begun, prompt), (0, 0));
        let whole = ["Hi", "\u{F8F0}<", "the", " end", ">\u{F8F1}"];
        assert_eq!(common(&whole, prompt), (5, prompt.len() - 6));
        let other = ["Hi", "\u{F8F0}<", "the", " end", ">\u{F8F1}", " you"];
        assert_eq!(common(&other, prompt), (5, prompt.len() - 6));
        // A space in it is no place to cut.
        let other = ["<s>", "\u{F8F0}<", "the", " end", " of it>\u{F8F1}"];
        assert_eq!(common(&other, "<s>\u{F8F0}<the end>\u{F8F1}"), (1, 3));
    }

    #[test]
    fn what_is_forgotten_is_not_known() {
        let mut known = known(TURN);
        known.truncate(3);
        assert_eq!((known.len(), known.ids().collect::<Vec<_>>()), (3, vec![0, 1, 2]));
        assert_eq!(known.common("<user>Hi there"), CachedPrefix { tokens: 3, bytes: 8 });
    }
}
