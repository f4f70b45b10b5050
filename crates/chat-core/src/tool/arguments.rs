//! Repairs a call's arguments where there is only one way to read them, and checks them against the
//! tool's schema.

use serde_json::{Map, Value};

use super::aliases::{Alias, leave_out_unknown, resolve};

/// How many faults of one call are reported.
const FAULT_LIMIT: usize = 3;

/// The most bytes in the report of one fault.
const LONGEST: usize = 300;

/// Arguments that fit a tool's schema.
#[derive(Clone, Debug, PartialEq)]
pub struct Checked {
    /// The arguments as the tool gets them.
    pub value: Value,
    /// The names of those that it does not know, and that were left out.
    pub ignored: Vec<String>,
}

impl Checked {
    /// Tells the model which arguments were ignored; empty if none were.
    pub fn note(&self) -> Option<String> {
        let names: Vec<_> = self.ignored.iter().map(|name| format!("`{name}`")).collect();
        (!names.is_empty()).then(|| format!("[Ignored unknown arguments: {}]", names.join(", ")))
    }
}

/// The arguments as the tool gets them, from all forms in which models give them.
///
/// # Errors
/// What is wrong with them, as the model gets it.
pub fn check(arguments: &Value, schema: &Value, aliases: &[Alias]) -> Result<Checked, String> {
    let mut object = match arguments {
        Value::Object(object) => object.clone(),
        Value::Null => Map::new(),
        Value::String(raw) if raw.trim().is_empty() => Map::new(),
        Value::String(raw) => repair(raw).ok_or_else(|| {
            let why = serde_json::from_str::<Value>(raw).err();
            let why = why.map(|error| format!(": {error}")).unwrap_or_default();
            format!("the arguments are not a JSON object{why}. Send them again as a JSON object.")
        })?,
        _ => {
            return Err(
                "the arguments are not a JSON object. Send them again as a JSON object.".to_owned()
            );
        }
    };
    fit(&mut object, schema);
    resolve(&mut object, aliases);
    fit(&mut object, schema);
    let mut value = Value::Object(object);
    let mut ignored = Vec::new();
    leave_out_unknown(&mut value, schema, &mut ignored);
    let validator = jsonschema::validator_for(schema)
        .map_err(|error| format!("the tool's schema is invalid: {error}"))?;
    let mut faults = validator.iter_errors(&value).map(|error| {
        let place = error.instance_path().to_string();
        // Without the value: it may be long, and the model knows it.
        let mut what = error.masked().to_string();
        what.truncate(what.floor_char_boundary(LONGEST));
        if place.is_empty() { what } else { format!("at {place}: {what}") }
    });
    let told: Vec<_> = faults.by_ref().take(FAULT_LIMIT).collect();
    let more = faults.count();
    if told.is_empty() {
        return Ok(Checked { value, ignored });
    }
    let more = if more > 0 { format!(" And {more} more.") } else { String::new() };
    Err(format!("the arguments do not match the tool's schema. {}.{more}", told.join(". ")))
}

/// Values that are written as text where the schema wants something else, and the text says just
/// that; and nothing where an argument may be left out.
fn fit(object: &mut Map<String, Value>, schema: &Value) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &str| required.is_some_and(|names| names.iter().any(|other| other == name));
    object.retain(|name, value| !value.is_null() || is_required(name));
    for (name, value) in object {
        let (Value::String(text), Some(wanted)) = (&*value, properties.get(name)) else { continue };
        let wants = |kind: &str| match wanted.get("type") {
            Some(Value::String(only)) => only == kind,
            Some(Value::Array(some)) => some.iter().any(|one| one == kind),
            _ => false,
        };
        if wants("string") {
            continue;
        }
        let Ok(read) = serde_json::from_str::<Value>(text.trim()) else { continue };
        let fits = match &read {
            Value::Number(number) => {
                wants("number") || (wants("integer") && (number.is_i64() || number.is_u64()))
            }
            Value::Bool(_) => wants("boolean"),
            Value::Array(_) => wants("array"),
            Value::Object(_) => wants("object"),
            Value::Null | Value::String(_) => false,
        };
        if fits {
            *value = read;
        }
    }
}

