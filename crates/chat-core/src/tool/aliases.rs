//! Defines other ways in which models give a tool its arguments, as data that each tool declares.

use serde_json::{Map, Value};

/// From how many on a time limit can only be in milliseconds.
const MILLISECONDS: u64 = 3_601;

/// Another way to give an argument. Models bring these from the tools that they were trained with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alias {
    /// The name that models use.
    pub given: &'static str,
    /// The argument that it stands for.
    pub means: &'static str,
    /// How the value becomes that argument's.
    pub form: Form,
}

/// How a value given by another name becomes the argument's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As it is.
    Same,
    /// A field of the only item of this list: `old` next to the path stands for `edits[0].old`.
    OnlyItem(&'static str),
    /// A field of every item of this list.
    EachItem(&'static str),
    /// Seconds; more than an hour of them is milliseconds.
    Seconds,
    /// Milliseconds, for seconds.
    Milliseconds,
    /// How many lines from this argument on.
    CountFrom(&'static str),
    /// Words of a command line, in place of its text.
    Words,
}

impl Alias {
    /// The argument under another name.
    pub const fn name(given: &'static str, means: &'static str) -> Self {
        Self { given, means, form: Form::Same }
    }

    /// The argument in another form.
    pub const fn new(given: &'static str, means: &'static str, form: Form) -> Self {
        Self { given, means, form }
    }
}

/// Puts what was given by other names in the place of the arguments that it stands for. What was
/// given by its own name stays.
pub(super) fn resolve(object: &mut Map<String, Value>, aliases: &[Alias]) {
    for Alias { given, means, form } in aliases {
        match form {
            Form::Words => {
                if let Some(text) = object.get(*given).and_then(command_line) {
                    object.insert((*means).to_owned(), Value::String(text));
                }
            }
            Form::EachItem(list) => {
                let items = object.get_mut(*list).and_then(Value::as_array_mut);
                for item in items.into_iter().flatten().filter_map(Value::as_object_mut) {
                    rename(item, given, means);
                }
            }
            Form::OnlyItem(list) => gather_item(object, list, aliases),
            Form::Same => rename(object, given, means),
            Form::Seconds => {
                rename(object, given, means);
                if let Some(number) = object.get(*means).and_then(Value::as_u64)
                    && number >= MILLISECONDS
                {
                    object.insert((*means).to_owned(), (number / 1000).into());
                }
            }
            Form::Milliseconds => {
                if let Some(number) = object.remove(*given).as_ref().and_then(Value::as_u64) {
                    object.entry(*means).or_insert_with(|| number.div_ceil(1000).into());
                }
            }
            Form::CountFrom(first) => {
                let Some(count) = object.get(*given).and_then(Value::as_u64) else { continue };
                let first = object.get(*first).and_then(Value::as_u64).unwrap_or(1).max(1);
                object.remove(*given);
                let last = first.saturating_add(count.max(1) - 1);
                object.entry(*means).or_insert_with(|| last.into());
            }
        }
    }
}

/// Makes a list of the fields of its only item, where these were given flat and the list was not.
fn gather_item(object: &mut Map<String, Value>, list: &'static str, aliases: &[Alias]) {
    if object.contains_key(list) {
        return;
    }
    let mut item = Map::new();
    for alias in aliases.iter().filter(|alias| alias.form == Form::OnlyItem(list)) {
        if let Some(value) = object.remove(alias.given) {
            item.entry(alias.means).or_insert(value);
        }
    }
    if !item.is_empty() {
        object.insert(list.to_owned(), Value::Array(vec![item.into()]));
    }
}

fn rename(object: &mut Map<String, Value>, given: &str, means: &str) {
    if !object.contains_key(means)
        && let Some(value) = object.remove(given)
    {
        object.insert(means.to_owned(), value);
    }
}

/// Words as the text of a command: the script of a shell that is called for it, else each word quoted.
fn command_line(words: &Value) -> Option<String> {
    let words: Vec<&str> = words.as_array()?.iter().map(Value::as_str).collect::<Option<_>>()?;
    if let [shell, flag, script] = words[..]
        && ["sh", "bash", "zsh"].contains(&shell.rsplit('/').next().unwrap_or(shell))
        && ["-c", "-lc"].contains(&flag)
    {
        return Some(script.to_owned());
    }
    shlex::try_join(words).ok()
}

/// Leaves out what the schema does not know, where it allows nothing else, and gives the names.
pub(super) fn leave_out_unknown(value: &mut Value, schema: &Value, ignored: &mut Vec<String>) {
    match value {
        Value::Object(object) => {
            let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
                return;
            };
            if schema.get("additionalProperties") == Some(&Value::Bool(false)) {
                object.retain(|name, _| {
                    let known = properties.contains_key(name);
                    if !known && !ignored.contains(name) {
                        ignored.push(name.clone());
                    }
                    known
                });
            }
            for (name, value) in object {
                if let Some(schema) = properties.get(name) {
                    leave_out_unknown(value, schema, ignored);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for item in items {
                    leave_out_unknown(item, schema, ignored);
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ALIASES: &[Alias] = &[
        Alias::name("file_path", "path"),
        Alias::new("old_string", "old", Form::EachItem("edits")),
        Alias::new("old_string", "old", Form::OnlyItem("edits")),
        Alias::new("old", "old", Form::OnlyItem("edits")),
        Alias::new("new", "new", Form::OnlyItem("edits")),
        Alias::new("timeout", "seconds", Form::Seconds),
        Alias::new("timeout_ms", "seconds", Form::Milliseconds),
        Alias::new("limit", "to", Form::CountFrom("from")),
        Alias::new("command", "command", Form::Words),
    ];

    fn resolved(given: Value) -> Value {
        let Value::Object(mut object) = given else { panic!("no object") };
        resolve(&mut object, ALIASES);
        Value::Object(object)
    }

    #[test]
    fn every_form_becomes_the_argument_that_it_stands_for() {
        for (given, meant) in [
            (json!({ "file_path": "a" }), json!({ "path": "a" })),
            (json!({ "file_path": "a", "path": "b" }), json!({ "file_path": "a", "path": "b" })),
            (json!({ "old": "a", "new": "b" }), json!({ "edits": [{ "old": "a", "new": "b" }] })),
            (
                json!({ "old_string": "a", "new": "b" }),
                json!({ "edits": [{ "old": "a", "new": "b" }] }),
            ),
            (
                json!({ "edits": [{ "old_string": "a", "new": "b" }] }),
                json!({ "edits": [{ "old": "a", "new": "b" }] }),
            ),
            // Whole edits are never mixed with flat ones.
            (
                json!({ "edits": [{ "old": "a", "new": "b", "all": true }], "old": "c" }),
                json!({ "edits": [{ "old": "a", "new": "b", "all": true }], "old": "c" }),
            ),
            (json!({ "timeout": 60 }), json!({ "seconds": 60 })),
            (json!({ "timeout": 120_000 }), json!({ "seconds": 120 })),
            (json!({ "timeout_ms": 1_500 }), json!({ "seconds": 2 })),
            (json!({ "from": 11, "limit": 10 }), json!({ "from": 11, "to": 20 })),
            (json!({ "limit": 10 }), json!({ "to": 10 })),
            (json!({ "command": ["bash", "-lc", "a | b"] }), json!({ "command": "a | b" })),
            (json!({ "command": ["ls", "my file"] }), json!({ "command": "ls 'my file'" })),
            (json!({ "command": "ls" }), json!({ "command": "ls" })),
        ] {
            assert_eq!(resolved(given.clone()), meant, "{given}");
        }
    }
}
