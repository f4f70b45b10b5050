//! Takes over how a server describes a tool, as data within bounds.

use std::path::Path;

use chat_core::message::ToolSpec;
use chat_core::tool::{Text, ToolInfo};
use chat_definitions::Digest;
use rmcp::model::Tool;
use serde_json::Value;

/// The longest name of a tool, in bytes.
const LONGEST_NAME: usize = 128;
/// How much of a title people are shown, in characters.
const LONGEST_TITLE: usize = 80;
/// How much of a description a model is given, in bytes.
const LONGEST_DESCRIPTION: usize = 4096;
/// The largest schema, in bytes of JSON. Of a larger one no part is of use.
const LARGEST_SCHEMA: usize = 32 << 10;

/// How a server describes a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The tool's name, as the server has it.
    pub tool: String,
    /// What people call it.
    pub title: String,
    /// What it does, as much of it as a model is given.
    pub description: String,
    /// The schema of its arguments.
    pub schema: Value,
    /// Whether the server says that it only reads. That alone allows nothing.
    pub read_only: bool,
    /// The hash of all that people and models are told of it, and of whose server it is.
    pub digest: Digest,
}

/// Why a tool cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unusable {
    /// Its name is empty, too long, or has characters that no name has.
    Name,
    /// Its schema is too large, or none.
    Schema,
}

impl Definition {
    /// Takes over what a server says of a tool. `project` is whose server it is, if it is not the user's.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn of(project: Option<&Path>, tool: &Tool) -> Result<Self, Unusable> {
        let name = &*tool.name;
        if name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control) {
            return Err(Unusable::Name);
        }
        let schema = Value::Object((*tool.input_schema).clone());
        let mut canonical = String::new();
        write(&schema, &mut canonical);
        if canonical.len() > LARGEST_SCHEMA || schema.get("type").is_some_and(|it| it != "object") {
            return Err(Unusable::Schema);
        }
        let annotations = tool.annotations.as_ref();
        let titles = [tool.title.as_deref(), annotations.and_then(|it| it.title.as_deref())];
        let title = titles.into_iter().flatten().find(|title| !title.trim().is_empty());
        let title: String = title.unwrap_or(name).trim().chars().take(LONGEST_TITLE).collect();
        let description = cut(tool.description.as_deref().unwrap_or_default());
        let read_only = annotations.and_then(|it| it.read_only_hint) == Some(true);
        let whose = project.map_or(&[][..], |project| project.as_os_str().as_encoded_bytes());
        let claim: &[u8] = if read_only { b"reads" } else { b"" };
        let digest = Digest::of([
            &b"mcp tool 1"[..],
            whose,
            name.as_bytes(),
            title.as_bytes(),
            description.as_bytes(),
            canonical.as_bytes(),
            claim,
        ]);
        Ok(Self { tool: name.to_owned(), title, description, schema, read_only, digest })
    }

    /// What agents and front ends know of it under this name.
    pub(super) fn info(&self, name: &str) -> ToolInfo {
        let spec = ToolSpec {
            name: name.to_owned(),
            description: self.description.clone(),
            parameters: self.schema.clone(),
        };
        let first = self.description.lines().next().unwrap_or_default();
        ToolInfo {
            title: Text::Verbatim(self.title.clone()),
            summary: Text::Verbatim(first.to_owned()),
            ..ToolInfo::foreign(spec)
        }
    }

    /// How many bytes of the context window it takes.
    pub fn bytes(&self) -> usize {
        self.tool.len() + self.description.len() + self.schema.to_string().len()
    }
}

fn cut(text: &str) -> String {
    if text.len() <= LONGEST_DESCRIPTION {
        return text.to_owned();
    }
    format!("{} …", &text[..text.floor_char_boundary(LONGEST_DESCRIPTION)])
}

/// Writes a value so that the order of keys makes no difference.
fn write(value: &Value, text: &mut String) {
    match value {
        Value::Object(object) => {
            let mut keys: Vec<_> = object.iter().collect();
            keys.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (key, value) in keys {
                text.push_str(&Value::from(key.as_str()).to_string());
                text.push(':');
                write(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            text.push('[');
            for item in items {
                write(item, text);
                text.push(',');
            }
            text.push(']');
        }
        other => text.push_str(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(value: Value) -> Tool {
        serde_json::from_value(value).unwrap()
    }

    fn definition(value: Value) -> Result<Definition, Unusable> {
        Definition::of(None, &tool(value))
    }

    #[test]
    fn a_definition_is_what_people_and_models_are_told() {
        let found = definition(json!({
            "name": "add", "title": " Add Numbers ", "description": "Adds.\nTwo of them.",
            "inputSchema": { "type": "object", "properties": { "a": { "type": "number" } } },
            "annotations": { "readOnlyHint": true },
        }))
        .unwrap();
        assert_eq!((&*found.tool, &*found.title, found.read_only), ("add", "Add Numbers", true));
        let info = found.info("calc__add");
        assert_eq!(info.name(), "calc__add");
        assert_eq!(info.summary, Text::Verbatim("Adds.".to_owned()));
        assert!(!info.kind.only_reads() && !info.kind.in_plan_mode(), "a claim grants nothing");
    }

    #[test]
    fn every_change_is_another_definition_and_the_order_of_keys_is_none() {
        let base = json!({ "name": "a", "description": "x", "inputSchema": { "type": "object", "title": "t" } });
        let digest = |value: Value| definition(value).unwrap().digest;
        let same = json!({ "inputSchema": { "title": "t", "type": "object" }, "description": "x", "name": "a" });
        assert_eq!(digest(base.clone()), digest(same));
        let mut others = vec![digest(base.clone())];
        for (key, value) in [
            ("description", json!("y")),
            ("title", json!("T")),
            ("inputSchema", json!({ "type": "object" })),
            ("annotations", json!({ "readOnlyHint": true })),
        ] {
            let mut other = base.clone();
            other[key] = value;
            others.push(digest(other));
        }
        others.push(Definition::of(Some(Path::new("/p")), &tool(base)).unwrap().digest);
        let count = others.len();
        others.sort_by_key(Digest::to_string);
        others.dedup();
        assert_eq!(others.len(), count);
    }

    #[test]
    fn what_is_too_long_is_cut_and_what_is_too_odd_is_left_out() {
        let schema = json!({ "type": "object" });
        let long =
            json!({ "name": "a", "description": "é".repeat(1 << 19), "inputSchema": schema });
        let found = definition(long).unwrap();
        assert!(found.description.len() <= LONGEST_DESCRIPTION + 4);
        for name in ["", "a\nb", &"x".repeat(200)] {
            let found = definition(json!({ "name": name, "inputSchema": schema }));
            assert_eq!(found, Err(Unusable::Name));
        }
        let huge = json!({ "type": "object", "title": "x".repeat(LARGEST_SCHEMA) });
        for schema in [huge, json!({ "type": "string" })] {
            let found = definition(json!({ "name": "a", "inputSchema": schema }));
            assert_eq!(found, Err(Unusable::Schema));
        }
    }
}