/// An object that is broken in ways that leave only one meaning: in a code fence, with single
/// quotes, with commas too many, with line breaks inside texts, with Python's words, or with its
/// last bracket missing. A list, a text or a number that was cut off has many.
pub fn repair(raw: &str) -> Option<Map<String, Value>> {
    let mut text = raw.trim();
    if let Some(inside) = text.strip_prefix("```") {
        let inside = inside.strip_suffix("```").unwrap_or(inside);
        text = inside.split_once('\n').map_or(inside, |(_, rest)| rest).trim();
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => return Some(object),
        // Encoded twice.
        Ok(Value::String(inner)) if inner.trim_start().starts_with('{') => return repair(&inner),
        _ => {}
    }
    match serde_json::from_str(&strict(text)?) {
        Ok(Value::Object(object)) => Some(object),
        _ => None,
    }
}

/// The same as strict JSON, where its brackets and texts can be made out.
fn strict(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len() + 8);
    let mut open = Vec::new();
    let mut chars = text.chars().peekable();
    // Whether what came last is certainly whole.
    let mut whole = false;
    while let Some(c) = chars.next() {
        match c {
            '"' | '\'' => {
                string(&mut chars, c, &mut out)?;
                whole = true;
            }
            '{' | '[' => {
                open.push(if c == '{' { '}' } else { ']' });
                out.push(c);
                whole = false;
            }
            '}' | ']' => {
                if open.pop() != Some(c) {
                    return None;
                }
                if out.trim_end().ends_with(',') {
                    out.truncate(out.trim_end().len() - 1);
                }
                out.push(c);
                whole = true;
            }
            c if c.is_alphabetic() => {
                let mut word = String::from(c);
                while let Some(next) = chars.next_if(|next| next.is_alphanumeric()) {
                    word.push(next);
                }
                out.push_str(match word.as_str() {
                    "True" | "true" => "true",
                    "False" | "false" => "false",
                    "None" | "null" => "null",
                    _ => return None,
                });
                whole = true;
            }
            c => {
                if !c.is_whitespace() {
                    whole = false;
                }
                out.push(c);
            }
        }
    }
    match open.as_slice() {
        [] => Some(out),
        // More could have followed in a list, or in what stands in another.
        ['}'] if whole => {
            out.push('}');
            Some(out)
        }
        _ => None,
    }
}

