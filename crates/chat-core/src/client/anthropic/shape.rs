//! Decides in which form a model is asked: how it is told to think, what it refuses, how long its reply
//! may be.
//!
//! | model | to think | off | sampling | ends with a reply | longest reply |
//! |---|---|---|---|---|---|
//! | up to Claude 3.6 | not at all | | yes | yes | 4,096 (3), 8,192 (3.5) |
//! | Claude 3.7 to 4.5 | a budget of tokens | yes | without thinking | yes | 32,000 (Opus 4, 4.1), 64,000 |
//! | Claude 4.6 | an effort | yes | without thinking | no | 64,000 |
//! | Claude 4.7 and later | an effort | yes, but refused by some | no | no | 128,000 |
//! | any other | a budget of tokens | yes | yes | yes | 8,192 |
//!
//! What the list of models says goes before this table, and a refusal before both. Sources, all pages of
//! platform.claude.com/docs: "Adaptive thinking", "Extended thinking", "Effort", "Migration guide",
//! "Models overview".

use crate::message::Thinking;

/// How a model is told to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThinkingForm {
    /// It cannot.
    None,
    /// `enabled`, with a budget of tokens.
    Budget,
    /// `adaptive`, with an effort.
    Adaptive,
}

/// The form in which a model is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a fact about a model, apart from the others"
)]
pub(super) struct Shape {
    pub thinking: ThinkingForm,
    /// Whether thinking can be turned off.
    pub can_disable: bool,
    /// Whether there is a word for how much it thinks.
    pub has_effort: bool,
    /// Whether a temperature is accepted.
    pub sampling: bool,
    /// Whether a conversation may end with the model's own words.
    pub prefill: bool,
    /// Whether a call of a tool can be demanded.
    pub demands_tools: bool,
    /// Whether markers for the cache are accepted.
    pub caches: bool,
    /// The most tokens of a reply.
    pub longest: u32,
    /// The most tokens that the conversation leaves, where it was refused as too many.
    pub room: Option<u32>,
}

/// The longest reply of a model of which nothing is known, in tokens.
const LONGEST: u32 = 8_192;

impl Shape {
    /// The form for a model, by its name.
    pub fn of(model: &str) -> Self {
        let other = Self {
            thinking: ThinkingForm::Budget,
            can_disable: true,
            has_effort: true,
            sampling: true,
            prefill: true,
            demands_tools: true,
            caches: true,
            longest: LONGEST,
            room: None,
        };
        let Some(version) = version(model) else { return other };
        let opus = model.contains("opus");
        let none = Self { thinking: ThinkingForm::None, ..other };
        let adaptive = Self { thinking: ThinkingForm::Adaptive, prefill: false, ..other };
        if version < (3, 5) {
            Self { longest: 4_096, ..none }
        } else if version < (3, 7) {
            none
        } else if opus && ((4, 0)..=(4, 1)).contains(&version) {
            Self { longest: 32_000, ..other }
        } else if version < (4, 6) {
            Self { longest: 64_000, ..other }
        } else if version < (4, 7) {
            Self { longest: 64_000, ..adaptive }
        } else {
            Self { sampling: false, longest: 128_000, ..adaptive }
        }
    }

    /// The most tokens of a reply, as the person wants it and as the model can.
    pub fn max_tokens(&self, wanted: Option<u32>) -> u32 {
        let most = self.room.unwrap_or(self.longest).min(self.longest);
        wanted.unwrap_or(most).clamp(1, most.max(1))
    }
}

/// Tokens to think with, of a reply of so many; none where too few are left.
pub(super) fn budget(thinking: Thinking, max_tokens: u32) -> Option<u32> {
    let wanted = match thinking {
        Thinking::Default | Thinking::Off => return None,
        Thinking::Low => 2_048,
        Thinking::On | Thinking::Medium => 8_192,
        Thinking::High => 16_384,
        Thinking::Max => 32_000,
    };
    budget_within(wanted, max_tokens)
}

/// The same of a budget of so many tokens. It has at least 1,024, and the reply must be longer.
pub(super) fn budget_within(wanted: u32, max_tokens: u32) -> Option<u32> {
    const LEAST: u32 = 1_024;
    // The answer needs room, too.
    Some(wanted.min(max_tokens - max_tokens / 4)).filter(|budget| *budget >= LEAST)
}

/// The word for how much a model thinks; none where it decides.
pub(super) fn effort(thinking: Thinking) -> Option<&'static str> {
    match thinking {
        Thinking::Default | Thinking::On => None,
        // Of a model that always thinks: as little as it can.
        Thinking::Off | Thinking::Low => Some("low"),
        Thinking::Medium => Some("medium"),
        Thinking::High => Some("high"),
        Thinking::Max => Some("max"),
    }
}

/// A Claude model's version: `claude-opus-4-5-20251101`, `claude-3-7-sonnet-latest`, `claude-opus-4.6`.
fn version(model: &str) -> Option<(u32, u32)> {
    let model = model.to_ascii_lowercase();
    let rest = &model[model.find("claude")?..];
    let mut numbers = rest
        .split(['-', '.', '@', ':'])
        .skip_while(|word| word.parse::<u32>().is_err())
        // A date is none.
        .map_while(|word| word.parse().ok().filter(|number| *number < 100));
    Some((numbers.next()?, numbers.next().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("claude-3-haiku-20240307", ThinkingForm::None, 4_096, true)]
    #[case("claude-3-5-sonnet-20241022", ThinkingForm::None, 8_192, true)]
    #[case("claude-3-7-sonnet-latest", ThinkingForm::Budget, 64_000, true)]
    #[case("claude-sonnet-4-20250514", ThinkingForm::Budget, 64_000, true)]
    #[case("claude-opus-4-1-20250805", ThinkingForm::Budget, 32_000, true)]
    #[case("claude-haiku-4-5-20251001", ThinkingForm::Budget, 64_000, true)]
    #[case("anthropic/claude-opus-4.6", ThinkingForm::Adaptive, 64_000, true)]
    #[case("anthropic.claude-opus-4-7", ThinkingForm::Adaptive, 128_000, false)]
    #[case("claude-sonnet-5", ThinkingForm::Adaptive, 128_000, false)]
    #[case("claude-opus-5-5@20260901", ThinkingForm::Adaptive, 128_000, false)]
    #[case("MiniMax-M2.7", ThinkingForm::Budget, LONGEST, true)]
    fn a_model_is_asked_in_its_form(
        #[case] model: &str,
        #[case] thinking: ThinkingForm,
        #[case] longest: u32,
        #[case] sampling: bool,
    ) {
        let shape = Shape::of(model);
        assert_eq!((shape.thinking, shape.longest, shape.sampling), (thinking, longest, sampling));
    }

    #[test]
    fn a_budget_leaves_room_for_the_answer() {
        assert_eq!(budget(Thinking::Max, 64_000), Some(32_000));
        assert_eq!(budget(Thinking::High, 8_192), Some(6_144));
        assert_eq!(budget(Thinking::Low, 1_000), None);
        assert_eq!(budget(Thinking::Off, 64_000), None);
    }

    #[test]
    fn a_reply_is_as_long_as_wanted_and_as_possible() {
        let shape = Shape::of("claude-opus-4-1");
        assert_eq!(shape.max_tokens(None), 32_000);
        assert_eq!(shape.max_tokens(Some(100)), 100);
        assert_eq!(shape.max_tokens(Some(90_000)), 32_000);
        let full = Shape { room: Some(500), ..shape };
        assert_eq!((full.max_tokens(None), full.max_tokens(Some(9_000))), (500, 500));
    }
}
