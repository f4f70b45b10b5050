//! Reads JSON from servers that disagree about types: borrowed where it can be, lenient where it
//! must be.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Unexpected, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// What stands for half a character that has no other half.
pub(super) const LONE: char = char::REPLACEMENT_CHARACTER;

/// A text that is not copied where it holds no escapes. Derived code copies an optional one.
///
/// Servers in JavaScript cut a text between two UTF-16 units, also in the middle of a character:
/// then its ends may be halves, which [`Joiner`] puts together. A half anywhere else is lone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the text is what this is without its halves")]
pub(super) struct Text<'a> {
    pub text: Cow<'a, str>,
    /// The second half of a character, before the text.
    low: Option<u16>,
    /// The first half of a character, behind the text.
    high: Option<u16>,
}

impl<'a> Text<'a> {
    /// A text of these bytes, which JSON held without an escape.
    pub fn of_borrowed<E: Error>(bytes: &'a [u8]) -> Result<Self, E> {
        match str::from_utf8(bytes) {
            Ok(text) => Ok(Self { text: Cow::Borrowed(text), low: None, high: None }),
            Err(_) => Self::of_copied(bytes),
        }
    }

    /// A text of these bytes, which were put together from escapes.
    pub fn of_copied<E: Error>(bytes: &[u8]) -> Result<Self, E> {
        match str::from_utf8(bytes) {
            Ok(text) => Ok(text.to_owned().into()),
            Err(_) => of_halves(bytes)
                .ok_or_else(|| E::invalid_value(Unexpected::Other("other bytes"), &TextVisitor)),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.low.is_none() && self.high.is_none()
    }

    /// The text by itself.
    pub fn alone(self) -> String {
        let mut joiner = Joiner::default();
        let mut text = joiner.join(self).into_owned();
        text.extend(joiner.finish());
        text
    }
}

impl From<String> for Text<'_> {
    fn from(text: String) -> Self {
        Self { text: Cow::Owned(text), low: None, high: None }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // As bytes, JSON's texts may hold halves of characters.
        deserializer.deserialize_bytes(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, or a list of parts with text")
    }

    fn visit_borrowed_bytes<E: Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
        Text::of_borrowed(bytes)
    }

    fn visit_bytes<E: Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
        Text::of_copied(bytes)
    }

    // Some servers send a list of parts, as requests may.
    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Self::Value, A::Error> {
        let mut out = String::new();
        while let Some(part) = parts.next_element::<&RawValue>()? {
            out.push_str(value(part.get().as_bytes())["text"].as_str().unwrap_or_default());
        }
        Ok(out.into())
    }
}

/// A text with halves of characters in it; none where its bytes are something else.
fn of_halves(bytes: &[u8]) -> Option<Text<'static>> {
    let (mut out, mut low, mut high) = (String::new(), None, None);
    let mut rest = bytes;
    loop {
        let valid = str::from_utf8(rest).map_or_else(|error| error.valid_up_to(), str::len);
        let (text, more) = rest.split_at(valid);
        out.push_str(str::from_utf8(text).ok()?);
        // The three bytes that would encode U+D800 to U+DFFF.
        let [0xed, second @ 0xa0..=0xbf, third @ 0x80..=0xbf, after @ ..] = more else {
            return more.is_empty().then_some(Text { text: Cow::Owned(out), low, high });
        };
        let unit = 0xd000 | u16::from(second & 0x3f) << 6 | u16::from(third & 0x3f);
        match unit {
            0xdc00.. if rest.len() == bytes.len() && valid == 0 => low = Some(unit),
            ..0xdc00 if after.is_empty() => high = Some(unit),
            _ => out.push(LONE),
        }
        rest = after;
    }
}

/// Puts together what a server tore: the pieces of one text, in their order.
#[derive(Debug, Default)]
pub(super) struct Joiner {
    /// The first half of a character whose other half has not come.
    high: Option<u16>,
}

impl Joiner {
    /// The next piece, with the character that was torn before it and without one that is torn
    /// behind it.
    pub fn join<'a>(&mut self, piece: Text<'a>) -> Cow<'a, str> {
        if piece.is_empty() {
            return piece.text;
        }
        let high = std::mem::replace(&mut self.high, piece.high);
        if high.is_none() && piece.low.is_none() {
            return piece.text;
        }
        let mut out = String::with_capacity(piece.text.len() + 6);
        match (high, piece.low) {
            (Some(high), Some(low)) => {
                out.extend(char::decode_utf16([high, low]).map(|char| char.unwrap_or(LONE)));
            }
            _ => out.push(LONE),
        }
        out.push_str(&piece.text);
        Cow::Owned(out)
    }

    /// No more comes: what stands for a half that stayed alone.
    pub fn finish(&mut self) -> Option<char> {
        self.high.take().map(|_| LONE)
    }
}