/// Copies a text up to its closing quote as strict JSON; nothing where it has none.
fn string(
    chars: &mut std::iter::Peekable<std::str::Chars<'_>>,
    quote: char,
    out: &mut String,
) -> Option<()> {
    out.push('"');
    loop {
        match chars.next()? {
            c if c == quote => break,
            '\\' => match chars.next()? {
                '\'' => out.push('\''),
                escaped => {
                    out.push('\\');
                    out.push(escaped);
                }
            },
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c => out.push(c),
        }
    }
    out.push('"');
    Some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn checked(arguments: &Value, schema: &Value) -> Result<Value, String> {
        check(arguments, schema, &[]).map(|checked| checked.value)
    }

    fn schema() -> Value {
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "from": { "type": ["integer", "null"] },
                "all": { "type": "boolean" },
                "edits": { "type": "array", "items": { "type": "object" } },
            },
            "required": ["path"],
            "additionalProperties": false,
        })
    }

    #[test]
    fn what_fits_goes_through_as_it_came() {
        let arguments = json!({ "path": "a", "from": 3, "all": true });
        assert_eq!(checked(&arguments, &schema()).unwrap(), arguments);
    }

    #[test]
    fn a_wrong_call_says_what_is_wrong_with_it() {
        let missing = checked(&json!({}), &schema()).unwrap_err();
        assert!(missing.contains("\"path\" is a required property"), "{missing}");
        let kind = checked(&json!({ "path": 4 }), &schema()).unwrap_err();
        assert!(kind.contains("at /path"), "{kind}");
        let cut = checked(&json!("{\"path\": \"a"), &schema()).unwrap_err();
        assert!(cut.contains("not a JSON object"), "{cut}");
    }

    #[test]
    fn unknown_arguments_are_left_out_and_told() {
        let given = json!({ "path": "a", "explanation": "I look.", "why": 1 });
        let checked = check(&given, &schema(), &[]).unwrap();
        assert_eq!(checked.value, json!({ "path": "a" }));
        let note = checked.note().unwrap();
        assert_eq!(note, "[Ignored unknown arguments: `explanation`, `why`]");
        assert_eq!(check(&json!({ "path": "a" }), &schema(), &[]).unwrap().note(), None);
    }

    #[test]
    fn another_name_is_as_good() {
        let aliases = [Alias::name("file_path", "path"), Alias::name("start_line", "from")];
        let given = json!({ "file_path": "a", "start_line": "7" });
        let checked = check(&given, &schema(), &aliases).unwrap();
        assert_eq!(checked.value, json!({ "path": "a", "from": 7 }));
        assert!(checked.ignored.is_empty());
    }

    #[test]
    fn a_wrong_value_is_not_sent_back() {
        let long = json!({ "path": ["x".repeat(100_000)] });
        let said = checked(&long, &schema()).unwrap_err();
        assert!(said.len() < 1_000 && said.contains("at /path"), "{said}");
    }

    #[test]
    fn values_written_as_text_are_read_where_the_schema_wants_them() {
        let told = json!({ "path": "5", "from": "7", "all": "true", "edits": "[{\"old\": 1}]" });
        let fitted = checked(&told, &schema()).unwrap();
        assert_eq!(fitted, json!({ "path": "5", "from": 7, "all": true, "edits": [{ "old": 1 }] }));
        let nothing = checked(&json!({ "path": "a", "all": null }), &schema()).unwrap();
        assert_eq!(nothing, json!({ "path": "a" }));
        assert!(checked(&json!({ "path": "a", "from": "7.5" }), &schema()).is_err());
    }

    #[test]
    fn what_has_one_meaning_is_mended() {
        let meant = json!({ "path": "a\nb", "all": true });
        for raw in [
            "```json\n{\"path\": \"a\\nb\", \"all\": true}\n```",
            "{\"path\": \"a\nb\", \"all\": true,}",
            "{'path': 'a\\nb', 'all': True}",
            "{\"path\": \"a\\nb\", \"all\": true",
            "\"{\\\"path\\\": \\\"a\\\\nb\\\", \\\"all\\\": true}\"",
        ] {
            assert_eq!(repair(raw).map(Value::Object).as_ref(), Some(&meant), "{raw}");
        }
    }

    #[test]
    fn what_has_many_meanings_is_not() {
        for raw in [
            "{\"path\": \"a",
            "{\"from\": 1",
            "{\"path\": \"a\",",
            "{\"edits\": [true",
            "{\"path\":",
            "{path: a}",
            "[1]",
            "{\"a\": 1]",
            "{} {}",
            "",
        ] {
            assert_eq!(repair(raw), None, "{raw}");
        }
    }

    proptest! {
        /// A text that was cut anywhere is repaired into what was meant, or not at all.
        #[test]
        fn a_cut_object_never_becomes_another(text in ".{0,12}", number in 0u32..9999, cut in 0usize..80) {
            let whole = json!({ "number": number, "text": text, "list": [true, { "a": "b" }] });
            let raw = whole.to_string();
            let cut = raw.floor_char_boundary(cut.min(raw.len()));
            if let Some(mended) = repair(&raw[..cut]) {
                let Value::Object(whole) = whole else { unreachable!() };
                for (key, value) in &mended {
                    prop_assert_eq!(Some(value), whole.get(key));
                }
            }
        }
    }
}
