//! Reading JSON from servers that disagree about types: borrowed where it can be, lenient where
//! it must be.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde_json::Value;

/// A text that is not copied where it holds no escapes. Derived code copies an optional one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Text<'a>(pub Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or a list of parts with text")
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Text::default())
    }

    // Some servers send a list of parts, as requests may.
    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut out = String::new();
        while let Some(part) = parts.next_element::<Value>()? {
            out.push_str(part["text"].as_str().unwrap_or_default());
        }
        Ok(Text(Cow::Owned(out)))
    }
}

/// A count that may come as a float, or not at all.
pub(super) fn count(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| value.as_f64().filter(|n| *n >= 0.0).map(|n| n.round() as u64))
}

/// A count of tokens.
pub(super) fn tokens(value: &Value) -> Option<u32> {
    count(value).and_then(|n| n.try_into().ok()).filter(|n| *n > 0)
}

/// A text that is not empty.
pub(super) fn words(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Whether a list of texts holds one; none where it is no list.
pub(super) fn has(list: &Value, word: &str) -> Option<bool> {
    list.as_array().map(|list| list.iter().any(|item| item == word))
}
