//! Splits thinking from the text that it comes in. Servers without a parser for it (llama.cpp with
//! `--reasoning-format none`, vLLM without `--reasoning-parser`, older Ollama) pass on what the model
//! writes: `<think>`, its thoughts, `</think>`, the answer. So do DeepSeek-R1, Qwen3 and their kin
//! (vLLM: `vllm/reasoning/deepseek_r1_reasoning_parser.py`, with the same two tags). Some templates
//! put the opening tag into the prompt, and only the closing one arrives (vLLM, issue 13125 and pull
//! request 14841): [`crate::message::reasoning`] tells these at the end.
//!
//! A reply thinks only at its beginning: tags that stand elsewhere are what it talks about.

use super::batch::Batch;
use super::json::{Joiner, Text};
use crate::message::reasoning::{CLOSE, OPEN};

/// Tells thoughts from the answer as text comes. Holds back what may be a piece of a tag or of a
/// character, never more.
#[derive(Debug, Default)]
pub(super) struct ReasoningParser {
    state: ParserState,
    held: String,
    /// Characters that the server split, in the text and in what it marks as reasoning.
    torn_text: Joiner,
    torn_thinking: Joiner,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ParserState {
    /// Only white space and a beginning of the tag have come.
    #[default]
    Start,
    /// After the opening tag, before the first thought.
    Opened,
    Thinking,
    /// After the closing tag, before the answer.
    Closed,
    Answer,
}

impl ReasoningParser {
    /// More text, as it came.
    pub fn take_text(&mut self, more: Text<'_>, out: &mut Batch) {
        if !more.is_empty() {
            self.thinking_ends(out);
            let more = self.torn_text.join(more);
            self.text(&more, out);
        }
    }

    /// More of what the server itself marks as reasoning.
    pub fn take_thinking(&mut self, more: Text<'_>, out: &mut Batch) {
        if !more.is_empty() {
            self.text_ends(out);
            out.thinking(&self.torn_thinking.join(more));
        }
    }

    /// More text.
    fn text(&mut self, more: &str, out: &mut Batch) {
        if self.state == ParserState::Answer {
            return out.text(more);
        }
        self.held.push_str(more);
        while self.step(out) {}
    }

    /// Whether reasoning or an answer has begun, though nothing of it may have been sent on yet.
    pub fn has_begun(&self) -> bool {
        !self.held.is_empty() || !matches!(self.state, ParserState::Start | ParserState::Answer)
    }

    /// Something else comes, or nothing any more: what is held is no tag, and no character.
    pub fn flush(&mut self, out: &mut Batch) {
        self.thinking_ends(out);
        self.text_ends(out);
    }

    fn thinking_ends(&mut self, out: &mut Batch) {
        if let Some(lone) = self.torn_thinking.finish() {
            out.thinking(lone.encode_utf8(&mut [0; 4]));
        }
    }

    fn text_ends(&mut self, out: &mut Batch) {
        if let Some(lone) = self.torn_text.finish() {
            self.text(lone.encode_utf8(&mut [0; 4]), out);
        }
        let held = std::mem::take(&mut self.held);
        match self.state {
            ParserState::Opened | ParserState::Thinking => out.thinking(&held),
            ParserState::Start | ParserState::Closed | ParserState::Answer => {
                out.text(&held);
                self.state = ParserState::Answer;
            }
        }
    }

