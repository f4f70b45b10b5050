//! What `OpenRouter` says of a model's reasoning in `reasoning_details`, and wants back unchanged
//! with the reply that it belongs to: signatures, encrypted reasoning, summaries
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
        let continues = self.0.last().is_some_and(|last| {
            let same = |name| last.fields.get(name) == fields.get(name);
            fields.contains_key("index") && same("type") && same("index")
        });
        match self.0.last_mut().filter(|_| continues) {
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
    fn several_stretches_go_back_as_one_array() {
        let arrays = ["[1,2]", "[]", " [{\"a\": 3}] "];
        assert_eq!(joined(arrays.into_iter()).unwrap().get(), "[1,2,{\"a\": 3}]");
        assert!(joined(["[]"].into_iter()).is_none());
    }
}
