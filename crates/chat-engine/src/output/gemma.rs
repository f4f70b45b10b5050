//! Parses a call as Gemma 4 writes it: `call:NAME{key:value,…}`. Texts stand between `<|"|>`, and
//! keys bare. Source: llama.cpp, `common/parsers/gemma4.cpp`.

use serde_json::{Map, Value};

/// What ends a call.
pub(super) const END: &str = "<tool_call|>";
/// What stands on either side of a text.
const QUOTE: &str = "<|\"|>";
/// How deep values may stand in each other.
const DEEPEST: usize = 64;

/// Reads a whole call; gives the tool's name and the arguments as JSON text. None where it is no
/// call.
pub(super) fn read(text: &str) -> Option<(String, String)> {
    let text = text.trim().strip_prefix("call:")?;
    let at = text.find('{')?;
    let name = text[..at].trim();
    if name.is_empty() {
        return None;
    }
    let mut rest = &text[at..];
    let arguments = value(&mut rest, 0)?;
    Some((name.to_owned(), arguments.to_string()))
}

/// Takes a value from the beginning of a text.
fn value(rest: &mut &str, depth: usize) -> Option<Value> {
    if depth > DEEPEST {
        return None;
    }
    skip_space(rest);
    if rest.starts_with(QUOTE) {
        return quoted(rest).map(Value::from);
    }
    if take(rest, "{") {
        let mut object = Map::new();
        while !take(rest, "}") {
            let key = if rest.starts_with(QUOTE) { quoted(rest)? } else { until(rest, &[':'])? };
            skip_space(rest);
            if !take(rest, ":") {
                return None;
            }
            object.insert(key.trim().to_owned(), value(rest, depth + 1)?);
            next(rest);
        }
        return Some(Value::Object(object));
    }
    if take(rest, "[") {
        let mut list = Vec::new();
        while !take(rest, "]") {
            list.push(value(rest, depth + 1)?);
            next(rest);
        }
        return Some(Value::Array(list));
    }
    let word = until(rest, &[',', '}', ']'])?.trim();
    // What is no number and no other word of JSON can only be meant as a text.
    (!word.is_empty()).then(|| serde_json::from_str(word).unwrap_or_else(|_| Value::from(word)))
}

/// Takes a text that begins here; none where it does not end.
fn quoted<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let (text, behind) = rest.strip_prefix(QUOTE)?.split_once(QUOTE)?;
    *rest = behind;
    Some(text)
}

fn until<'a>(rest: &mut &'a str, ends: &[char]) -> Option<&'a str> {
    let (text, behind) = rest.split_at(rest.find(ends)?);
    *rest = behind;
    Some(text)
}

/// On to the next entry.
fn next(rest: &mut &str) {
    skip_space(rest);
    take(rest, ",");
    skip_space(rest);
}

fn take(rest: &mut &str, mark: &str) -> bool {
    let behind = rest.strip_prefix(mark);
    *rest = behind.unwrap_or(rest);
    behind.is_some()
}

fn skip_space(rest: &mut &str) {
    *rest = rest.trim_start();
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn values_of_all_kinds_are_read() {
        let text = r#"call:write{text:<|"|>a, {b}: "c"<|"|>,lines:[1,2.5],all:true,more:{none:null,list:[]}}"#;
        let (name, arguments) = read(text).unwrap();
        let arguments: Value = serde_json::from_str(&arguments).unwrap();
        let expected = serde_json::json!({
            "text": "a, {b}: \"c\"",
            "lines": [1, 2.5],
            "all": true,
            "more": {"none": null, "list": []},
        });
        assert_eq!((name.as_str(), arguments), ("write", expected));
        assert_eq!(read("call:now{}").unwrap(), ("now".to_owned(), "{}".to_owned()));
    }

    #[test]
    fn what_is_no_call_is_none() {
        for text in
            ["", "call:", "call:{}", "write{}", "call:f{a", "call:f{a:<|\"|>b}", "call:f{a:}"]
        {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read(&format!("call:f{{a:{}", "[".repeat(100_000))), None);
    }

    proptest! {
        #[test]
        fn nothing_makes_it_panic(text in "(call:f)?[{}\\[\\]:,a-c\\s]{0,40}(<\\|\"\\|>)?[{}:a]{0,9}") {
            read(&text);
        }
    }
}
