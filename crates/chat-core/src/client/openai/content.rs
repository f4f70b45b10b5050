//! Reads a reply's `content`: a text, or a list of parts, among which some servers put what the
//! model thinks (Mistral: `{"type": "thinking", "thinking": [{"type": "text", "text": …}]}`,
//! <https://docs.mistral.ai/capabilities/reasoning/>).

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::client::json::Text;

/// A part of what the model said.
#[derive(Debug)]
pub(super) enum ContentPart<'a> {
    Text(Text<'a>),
    Thinking(Text<'a>),
}

/// All of it; one text needs no list.
#[derive(Debug)]
pub(super) enum Content<'a> {
    Text(Text<'a>),
    Parts(Vec<ContentPart<'a>>),
}

impl<'a> Content<'a> {
    /// Gives each part, in its order.
    pub fn each(self, mut give: impl FnMut(ContentPart<'a>)) {
        match self {
            Self::Text(text) => give(ContentPart::Text(text)),
            Self::Parts(parts) => parts.into_iter().for_each(give),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Content<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_bytes(ContentVisitor)
    }
}

#[derive(Default, Deserialize)]
struct WirePart<'a> {
    #[serde(borrow)]
    text: Option<Text<'a>>,
    #[serde(borrow)]
    thinking: Option<Text<'a>>,
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = Content<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or a list of parts")
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Text::of_borrowed(bytes).map(Content::Text)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Text::of_copied(bytes).map(Content::Text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut out = Vec::new();
        while let Some(part) = parts.next_element::<&'de RawValue>()? {
            // References and the like say nothing by themselves.
            let part: WirePart<'de> = serde_json::from_str(part.get()).unwrap_or_default();
            out.extend(part.thinking.map(ContentPart::Thinking));
            out.extend(part.text.map(ContentPart::Text));
        }
        Ok(Content::Parts(out))
    }
}
