//! Parses a call as tags: `<function=NAME><parameter=KEY>VALUE</parameter>…</function>`, as Qwen's
//! newer models and Granite write it.

use serde_json::{Map, Value};

use crate::prompt::tools::Tool;

/// What ends a call.
pub(super) const END: &str = "</function>";

/// Reads a whole call; gives the tool's name and the arguments as JSON text. None where it is no
/// call.
pub(super) fn read(text: &str, tools: &[Tool]) -> Option<(String, String)> {
    let (_, rest) = text.split_once("<function=")?;
    let (name, mut rest) = rest.split_once('>')?;
    let name = name.trim().trim_matches('"');
    let tool = tools.iter().find(|tool| tool.name == name);
    let mut arguments = Map::new();
    while let Some((_, more)) = rest.split_once("<parameter=") {
        let (key, more) = more.split_once('>')?;
        let (value, more) = more.split_once("</parameter>").unwrap_or((more, ""));
        let key = key.trim().trim_matches('"');
        arguments.insert(key.to_owned(), typed(value, key, tool));
        rest = more;
    }
    Some((name.to_owned(), Value::Object(arguments).to_string()))
}

/// A value as the tool's schema has it: a text stays one, whatever it looks like.
fn typed(value: &str, key: &str, tool: Option<&Tool>) -> Value {
    // One line break on either side belongs to the tags.
    let value = value.strip_prefix('\n').unwrap_or(value);
    let value = value.strip_suffix('\n').unwrap_or(value);
    let schema = tool.and_then(|tool| serde_json::from_str::<Value>(&tool.parameters).ok());
    let kind = schema.as_ref().and_then(|schema| schema["properties"][key]["type"].as_str());
    match kind {
        Some("string") => Value::from(value),
        _ => serde_json::from_str(value.trim()).unwrap_or_else(|_| Value::from(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tools() -> Vec<Tool> {
        vec![Tool {
            name: "write".to_owned(),
            parameters: r#"{"type":"object","properties":{"text":{"type":"string"},"line":{"type":"integer"}}}"#
                .to_owned(),
            value: minijinja::Value::UNDEFINED,
        }]
    }

    #[test]
    fn values_are_what_the_schema_says() {
        let text = "\n<function=write>\n<parameter=text>\n12\n</parameter>\n<parameter=line>\n12\n\
            </parameter>\n</function>";
        let (name, arguments) = read(text, &tools()).unwrap();
        let arguments: Value = serde_json::from_str(&arguments).unwrap();
        assert_eq!(
            (name.as_str(), &arguments["text"], &arguments["line"]),
            ("write", &Value::from("12"), &Value::from(12))
        );
    }

    #[test]
    fn what_is_no_call_is_none_and_a_cut_value_is_kept() {
        assert_eq!(read("<funct", &tools()), None);
        let (_, arguments) = read("<function=write><parameter=text>abc", &tools()).unwrap();
        assert_eq!(arguments, r#"{"text":"abc"}"#);
    }
}
