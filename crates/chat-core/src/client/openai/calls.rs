//! Tells the pieces of several tool calls apart.

use serde_json::Value;

use crate::client::batch::Batch;
use crate::client::json::words;
use crate::message::ToolCallId;

/// The calls of one reply so far, in their order.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Known>);

#[derive(Debug)]
struct Known {
    /// The server's index; some send none.
    index: Option<u64>,
    /// The server's id; some send none.
    id: Option<String>,
}

impl Calls {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes a piece of a call.
    pub fn piece(&mut self, piece: &Value, out: &mut Batch) {
        let function = &piece["function"];
        let wire = piece["index"].as_u64();
        let id = words(&piece["id"]);
        let name = words(&function["name"]);
        let at = self.find(wire, id.as_deref(), name.as_deref()).unwrap_or_else(|| {
            let at = self.0.len();
            let made = id.clone().unwrap_or_else(|| ToolCallId::generate().as_str().to_owned());
            out.call(at, made, name.unwrap_or_default());
            self.0.push(Known { index: wire, id });
            at
        });
        match &function["arguments"] {
            Value::Null => {}
            Value::String(text) => out.arguments(at, text),
            // Some servers send an object where the protocol has its text.
            object => out.arguments(at, &object.to_string()),
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
        // Some servers number every call 0 and tell them apart by their ids.
        let other = id.is_some() && name.is_some() && self.0[at].id.as_deref() != id;
        (!other).then_some(at)
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
            calls.piece(piece, &mut batch);
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
    fn an_id_that_is_repeated_begins_nothing() {
        let got = calls(&[
            json!({ "index": 0, "id": "a", "function": { "name": "one", "arguments": "{" } }),
            json!({ "index": 0, "id": "a", "function": { "name": "one", "arguments": "}" } }),
        ]);
        assert_eq!(got, owned(&[("a", "one", "{}")]));
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