    /// Takes what can be decided from what is held back. Returns whether there may be more.
    fn step(&mut self, out: &mut Batch) -> bool {
        match self.state {
            ParserState::Start => {
                let begins = self.held.trim_start();
                if let Some(rest) = begins.strip_prefix(OPEN) {
                    self.held = rest.to_owned();
                    self.state = ParserState::Opened;
                } else if OPEN.starts_with(begins) {
                    return false;
                } else {
                    self.state = ParserState::Answer;
                }
            }
            ParserState::Opened | ParserState::Closed => {
                self.held = self.held.trim_start().to_owned();
                if self.held.is_empty() {
                    return false;
                }
                self.state = match self.state {
                    ParserState::Opened => ParserState::Thinking,
                    _ => ParserState::Answer,
                };
            }
            ParserState::Thinking => {
                if let Some((reasoning, rest)) = self.held.split_once(CLOSE) {
                    out.thinking(reasoning.trim_end());
                    self.held = rest.to_owned();
                    self.state = ParserState::Closed;
                    return true;
                }
                // White space before the closing tag is no thought.
                let held = self.held.trim_end().len().min(self.held.len() - torn(&self.held));
                let kept = self.held[..held].trim_end().len();
                let rest = self.held.split_off(kept);
                out.thinking(&std::mem::replace(&mut self.held, rest));
                return false;
            }
            ParserState::Answer => {
                out.text(&std::mem::take(&mut self.held));
                return false;
            }
        }
        true
    }
}

/// How many bytes at the end of a text may begin the closing tag.
fn torn(text: &str) -> usize {
    let lengths = (1..CLOSE.len()).rev();
    lengths.into_iter().find(|length| text.ends_with(&CLOSE[..*length])).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;
    use crate::client::Delta;

    fn told<'a>(pieces: impl IntoIterator<Item = &'a str>) -> Vec<Delta> {
        let (mut reasoning, mut out) = (ReasoningParser::default(), Batch::default());
        for piece in pieces {
            reasoning.text(piece, &mut out);
        }
        reasoning.flush(&mut out);
        out.into_deltas()
    }

    fn thinking(text: &str) -> Delta {
        Delta::Thinking(text.to_owned())
    }

    fn text(text: &str) -> Delta {
        Delta::Text(text.to_owned())
    }

    #[rstest]
    #[case("<think>\nhm, <b>\n</think>\n\nYes.", vec![thinking("hm, <b>"), text("Yes.")])]
    #[case("\n<think>hm</think>Yes </think>.", vec![thinking("hm"), text("Yes </think>.")])]
    #[case("<think>\n\n</think>\n\nYes.", vec![text("Yes.")])]
    #[case("<think>still at it </thin", vec![thinking("still at it </thin")])]
    #[case("Use <think> and </think>.", vec![text("Use <think> and </think>.")])]
    #[case("`<think>` opens it.", vec![text("`<think>` opens it.")])]
    #[case("<thinking>", vec![text("<thinking>")])]
    #[case("  indented", vec![text("  indented")])]
    #[case("<th", vec![text("<th")])]
    #[case(" ", vec![text(" ")])]
    #[case("", vec![])]
    fn a_reply_thinks_only_at_its_beginning(#[case] said: &str, #[case] expected: Vec<Delta>) {
        assert_eq!(told([said]), expected);
    }

    #[test]
    fn what_comes_between_ends_the_beginning() {
        let (mut reasoning, mut out) = (ReasoningParser::default(), Batch::default());
        reasoning.text(" <", &mut out);
        reasoning.flush(&mut out);
        reasoning.text("think>", &mut out);
        assert_eq!(out.into_deltas(), [text(" <think>")]);
    }

    proptest! {
        #[test]
        fn any_split_tells_the_same(
            said in prop::collection::vec(
                prop_oneof![
                    Just("<think>"), Just("</think>"), Just("<"), Just("</th"), Just("\n"), Just(" "),
                    Just("`"), Just("words"), Just("ß🦀"),
                ],
                0..12,
            ),
            places in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        ) {
            let said = said.concat();
            let whole = told([said.as_str()]);
            let chars: Vec<String> = said.chars().map(String::from).collect();
            prop_assert_eq!(&told(chars.iter().map(String::as_str)), &whole);
            let mut ends: Vec<usize> = places
                .iter()
                .map(|place| said.floor_char_boundary(place.index(said.len() + 1)))
                .collect();
            ends.extend([0, said.len()]);
            ends.sort_unstable();
            prop_assert_eq!(&told(ends.windows(2).map(|at| &said[at[0]..at[1]])), &whole);
            // Nothing but the tags and the white space round them is gone.
            let kept: String = whole
                .iter()
                .map(|delta| match delta {
                    Delta::Text(text) | Delta::Thinking(text) => text.as_str(),
                    _ => "",
                })
                .collect();
            let bare = |text: &str| text.replace(char::is_whitespace, "");
            let (mut all, kept) = (bare(&said), bare(&kept));
            if said.trim_start().starts_with(OPEN) {
                all = all.replacen(OPEN, "", 1).replacen(CLOSE, "", 1);
            }
            prop_assert_eq!(kept, all);
        }
    }
}
