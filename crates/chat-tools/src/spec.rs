//! Describes tools to a model, and parses their arguments.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chat_core::message::ToolSpec;
use chat_core::tool::ToolFailure;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Describes a tool to a model, with the schema of its arguments as short as possible, since every
/// request contains it.
pub fn spec<Arguments: JsonSchema>(name: &str, description: &str) -> ToolSpec {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut parameters = settings.into_generator().into_root_schema_for::<Arguments>().to_value();
    shorten(&mut parameters);
    // The tool's description already says what the arguments are about.
    if let Value::Object(root) = &mut parameters {
        root.remove("description");
    }
    ToolSpec { name: name.to_owned(), description: description.to_owned(), parameters }
}

/// Removes what a model does not need: titles, number formats, and that optional values may also be
/// null.
fn shorten(schema: &mut Value) {
    match schema {
        Value::Object(parts) => {
            parts.retain(|key, value| match key.as_str() {
                "title" | "format" => !value.is_string(),
                "default" => !value.is_null() && *value != Value::Bool(false),
                _ => true,
            });
            if let Some(Value::Array(types)) = parts.get_mut("type") {
                types.retain(|kind| kind != "null");
                if let [one] = &types[..] {
                    let one = one.clone();
                    parts.insert("type".to_owned(), one);
                }
            }
            parts.values_mut().for_each(shorten);
        }
        Value::Array(parts) => parts.iter_mut().for_each(shorten),
        _ => {}
    }
}

/// Parses a call's arguments.
///
/// # Errors
///
/// They do not match the schema.
pub fn arguments<Arguments: DeserializeOwned>(value: Value) -> Result<Arguments, ToolFailure> {
    serde_json::from_value(value)
        .map_err(|error| ToolFailure::new(format!("These arguments are not valid: {error}.")))
}

/// So many of something: `1 line`, `2 lines`.
pub fn counted(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// A number of bytes, as a reader takes it in.
pub fn size(bytes: u64) -> String {
    match bytes {
        0..=9_999 => counted(bytes, "byte"),
        10_000..=9_999_999 => format!("{} kB", bytes / 1000),
        _ => format!("{} MB", bytes / 1_000_000),
    }
}

/// Runs disk work on a thread where it blocks nobody. The work is notified when its result is no
/// longer wanted.
///
/// # Errors
///
/// Those of the work, or that it panicked.
pub async fn on_disk<T: Send + 'static>(
    work: impl FnOnce(&AtomicBool) -> Result<T, ToolFailure> + Send + 'static,
) -> Result<T, ToolFailure> {
    let given_up = GiveUp::default();
    let flag = Arc::clone(&given_up.0);
    let result = tokio::task::spawn_blocking(move || work(&flag)).await;
    result.unwrap_or_else(|_| {
        Err(ToolFailure::new("This failed because of an internal error in Natter."))
    })
}

/// Checks that the result is still wanted: call it as late as possible before a permanent change.
///
/// # Errors
///
/// The call was stopped.
pub fn still_wanted(given_up: &AtomicBool) -> Result<(), ToolFailure> {
    if given_up.load(Ordering::Relaxed) {
        return Err(ToolFailure::new("This was stopped before anything was changed."));
    }
    Ok(())
}

/// Signals on drop that the result is no longer wanted.
#[derive(Default)]
struct GiveUp(Arc<AtomicBool>);

impl Drop for GiveUp {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    /// Words that no model needs.
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Example {
        /// A path.
        path: String,
        #[serde(default)]
        line: Option<u64>,
        #[serde(default)]
        all: bool,
    }

    #[test]
    fn one_has_no_plural() {
        assert_eq!(
            [0, 1, 2, 11].map(|number| counted(number, "line")),
            ["0 lines", "1 line", "2 lines", "11 lines"]
        );
        assert_eq!([size(1), size(9_999), size(10_000)], ["1 byte", "9999 bytes", "10 kB"]);
    }

    #[test]
    fn a_schema_says_what_is_needed_and_no_more() {
        let expected = json!({
            "type": "object",
            "properties": {
                "path": { "type": "string", "description": "A path." },
                // Where a call is forced, this keeps the model from negative numbers.
                "line": { "type": "integer", "minimum": 0 },
                "all": { "type": "boolean" },
            },
            "required": ["path"],
            "additionalProperties": false,
        });
        assert_eq!(spec::<Example>("a", "b").parameters, expected);
    }

    #[test]
    fn arguments_that_do_not_fit_say_why() {
        let failure = arguments::<Example>(json!({ "path": "a", "lines": 1 })).unwrap_err();
        assert!(failure.text.contains("unknown field `lines`"), "{}", failure.text);
    }

    #[tokio::test]
    async fn work_hears_that_it_was_given_up() {
        use std::sync::mpsc::channel;
        let ((begun, is_begun), (end, is_over)) = (channel(), channel());
        let work = on_disk(move |given_up| {
            begun.send(()).unwrap();
            while !given_up.load(Ordering::Relaxed) {
                std::thread::yield_now();
            }
            end.send(()).unwrap();
            Ok(())
        });
        let task = tokio::spawn(work);
        tokio::task::spawn_blocking(move || is_begun.recv().unwrap()).await.unwrap();
        task.abort();
        tokio::task::spawn_blocking(move || is_over.recv().unwrap()).await.unwrap();
    }
}