/// A JSON text whose escapes of lone halves of characters are replaced: nothing else can read them.
pub(crate) fn without_halves(json: &str) -> Cow<'_, str> {
    let escape = |at: usize| {
        let unit = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(unit, 16).ok()
    };
    let mut out = String::new();
    let (mut from, mut at) = (0, 0);
    while let Some(found) = memchr::memchr(b'\\', &json.as_bytes()[at..]) {
        at += found;
        at += match escape(at) {
            Some(0xd800..0xdc00) if matches!(escape(at + 6), Some(0xdc00..0xe000)) => 12,
            Some(0xd800..0xe000) => {
                out.push_str(&json[from..at]);
                out.push(LONE);
                from = at + 6;
                6
            }
            // The backslash and what it escapes, which may be one.
            _ => 2,
        };
        if at >= json.len() {
            break;
        }
    }
    if from == 0 {
        return Cow::Borrowed(json);
    }
    out.push_str(&json[from..]);
    Cow::Owned(out)
}

/// A JSON text as a value, also where it holds lone halves of characters; null where it is none.
pub(super) fn value(json: &[u8]) -> Value {
    serde_json::from_slice(json).unwrap_or_else(|_| {
        let text = str::from_utf8(json).unwrap_or_default();
        serde_json::from_str(&without_halves(text)).unwrap_or_default()
    })
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// What these JSON texts say together.
    fn joined(pieces: &[&str]) -> String {
        let mut joiner = Joiner::default();
        let mut out = String::new();
        for piece in pieces {
            out += &joiner.join(serde_json::from_str(piece).unwrap());
        }
        out.extend(joiner.finish());
        out
    }

    #[rstest]
    #[case(&[r#""a\ud83d""#, r#""\ude00b""#], "a😀b")]
    #[case(&[r#""\ud83d""#, r#""\ude00""#], "😀")]
    #[case(&[r#""\ud83d""#, r#""""#, r#""\ude00""#], "😀")]
    #[case(&[r#""a\ud83d""#, r#""b""#], "a\u{fffd}b")]
    #[case(&[r#""a""#, r#""\ude00b""#], "a\u{fffd}b")]
    #[case(&[r#""a\ud83d""#], "a\u{fffd}")]
    #[case(&[r#""a\ud83db\ude00c""#], "a\u{fffd}b\u{fffd}c")]
    #[case(&[r#""\ud83d\ud83d""#, r#""\ude00""#], "\u{fffd}😀")]
    #[case(&[r#""\ude00\ud83d""#, r#""\ude00""#], "\u{fffd}😀")]
    #[case(&[r#""\ud83d\ude00""#, r#""\n""#], "😀\n")]
    #[case(&[r#"[{"type":"text","text":"a"},{"text":"\ud83d"},7]"#], "a\u{fffd}")]
    fn halves_of_characters_are_joined(#[case] pieces: &[&str], #[case] text: &str) {
        assert_eq!(joined(pieces), text);
    }

    #[test]
    fn plain_texts_are_not_copied_and_other_bytes_are_none() {
        let text: Text<'_> = serde_json::from_str(r#""日本🦀""#).unwrap();
        assert!(matches!(text.text, Cow::Borrowed("日本🦀")));
        assert!(serde_json::from_slice::<Text<'_>>(b"\"a\xff\"").is_err());
        assert!(serde_json::from_slice::<Text<'_>>(b"\"a\xed\xa0\"").is_err());
    }

    #[rstest]
    #[case(r#"{"a":"\ud83d"}"#, "{\"a\":\"\u{fffd}\"}")]
    #[case(r#""\ude00\\ud83d\ud83d\ude00""#, "\"\u{fffd}\\\\ud83d\\ud83d\\ude00\"")]
    #[case(r#""\n\"\\\ud83d\\""#, "\"\\n\\\"\\\\\u{fffd}\\\\\"")]
    #[case(r#""plain""#, r#""plain""#)]
    #[case(r"\", r"\")]
    fn lone_halves_in_json_are_replaced(#[case] json: &str, #[case] expected: &str) {
        assert_eq!(without_halves(json), expected);
    }

    proptest! {
        #[test]
        fn a_text_that_is_cut_between_units_comes_out_whole(
            text in "([a-z\"\\\\\n]|[é日🦀😀]){0,12}",
            cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let units: Vec<u16> = text.encode_utf16().collect();
            let mut ends: Vec<usize> = cuts.iter().map(|cut| cut.index(units.len() + 1)).collect();
            ends.extend([0, units.len()]);
            ends.sort_unstable();
            let pieces: Vec<String> = ends
                .windows(2)
                .map(|at| units[at[0]..at[1]].iter().map(|unit| format!("\\u{unit:04x}")).collect())
                .map(|escapes: Vec<String>| format!("\"{}\"", escapes.concat()))
                .collect();
            let pieces: Vec<&str> = pieces.iter().map(String::as_str).collect();
            prop_assert_eq!(joined(&pieces), text);
        }

        #[test]
        fn what_is_valid_json_stays(text in any::<String>()) {
            let json = serde_json::to_string(&text).unwrap();
            prop_assert_eq!(without_halves(&json), json.as_str());
            prop_assert_eq!(serde_json::from_str::<Text<'_>>(&json).unwrap().alone(), text);
        }
    }
}
