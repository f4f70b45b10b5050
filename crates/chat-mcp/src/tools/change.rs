//! Compares how a server describes a tool with how it did when the user allowed it.

use std::time::{Duration, Instant};

use chat_core::message::ServerToolChange;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use similar::TextDiff;

use super::Definition;

/// A schema may have nothing in common with the old one: then it is not worth waiting for the shortest diff.
const PATIENCE: Duration = Duration::from_millis(100);
/// The longest text of a schema, in bytes. One that would be longer is written without lines.
const LONGEST_INPUTS: usize = 64 << 10;

/// What the user allows when they allow a tool: all that a model is told of it, as texts to compare.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Described {
    title: String,
    description: String,
    inputs: String,
    read_only: bool,
}

impl Described {
    pub(super) fn of(tool: &Definition) -> Self {
        let schema = sorted(&tool.schema);
        let inputs = serde_json::to_string_pretty(&schema).unwrap_or_default();
        Self {
            title: tool.title.clone(),
            description: tool.description.clone(),
            inputs: if inputs.len() > LONGEST_INPUTS { schema.to_string() } else { inputs },
            read_only: tool.read_only,
        }
    }

    /// What of it is not as it was. Not empty where the definitions differ.
    pub(super) fn since(&self, before: &Self) -> Vec<ServerToolChange> {
        let mut changes = Vec::new();
        if before.read_only != self.read_only {
            changes.push(ServerToolChange::ReadOnly { now: self.read_only });
        }
        if before.title != self.title {
            let (before, now) = (before.title.clone(), self.title.clone());
            changes.push(ServerToolChange::Title { before, now });
        }
        if before.description != self.description {
            let diff = diff(&before.description, &self.description);
            changes.push(ServerToolChange::Description { diff });
        }
        if before.inputs != self.inputs {
            changes.push(ServerToolChange::Inputs { diff: diff(&before.inputs, &self.inputs) });
        }
        changes
    }

    /// How many bytes its texts have.
    pub(super) fn bytes(&self) -> usize {
        self.title.len() + self.description.len() + self.inputs.len()
    }
}

fn diff(before: &str, now: &str) -> String {
    let deadline = Instant::now() + PATIENCE;
    let lines = TextDiff::configure().deadline(deadline).diff_lines(before, now);
    lines.unified_diff().context_radius(3).missing_newline_hint(false).to_string()
}

/// The value with its keys in order, so that no other order looks like a change.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            let mut keys: Vec<_> = object.iter().collect();
            keys.sort_by_key(|(key, _)| *key);
            Value::Object(keys.into_iter().map(|(key, it)| (key.clone(), sorted(it))).collect())
        }
        Value::Array(items) => items.iter().map(sorted).collect(),
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn described(tool: Value) -> Described {
        Described::of(&Definition::of(None, &serde_json::from_value(tool).unwrap()).unwrap())
    }

    fn base() -> Value {
        json!({
            "name": "add", "title": "Add", "description": "Adds.\nTwo numbers.",
            "inputSchema": { "type": "object", "properties": { "a": { "type": "number" } } },
        })
    }

    #[test]
    fn each_change_is_shown_as_what_is_new_and_what_is_gone() {
        let before = described(base());
        assert_eq!(before.since(&before), []);
        let since = |key: &str, value: Value| {
            let mut tool = base();
            tool[key] = value;
            described(tool).since(&before)
        };
        let (was, now) = ("Add".to_owned(), "Send".to_owned());
        assert_eq!(since("title", json!("Send")), [ServerToolChange::Title { before: was, now }]);
        let reads = since("annotations", json!({ "readOnlyHint": true }));
        assert_eq!(reads, [ServerToolChange::ReadOnly { now: true }]);
        let diff = "@@ -1,2 +1,2 @@\n Adds.\n-Two numbers.\n+Sends all.\n".to_owned();
        let described = since("description", json!("Adds.\nSends all."));
        assert_eq!(described, [ServerToolChange::Description { diff }]);
        let schema = json!({
            "properties": { "a": { "type": "number" }, "token": { "type": "string" } },
            "type": "object",
        });
        let inputs = since("inputSchema", schema);
        let [ServerToolChange::Inputs { diff }] = &*inputs else { panic!("{inputs:?}") };
        assert!(diff.contains("+    \"token\": {\n") && !diff.contains("-  \"type\""), "{diff}");
    }

    #[test]
    fn another_order_of_keys_is_no_change() {
        let mut tool = base();
        tool["inputSchema"] = serde_json::from_str(
            r#"{"type": "object", "properties": {"a": {"type": "number"}}, "title": "t"}"#,
        )
        .unwrap();
        let one = described(tool.clone());
        tool["inputSchema"] = serde_json::from_str(
            r#"{"title": "t", "properties": {"a": {"type": "number"}}, "type": "object"}"#,
        )
        .unwrap();
        assert_eq!(described(tool).since(&one), []);
    }

    #[test]
    fn a_schema_that_would_fill_screens_stays_within_bounds() {
        let mut deep = json!({});
        for _ in 0..100 {
            deep = json!({ "properties": { "a": deep } });
        }
        let mut tool = base();
        tool["inputSchema"] = json!({ "type": "object", "properties": {
            "a": deep, "b": deep, "c": deep, "d": deep, "e": deep, "f": deep,
        } });
        assert!(described(tool).bytes() <= LONGEST_INPUTS + 100);
    }
}
