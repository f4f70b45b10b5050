//! Keeps what `OpenRouter` says of a model's reasoning in `reasoning_details` and wants back
//! unchanged with the reply that it belongs to: signatures, encrypted reasoning, summaries
//! (<https://openrouter.ai/docs/use-cases/reasoning-tokens#preserving-reasoning>).

use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Fields whose pieces are joined; of any other the last one that says something counts.
const JOINED: &[&str] = &["text", "summary", "data"];

/// The details of one stretch of reasoning, as far as they have come.
#[derive(Debug, Default)]
pub(super) struct Details(Vec<Detail>);

/// One of them: as it came where it came whole, or its joined pieces.
#[derive(Debug)]
struct Detail {
    raw: Option<String>,
    fields: Map<String, Value>,
}

impl Details {
    /// Adds a detail, or a further piece of the last one.
    pub fn take(&mut self, json: &RawValue) {
        let Ok(fields) = serde_json::from_str::<Map<String, Value>>(json.get()) else { return };
        match self.0.last_mut().filter(|last| last.goes_on_with(&fields)) {
            Some(last) => {
                last.raw = None;
                fields.into_iter().for_each(|(name, value)| join(&mut last.fields, name, value));
            }
            None => self.0.push(Detail { raw: Some(json.get().to_owned()), fields }),
        }
    }

    /// Takes all of them out, as a JSON array; `None` if there are none.
    pub fn finish(&mut self) -> Option<String> {
        let details = std::mem::take(&mut self.0);
        let json = |detail: Detail| {
            let raw = detail.raw.map_or_else(|| serde_json::to_string(&detail.fields), Ok);
            raw.unwrap_or_default()
        };
        let all: Vec<_> = details.into_iter().map(json).collect();
        (!all.is_empty()).then(|| format!("[{}]", all.join(",")))
    }
}

impl Detail {
    /// Whether these fields are more of it: of the same kind and place, unless it was whole.
    fn goes_on_with(&self, more: &Map<String, Value>) -> bool {
        let same = |name| self.fields.get(name) == more.get(name);
        let (id, more_id) = (non_empty(&self.fields, "id"), non_empty(more, "id"));
        let is_other = id.is_some() && more_id.is_some() && id != more_id;
        let signature = non_empty(&self.fields, "signature");
        let is_whole = signature.is_some_and(|signature| {
            JOINED.iter().any(|name| non_empty(more, name).is_some())
                || non_empty(more, "signature").is_some_and(|more| more != signature)
        });
        // Encrypted details come whole, several of the same index, and some without an id.
        let has_data =
            non_empty(&self.fields, "data").is_some() && non_empty(more, "data").is_some();
        let is_other_data = has_data && (id.is_none() || id != more_id);
        let is_same_place = more.contains_key("index") && same("type") && same("index");
        is_same_place && !is_other && !is_whole && !is_other_data
    }
}

/// A field that says something.
fn non_empty<'a>(fields: &'a Map<String, Value>, name: &str) -> Option<&'a Value> {
    fields.get(name).filter(|value| !value.is_null() && value.as_str() != Some(""))
}

fn join(fields: &mut Map<String, Value>, name: String, value: Value) {
    match (fields.get_mut(&name), &value) {
        (Some(Value::String(there)), Value::String(more)) if JOINED.contains(&&*name) => {
            there.push_str(more);
        }
        (Some(_), Value::Null) => {}
        _ => {
            fields.insert(name, value);
        }
    }
}

