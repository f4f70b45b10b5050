//! Reads from a refusal in which other form a request is accepted.

use super::shape::{Shape, ThinkingForm};
use crate::error::{Error, Kind};

/// How a refusal says that a model has no thinking at all, or its server no field for it.
const UNKNOWN: &[&str] = &[
    "extra inputs",
    "not support",
    "unsupported",
    "not available",
    "unknown",
    "unrecognized",
    "unexpected",
];

/// What a server has against a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// What it sent along with earlier replies.
    Reasoning,
    /// The form.
    Form(Change),
}

/// Another form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// To think as much as it likes, in place of a budget.
    Adaptive,
    /// A budget, in place of an effort.
    Budget,
    /// Of a model that cannot think.
    WithoutThinking,
    /// Of a conversation or a budget with which it cannot.
    WithoutThinkingNow,
    AlwaysThinking,
    WithoutEffort,
    WithoutSampling,
    WithoutPrefill,
    WithoutDemand,
    WithoutCache,
    /// A model's longest reply.
    Longest(u32),
    /// What the conversation leaves.
    Room(u32),
}

impl Change {
    pub fn apply(self, shape: Shape) -> Shape {
        match self {
            Self::Adaptive => Shape { thinking: ThinkingForm::Adaptive, ..shape },
            Self::Budget => Shape { thinking: ThinkingForm::Budget, ..shape },
            Self::WithoutThinking | Self::WithoutThinkingNow => {
                Shape { thinking: ThinkingForm::None, ..shape }
            }
            Self::AlwaysThinking => Shape { can_disable: false, ..shape },
            Self::WithoutEffort => Shape { has_effort: false, ..shape },
            Self::WithoutSampling => Shape { sampling: false, ..shape },
            Self::WithoutPrefill => Shape { prefill: false, ..shape },
            Self::WithoutDemand => Shape { demands_tools: false, ..shape },
            Self::WithoutCache => Shape { caches: false, ..shape },
            Self::Longest(tokens) => Shape { longest: tokens, ..shape },
            Self::Room(tokens) => Shape { room: Some(tokens), ..shape },
        }
    }

    /// Whether the model wants it in other requests, too.
    pub fn is_lasting(self) -> bool {
        !matches!(self, Self::WithoutThinkingNow | Self::Room(_))
    }
}

impl Refused {
    /// What a refusal is about; none where no other form helps.
    pub fn of(error: &Error) -> Option<Self> {
        if !matches!(
            error.kind,
            Kind::BadRequest | Kind::Unsupported { .. } | Kind::InputTooLong { .. }
        ) {
            return None;
        }
        let words = error.detail.as_deref()?.to_ascii_lowercase();
        let says = |word: &str| words.contains(word);
        let form = if says("exceed context limit") {
            Change::Room(room(&words)?)
        } else if says("max_tokens:") || says("max_tokens must") {
            Change::Longest(longest(&words)?)
        } else if says("thinking.type.enabled") || says("budget_tokens: extra inputs") {
            Change::Adaptive
        } else if says("thinking.type.disabled") {
            Change::AlwaysThinking
        } else if says("adaptive thinking") || says("thinking.type.adaptive") || says("'adaptive'")
        {
            Change::Budget
        } else if says("output_config") || says("effort") {
            Change::WithoutEffort
        } else if says("cache_control") {
            Change::WithoutCache
        } else if says("prefill") || says("must end with a user message") {
            Change::WithoutPrefill
        } else if says("tool_choice") {
            Change::WithoutDemand
        } else if says("temperature") || says("top_p") {
            Change::WithoutSampling
        } else if says("must start with a thinking block") || says("expected `thinking`") {
            Change::WithoutThinkingNow
        } else if says("signature")
            || says("cannot be modified")
            || says("redacted_thinking")
            || says("thinking blocks")
        {
            return Some(Self::Reasoning);
        } else if says("thinking") {
            if UNKNOWN.iter().any(|saying| says(saying)) {
                Change::WithoutThinking
            } else {
                Change::WithoutThinkingNow
            }
        } else {
            return None;
        };
        Some(Self::Form(form))
    }
}

/// Of "188240 + 21333 > 200000" what is left of the third number after the first one.
fn room(words: &str) -> Option<u32> {
    let (_, sum) = words.split_once("exceed context limit")?;
    let [input, _, limit] = numbers(sum)[..] else { return None };
    limit.checked_sub(input).filter(|room| *room > 0)
}

/// Of "`max_tokens`: 64000 > 8192, which is …" the smaller number: the model's limit.
fn longest(words: &str) -> Option<u32> {
    let (_, rest) = words.split_once("max_tokens")?;
    let (_, limit) = rest.split_once('>')?;
    numbers(limit).first().copied().filter(|limit| *limit > 0)
}

/// The first numbers of a text, three at most.
fn numbers(words: &str) -> Vec<u32> {
    let numbers = words.split(|c: char| !c.is_ascii_digit()).filter(|word| !word.is_empty());
    numbers.take(3).filter_map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    const fn form(change: Change) -> Refused {
        Refused::Form(change)
    }

    #[rstest]
    #[case(
        "\"thinking.type.enabled\" is not supported for this model. Use \"thinking.type.adaptive\" and \
         \"output_config.effort\" to control thinking behavior.",
        Some(form(Change::Adaptive))
    )]
    #[case("adaptive thinking is not supported on this model", Some(form(Change::Budget)))]
    #[case("output_config: Extra inputs are not permitted", Some(form(Change::WithoutEffort)))]
    #[case(
        "\"thinking.type.disabled\" is not supported for this model.",
        Some(form(Change::AlwaysThinking))
    )]
    #[case("temperature: Extra inputs are not permitted", Some(form(Change::WithoutSampling)))]
    #[case(
        "This model does not support assistant message prefill. The conversation must end with a user \
         message.",
        Some(form(Change::WithoutPrefill))
    )]
    #[case(
        "system.0.cache_control: Extra inputs are not permitted",
        Some(form(Change::WithoutCache))
    )]
    #[case(
        "max_tokens: 64000 > 8192, which is the maximum allowed number of output tokens for x",
        Some(form(Change::Longest(8_192)))
    )]
    #[case(
        "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input",
        Some(form(Change::Room(11_760)))
    )]
    #[case(
        "Thinking may not be enabled when tool_choice forces tool use.",
        Some(form(Change::WithoutDemand))
    )]
    #[case(
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`.",
        Some(form(Change::WithoutThinkingNow))
    )]
    #[case("thinking: Extra inputs are not permitted", Some(form(Change::WithoutThinking)))]
    #[case("This model does not support thinking", Some(form(Change::WithoutThinking)))]
    #[case(
        "thinking.enabled.budget_tokens: Input should be greater than or equal to 1024",
        Some(form(Change::WithoutThinkingNow))
    )]
    #[case(
        "messages.1.content.0: Invalid `signature` in `thinking` block",
        Some(Refused::Reasoning)
    )]
    #[case("messages.0: all messages must have non-empty content", None)]
    fn a_refusal_says_what_to_send_instead(#[case] words: &str, #[case] refused: Option<Refused>) {
        let error = Error::new(Kind::BadRequest).with_detail(words);
        assert_eq!(Refused::of(&error), refused);
        let key = Error::new(Kind::Forbidden).with_detail(words);
        assert_eq!(Refused::of(&key), None);
    }
}
