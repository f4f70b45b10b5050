//! Leaves out values in `[agents]` that cannot be used, so that the rest of the file counts.

use toml::{Table, Value};

use super::unknown::line_of;
use super::{AgentSettings, Settings};

/// The settings in the text of a file. A value in `[agents]` that cannot be used counts as absent.
pub(super) fn parse(content: &str) -> Result<Settings, toml::de::Error> {
    let read = toml::from_str(content);
    let Err(error) = read else { return read };
    let mut file: Table = content.parse()?;
    if let Some(Value::Table(section)) = file.get_mut("agents") {
        section.retain(|key, value| is_usable(key, value));
    }
    // Where something else is wrong, the error has its place.
    Value::Table(file).try_into().map_err(|_: toml::de::Error| error)
}

/// The values that [`parse`] leaves out, each with its line, its section and what it must be, as people read it.
pub(super) fn wrong_values(content: &str) -> Vec<String> {
    let Ok(file) = content.parse::<Table>() else { return Vec::new() };
    let section = file.get("agents").and_then(Value::as_table).into_iter().flatten();
    let wrong = section.filter(|(key, value)| !is_usable(key, value));
    wrong
        .map(|(key, _)| {
            let place = line_of(content, Some("agents"), key);
            let place = place.map(|line| format!("line {line}: ")).unwrap_or_default();
            format!("{place}“{key}” in [agents] must be {}", must_be(key))
        })
        .collect()
}

fn is_usable(key: &str, value: &Value) -> bool {
    let alone = Table::from_iter([(key.to_owned(), value.clone())]);
    Value::Table(alone).try_into::<AgentSettings>().is_ok()
}

fn must_be(key: &str) -> String {
    match key {
        "wake" => "true or false".to_owned(),
        "at_once" => format!("a whole number from 1 to {}", u32::MAX),
        "tokens" => format!("a whole number from 0 to {}", i64::MAX),
        _ => format!("a whole number from 0 to {}", u32::MAX),
    }
}

/// A parser's message as people read it, without the value that it quotes: somebody may have put a key there.
pub(super) fn plain_message(content: &str, error: &toml::de::Error) -> String {
    let start = error.span().map(|span| span.start);
    let before = start.and_then(|start| content.get(..start));
    let line = before.map(|before| before.matches('\n').count());
    let written = line.and_then(|line| content.lines().nth(line)).unwrap_or_default();
    let key = written.split_once('=').map(|(key, _)| key.trim()).filter(|key| !key.is_empty());
    let expected = error.message().rsplit_once("expected ").map(|(_, expected)| expected);
    let must_be = match expected.unwrap_or_default() {
        "u8" => Some("a whole number from 0 to 255"),
        "u32" => Some("a whole number from 0 to 4294967295"),
        "u64" | "usize" => Some("a whole number of at least 0"),
        "f64" => Some("a number"),
        "a boolean" => Some("true or false"),
        "a string" => Some("text in quotes"),
        _ => None,
    };
    let message = match (key, must_be) {
        (Some(key), Some(must_be)) => format!("“{key}” must be {must_be}"),
        _ => without_values(error.message()),
    };
    match line {
        Some(line) => format!("line {}: {message}", line + 1),
        None => message,
    }
}

/// A parser's message without the value that it quotes.
fn without_values(message: &str) -> String {
    for (before, quote) in [("string \"", '"'), ("variant `", '`')] {
        if let Some((kind, rest)) = message.split_once(before) {
            let expected = rest.find(", expected").unwrap_or(rest.len());
            return format!("{kind}{before}…{quote}{}", &rest[expected..]);
        }
    }
    message.to_owned()
}
