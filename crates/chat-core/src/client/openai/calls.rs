//! Tells the pieces of several tool calls apart.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::client::batch::Batch;
use crate::client::json::{Joiner, Text};
use crate::message::ToolCallId;

/// A piece of a call, as it comes.
#[derive(Deserialize)]
pub(super) struct Piece<'a> {
    /// The server's index; some send none.
    #[serde(default)]
    index: Value,
    /// A text; some servers count their calls.
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    function: Option<Function<'a>>,
    /// What Gemini wants back with the call: the signature of its thoughts
    /// (<https://ai.google.dev/gemini-api/docs/thought-signatures>).
    #[serde(borrow)]
    extra_content: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
struct Function<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    /// A text of JSON; some servers send the JSON itself.
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
}

/// The calls of one reply so far, in their order.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Known>);

#[derive(Debug)]
struct Known {
    index: Option<u64>,
    /// The server's id; some send none.
    id: Option<String>,
    /// A character of the arguments that the server tore.
    torn: Joiner,
}

impl Calls {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a piece of a call. Gives what its server wants back with the call of this index.
    pub fn piece<'a>(
        &mut self,
        piece: Piece<'a>,
        out: &mut Batch,
    ) -> Option<(usize, &'a RawValue)> {
        let Piece { index, id, function, extra_content } = piece;
        let function = function.unwrap_or_default();
        let index = index.as_u64();
        let words = |text: Option<Text<'_>>| text.map(Text::alone).filter(|text| !text.is_empty());
        let (id, name) = (id.and_then(|id| given_id(id.get())), words(function.name));
        let at = self.find(index, id.as_deref(), name.as_deref()).unwrap_or_else(|| {
            let at = self.0.len();
            let made = id.clone().unwrap_or_else(|| ToolCallId::generate().as_str().to_owned());
            out.call(at, made, name.unwrap_or_default());
            self.0.push(Known { index, id, torn: Joiner::default() });
            at
        });
        if let Some(json) = function.arguments.map(RawValue::get) {
            match serde_json::from_str(json) {
                Ok(text) if json.starts_with('"') => {
                    out.arguments(at, &self.0[at].torn.join(text));
                }
                _ => out.arguments(at, json),
            }
        }
        extra_content.map(|json| (at, json))
    }

    /// No more comes.
    pub fn flush(&mut self, out: &mut Batch) {
        for (at, call) in self.0.iter_mut().enumerate() {
            if let Some(lone) = call.torn.finish() {
                out.arguments(at, lone.encode_utf8(&mut [0; 4]));
            }
        }
    }

    /// The call that a piece belongs to; none where it begins one.
    fn find(&self, wire: Option<u64>, id: Option<&str>, name: Option<&str>) -> Option<usize> {
        let at = match (wire, id) {
            (Some(wire), _) => self.0.iter().rposition(|known| known.index == Some(wire))?,
            (None, Some(id)) => {
                return self.0.iter().position(|known| known.id.as_deref() == Some(id));
            }
            // More of the last one, unless it is named, as only a first piece is.
            (None, None) if name.is_none() => return self.0.len().checked_sub(1),
            (None, None) => return None,
        };
        // Some servers number every call 0 and distinguish them by their ids.
        let other = id.is_some() && name.is_some() && self.0[at].id.as_deref() != id;
        (!other).then_some(at)
    }
}

/// A call's id as it is sent back: the text, or the number as it was written.
fn given_id(json: &str) -> Option<String> {
    match json.as_bytes().first()? {
        b'"' => serde_json::from_str(json).ok().map(Text::alone).filter(|id| !id.is_empty()),
        b'-' | b'0'..=b'9' => Some(json.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::client::Delta;

    /// What each call was named and got as arguments.
    fn calls(pieces: &[Value]) -> Vec<(String, String, String)> {
        let mut calls = Calls::default();
        let mut out: Vec<(String, String, String)> = Vec::new();
        for piece in pieces {
            let mut batch = Batch::default();
            let piece = piece.to_string();
            calls.piece(serde_json::from_str(&piece).unwrap(), &mut batch);
            for delta in batch.into_deltas() {
                let Delta::ToolCall { index, id, name, arguments } = delta else {
                    panic!("only calls: {delta:?}");
                };
                if let (Some(id), Some(name)) = (id, name) {
                    assert_eq!(index, out.len(), "calls are numbered in their order");
                    out.push((id, name, String::new()));
                }
                out[index].2 += &arguments;
            }
        }
        out
    }

    fn owned(calls: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
        let own = |(id, name, arguments): &(&str, &str, &str)| {
            ((*id).to_owned(), (*name).to_owned(), (*arguments).to_owned())
        };
        calls.iter().map(own).collect()
    }

    #[test]
    fn pieces_are_joined_by_index_also_when_they_alternate() {
        let got = calls(&[
            json!({ "index": 0, "id": "a", "function": { "name": "one", "arguments": "" } }),
            json!({ "index": 1, "id": "b", "function": { "name": "two", "arguments": "{\"x\"" } }),
            json!({ "index": 0, "function": { "arguments": "{}" } }),
            json!({ "index": 1, "function": { "arguments": ":1}" } }),
        ]);
        assert_eq!(got, owned(&[("a", "one", "{}"), ("b", "two", "{\"x\":1}")]));
    }

    #[test]
    fn calls_that_are_all_numbered_0_are_told_apart_by_id() {
        let got = calls(&[
            json!({ "index": 0, "id": "a", "function": { "name": "one", "arguments": "{}" } }),
            json!({ "index": 0, "id": "b", "function": { "name": "one", "arguments": "[" } }),
            json!({ "index": 0, "function": { "arguments": "]" } }),
        ]);
        assert_eq!(got, owned(&[("a", "one", "{}"), ("b", "one", "[]")]));
    }

    #[test]
    fn an_id_may_be_a_number() {
        let calls = calls(&[
            json!({ "index": 0, "id": 17, "function": { "name": "one", "arguments": "{}" } }),
            json!({ "index": 1, "id": {}, "function": { "name": "two", "arguments": "{}" } }),
        ]);
        assert_eq!((calls[0].0.as_str(), calls[0].1.as_str()), ("17", "one"));
        assert_eq!(calls[1].1, "two");
    }

    #[test]
    fn an_id_that_is_repeated_begins_nothing() {
        let got = calls(&[
            json!({ "index": 0, "id": "a", "function": { "name": "one", "arguments": "{" } }),
            json!({ "index": 0, "id": "a", "function": { "name": "one", "arguments": "}" } }),
        ]);
        assert_eq!(got, owned(&[("a", "one", "{}")]));
    }

    #[test]
    fn pieces_are_read_as_servers_send_them() {
        let got = calls(&[
            json!({ "index": null, "id": null, "type": "function", "function": { "name": "one",
                "arguments": null } }),
            json!({ "index": null, "function": { "arguments": "{}" } }),
        ]);
        assert_eq!((got.len(), got[0].1.as_str(), got[0].2.as_str()), (1, "one", "{}"));
    }

    #[test]
    fn without_index_and_id_a_name_begins_a_call_and_an_id_is_made() {
        let got = calls(&[
            json!({ "function": { "name": "one", "arguments": { "x": 1 } } }),
            json!({ "function": { "name": "two" } }),
            json!({ "function": { "arguments": "{}" } }),
        ]);
        assert_eq!((got[0].1.as_str(), got[0].2.as_str()), ("one", "{\"x\":1}"));
        assert_eq!((got[1].1.as_str(), got[1].2.as_str()), ("two", "{}"));
        assert!(got[0].0.starts_with("call_") && got[0].0 != got[1].0);
    }
}
