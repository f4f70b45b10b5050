//! Reads from a refusal which earlier reasoning it is about.

use crate::error::{Error, Kind};

/// What of earlier reasoning a server can refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    /// Its plain text.
    Text,
    /// What the server itself sent along.
    ProviderData,
}

impl Refused {
    /// What may be corrected in one request, in the order in which it is tried where a refusal does
    /// not say which it means. Provider data can be missed first and refused then.
    pub const ALL: [Self; 3] = [Self::Text, Self::ProviderData, Self::ProviderData];
}

/// What a server has against provider data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DataRefusal {
    /// Its field, whatever stands in it: that holds for the model.
    Field,
    /// What stands in it: that holds for this conversation.
    Value,
    /// Something is missing.
    Missing,
}

/// How a refusal says that it is about provider data.
pub(super) const PROVIDER_DATA: &[&str] = &[
    "reasoning_details",
    "extra_content",
    // Anthropic's: "Invalid `signature` in `thinking` block"; "`thinking` or `redacted_thinking` blocks
    // in the latest assistant message cannot be modified". Gemini's: "Thought signature is not valid".
    "signature",
    "thinking block",
    "redacted_thinking",
    // OpenAI's: "The encrypted content … could not be verified".
    "encrypted content",
    "encrypted_content",
];

/// How a strict server refuses a field, even without its name.
pub(super) const UNNAMED: &[&str] = &["extra inputs are not permitted"];

/// How a server refuses a field that it names.
pub(super) const UNKNOWN_FIELD: &[&str] = &[
    "unsupported",
    "not supported",
    "unknown",
    "unrecognized",
    "unexpected",
    "not allowed",
    "cannot find field",
];

/// How a server refuses a value, whatever else it says of it.
const BAD_VALUE: &[&str] = &[
    "invalid signature",
    "invalid `signature`",
    "not valid",
    "be verified",
    "failed to verify",
    "verification",
    "cannot be modified",
    "corrupted",
];

const MISSED: &[&str] = &["missing a", "is missing", "must start with a thinking block"];

pub(super) fn says(words: &str, sayings: &[&str]) -> bool {
    sayings.iter().any(|saying| words.contains(saying))
}

impl DataRefusal {
    /// What a refusal says of provider data; none where it is not about it.
    pub fn of(error: &Error) -> Option<Self> {
        // Signatures are spoken of in refusals of keys, too.
        if !matches!(error.kind, Kind::BadRequest | Kind::Unsupported { .. }) {
            return None;
        }
        let words = error.detail.as_deref()?.to_ascii_lowercase();
        if !says(&words, PROVIDER_DATA) {
            return says(&words, UNNAMED).then_some(Self::Field);
        }
        // In doubt it is a value: that costs other conversations nothing.
        Some(if says(&words, MISSED) {
            Self::Missing
        } else if says(&words, BAD_VALUE) {
            Self::Value
        } else if says(&words, UNNAMED) || says(&words, UNKNOWN_FIELD) {
            Self::Field
        } else {
            Self::Value
        })
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::DataRefusal::{Field, Missing, Value};
    use super::*;

    #[rstest]
    #[case("Extra inputs are not permitted", Some(Field))]
    #[case("messages.1.reasoning_details: Extra inputs are not permitted", Some(Field))]
    #[case("property 'reasoning_details' is unsupported", Some(Field))]
    #[case("Unrecognized request argument: extra_content", Some(Field))]
    #[case(
        "Invalid JSON payload received. Unknown name \"extra_content\": Cannot find field.",
        Some(Field)
    )]
    #[case("`thinking` blocks and `redacted_thinking` are not allowed here", Some(Field))]
    #[case("messages.1.content.0: Invalid `signature` in `thinking` block", Some(Value))]
    #[case("Corrupted thought signature.", Some(Value))]
    #[case("The encrypted content could not be verified: unknown organization", Some(Value))]
    #[case("messages.1.content.0.thinking.signature: Field required", Some(Value))]
    #[case("Function call is missing a thought_signature in functionCall parts.", Some(Missing))]
    #[case(
        "When thinking is on, a final assistant message must start with a thinking block",
        Some(Missing)
    )]
    #[case("temperature is not supported", None)]
    #[case("a tool result is missing", None)]
    fn a_refusal_is_of_a_field_or_of_what_stands_there(
        #[case] words: &str,
        #[case] refusal: Option<DataRefusal>,
    ) {
        let error = Error::new(Kind::BadRequest).with_detail(words);
        assert_eq!(DataRefusal::of(&error), refusal);
    }

    #[test]
    fn a_refusal_of_a_signature_is_not_one_of_a_key() {
        let words = "The request signature we calculated does not match.";
        let of = |kind: Kind| DataRefusal::of(&Error::new(kind).with_detail(words));
        assert_eq!(of(Kind::Forbidden), None);
        assert_eq!(of(Kind::BadRequest), Some(Value));
    }
}
