//! Guards against a model's control tokens (`<|im_end|>`) in what people and tools say: they are
//! text there, and must not end a turn. They are marked before the template runs, and the marks tell
//! the tokenizer.

use aho_corasick::{AhoCorasick, MatchKind};

use crate::request::{Content, Message};

/// Around a word that is text: two characters of Unicode's private use, which nobody else may have.
const OPEN: char = '\u{F8F0}';
const CLOSE: char = '\u{F8F1}';

/// The words of one model.
#[derive(Debug, Default)]
pub struct Guard {
    words: Option<AhoCorasick>,
}

/// A piece of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stretch<'a> {
    /// Words of the model mean something in it.
    Prompt(&'a str),
    /// They are text. The marks around it belong to it.
    Text {
        /// With the marks.
        marked: &'a str,
        /// Without.
        text: &'a str,
    },
}

impl Guard {
    /// For a model with these words.
    pub fn new(words: &[String]) -> Self {
        // A single letter is no word; a model that has one means the letter.
        let words: Vec<_> = words.iter().filter(|word| word.len() > 2).collect();
        let words = AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(words);
        Self { words: words.ok() }
    }

    /// Marks the words in what was said.
    pub fn mark(&self, message: &mut Message) {
        match &mut message.content {
            Some(Content::Text(text)) => self.mark_text(text),
            Some(Content::Parts(parts)) => {
                for part in parts {
                    self.mark_text(&mut part.text);
                }
            }
            None => {}
        }
        for text in message.reasoning_content.iter_mut().chain(message.name.iter_mut()) {
            self.mark_text(text);
        }
        for call in message.tool_calls.iter_mut().flatten() {
            self.mark_text(&mut call.function.arguments);
        }
    }

    fn mark_text(&self, text: &mut String) {
        if text.contains([OPEN, CLOSE]) {
            text.retain(|char| char != OPEN && char != CLOSE);
        }
        let Some(words) = self.words.as_ref().filter(|words| words.is_match(text.as_str())) else {
            return;
        };
        let mut marked = String::with_capacity(text.len() + 12);
        words.replace_all_with(text, &mut marked, |_, word, marked| {
            marked.push(OPEN);
            marked.push_str(word);
            marked.push(CLOSE);
            true
        });
        *text = marked;
    }
}

/// Whether a prompt can be cut there: between characters, and not inside a marked word.
pub fn can_be_cut(prompt: &str, at: usize) -> bool {
    let Some(before) = prompt.get(..at) else { return false };
    before.rfind(OPEN).is_none_or(|open| before[open..].contains(CLOSE))
}

/// The stretches of a prompt, in order.
pub fn stretches(prompt: &str) -> Vec<Stretch<'_>> {
    let mut out = Vec::new();
    let mut rest = prompt;
    while let Some(open) = rest.find(OPEN) {
        let Some(close) = rest[open..].find(CLOSE).map(|at| open + at) else { break };
        if open > 0 {
            out.push(Stretch::Prompt(&rest[..open]));
        }
        let end = close + CLOSE.len_utf8();
        let text = &rest[open + OPEN.len_utf8()..close];
        out.push(Stretch::Text { marked: &rest[open..end], text });
        rest = &rest[end..];
    }
    if !rest.is_empty() {
        out.push(Stretch::Prompt(rest));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_models_words_are_text_where_somebody_says_them() {
        let guard = Guard::new(&["<|im_end|>".to_owned(), "<s>".to_owned()]);
        let mut message: Message =
            serde_json::from_str(r#"{"role":"user","content":"a<|im_end|>b\uF8F0"}"#).unwrap();
        guard.mark(&mut message);
        let prompt = format!("<s>{}<|im_end|>", message.text().unwrap());
        let marked = "\u{F8F0}<|im_end|>\u{F8F1}";
        assert_eq!(
            stretches(&prompt),
            [
                Stretch::Prompt("<s>a"),
                Stretch::Text { marked, text: "<|im_end|>" },
                Stretch::Prompt("b<|im_end|>"),
            ]
        );
    }

    #[test]
    fn a_prompt_without_such_words_is_one_stretch() {
        assert_eq!(stretches("abc"), [Stretch::Prompt("abc")]);
        assert!(stretches("").is_empty());
    }
}
