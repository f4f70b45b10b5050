//! Words the options of a model.

use chat_core::message::OptionName;
use gettextrs::gettext;

use super::fill;

/// What an option is called.
pub fn option_title(option: OptionName) -> String {
    match option {
        OptionName::Temperature => gettext("Temperature"),
        OptionName::TopP => gettext("Top P"),
        OptionName::TopK => gettext("Top K"),
        OptionName::MinP => gettext("Min P"),
        OptionName::RepeatPenalty => gettext("Repeat penalty"),
        OptionName::PresencePenalty => gettext("Presence penalty"),
        OptionName::FrequencyPenalty => gettext("Frequency penalty"),
        OptionName::Seed => gettext("Seed"),
        OptionName::Stop => gettext("Stop at"),
        OptionName::MaxTokens => gettext("Maximum reply (tokens)"),
        OptionName::ContextWindow => gettext("Context window (tokens)"),
        OptionName::KeepAlive => gettext("Keep in memory"),
        OptionName::ThinkingBudget => gettext("Thinking budget (tokens)"),
        OptionName::Schema => gettext("JSON schema"),
    }
}

/// What an option does, in a sentence.
pub fn option_hint(option: OptionName) -> String {
    match option {
        OptionName::Temperature => {
            gettext("Higher values make replies more varied, lower ones more predictable.")
        }
        OptionName::TopP => {
            gettext("Chooses only from the likeliest words that together have this probability.")
        }
        OptionName::TopK => gettext("Chooses only from this many of the likeliest words."),
        OptionName::MinP => {
            gettext("Leaves out words that are less likely than this share of the likeliest one.")
        }
        OptionName::RepeatPenalty => gettext("Makes repeated words less likely. 1 is off."),
        OptionName::PresencePenalty => {
            gettext("Makes words that were used before less likely. 0 is off.")
        }
        OptionName::FrequencyPenalty => {
            gettext("Makes words less likely the more often they were used. 0 is off.")
        }
        OptionName::Seed => {
            gettext("The same seed and message give the same reply, if the server can do that.")
        }
        OptionName::Stop => gettext("The reply ends before any of these texts, one per line."),
        OptionName::MaxTokens => gettext("Longer replies are cut off."),
        OptionName::ContextWindow => gettext("How much of the chat the model reads."),
        OptionName::KeepAlive => gettext(
            "How long the server keeps the model loaded after a reply, such as 30m or 2h. -1 is forever.",
        ),
        OptionName::ThinkingBudget => gettext("Maximum number of tokens for thinking."),
        OptionName::Schema => gettext("Replies are JSON that follows this schema."),
    }
}

/// Why a value cannot be used.
pub fn bad_option(option: OptionName) -> String {
    use chat_core::message::OptionKind;
    let title = option_title(option);
    let range = |min: String, max: String| {
        fill(
            &gettext("{option} must be a number from {min} to {max}."),
            &[("option", &title), ("min", &min), ("max", &max)],
        )
    };
    match option.kind() {
        OptionKind::Number { min, max, .. } => range(min.to_string(), max.to_string()),
        OptionKind::Whole { min, max, .. } => range(min.to_string(), max.to_string()),
        OptionKind::Duration => gettext("Use a duration such as 30m or 2h, or -1 for forever."),
        OptionKind::Schema => gettext("A JSON schema must be a JSON object."),
        OptionKind::Lines => gettext("Use one text per line."),
    }
}