/// These arrays as one.
pub(super) fn joined<'a>(arrays: impl Iterator<Item = &'a str>) -> Option<Box<RawValue>> {
    let items: Vec<_> = arrays
        .filter_map(|array| array.trim().strip_prefix('[')?.strip_suffix(']'))
        .filter(|items| !items.trim().is_empty())
        .collect();
    if items.is_empty() {
        return None;
    }
    RawValue::from_string(format!("[{}]", items.join(","))).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(pieces: &[&str]) -> Option<String> {
        let mut details = Details::default();
        for piece in pieces {
            details.take(&RawValue::from_string((*piece).to_owned()).unwrap());
        }
        details.finish()
    }

    #[test]
    fn what_comes_whole_is_kept_byte_for_byte() {
        let one = r#"{"type": "reasoning.encrypted","index":0,  "data":"ab\u00e9=", "id":"r1"}"#;
        assert_eq!(told(&[one]).unwrap(), format!("[{one}]"));
        assert_eq!(told(&[]), None);
    }

    #[test]
    fn pieces_of_one_detail_are_joined() {
        let pieces = [
            r#"{"type":"reasoning.text","index":0,"text":"First ","signature":null}"#,
            r#"{"type":"reasoning.text","index":0,"text":"second."}"#,
            r#"{"type":"reasoning.text","index":0,"signature":"s1"}"#,
            r#"{"type":"reasoning.text","index":1,"text":"Third."}"#,
        ];
        let all: Value = serde_json::from_str(&told(&pieces).unwrap()).unwrap();
        let first = serde_json::json!({
            "type": "reasoning.text", "index": 0, "text": "First second.", "signature": "s1",
        });
        assert_eq!((&all[0], &all[1]["text"]), (&first, &Value::from("Third.")));
    }

    #[test]
    fn details_of_other_ids_are_other_details() {
        let encrypted = |id: &str| {
            format!(r#"{{"type":"reasoning.encrypted","index":0,"data":"d","id":"{id}"}}"#)
        };
        let (one, two) = (encrypted("c1"), encrypted("c2"));
        assert_eq!(told(&[&one, &two]).unwrap(), format!("[{one},{two}]"));
    }

    #[test]
    fn encrypted_pieces_are_joined_only_where_their_ids_are_the_same() {
        let encrypted = |id: &str, data: &str| {
            format!(r#"{{"type":"reasoning.encrypted","index":0,"data":"{data}"{id}}}"#)
        };
        let (named, null) = (r#","id":"c1""#, r#","id":null"#);
        for (one, two) in [("", ""), (null, null), (named, ""), ("", named), (named, null)] {
            let (one, two) = (encrypted(one, "d1"), encrypted(two, "d2"));
            assert_eq!(told(&[&one, &two]).unwrap(), format!("[{one},{two}]"));
        }
        let begun = r#"{"type":"reasoning.encrypted","index":0,"id":"c1"}"#;
        for pieces in [
            [encrypted(named, "d1"), encrypted(named, "d2")],
            [begun.to_owned(), encrypted("", "d1d2")],
        ] {
            let all = told(&pieces.each_ref().map(String::as_str)).unwrap();
            let all: Value = serde_json::from_str(&all).unwrap();
            assert_eq!((&all[0]["data"], &all[0]["id"]), (&"d1d2".into(), &"c1".into()));
            assert_eq!(all.as_array().unwrap().len(), 1);
        }
    }

    #[test]
    fn what_follows_a_signature_is_another_detail() {
        let text = |text: &str, signature: &str| {
            format!(
                r#"{{"type":"reasoning.text","index":0,"text":"{text}","signature":"{signature}"}}"#
            )
        };
        let (one, two) = (text("First.", "s1"), text("Second.", "s2"));
        assert_eq!(told(&[&one, &two]).unwrap(), format!("[{one},{two}]"));
        // Neither a signature that comes again nor an empty one ends anything.
        let pieces = [text("First ", ""), text("half.", ""), text("", "s1"), text("", "s1")];
        let all = told(&pieces.each_ref().map(String::as_str)).unwrap();
        let all: Value = serde_json::from_str(&all).unwrap();
        assert_eq!(
            (all[0]["text"].as_str(), all[0]["signature"].as_str()),
            (Some("First half."), Some("s1"))
        );
        assert_eq!(all.as_array().unwrap().len(), 1);
    }

    #[test]
    fn several_stretches_go_back_as_one_array() {
        let arrays = ["[1,2]", "[]", " [{\"a\": 3}] "];
        assert_eq!(joined(arrays.into_iter()).unwrap().get(), "[1,2,{\"a\": 3}]");
        assert!(joined(["[]"].into_iter()).is_none());
    }
}
