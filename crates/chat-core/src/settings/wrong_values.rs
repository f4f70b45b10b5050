//! Leaves out values in `[agents]` that cannot be used, so that the rest of the file counts, and names
//! those of connections that cannot be.

use toml::{Table, Value};

use super::unknown::line_of;
use super::{AgentSettings, Settings};
use crate::net::{ChosenProxy, is_header_name};

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
    let agents = wrong.map(|(key, _)| {
        let place = line_of(content, Some("agents"), key);
        let place = place.map(|line| format!("line {line}: ")).unwrap_or_default();
        format!("{place}“{key}” in [agents] must be {}", must_be(key))
    });
    agents.chain(wrong_in_connections(content, &file)).collect()
}

/// Proxies that are none, and names of headers that are none. Such a connection says so when it is used,
/// too.
fn wrong_in_connections(content: &str, file: &Table) -> Vec<String> {
    let connections = file.get("connections").and_then(Value::as_array).into_iter().flatten();
    let mut wrong = Vec::new();
    for (at, connection) in connections.enumerate() {
        let place = |key: &str| match line_in_connection(content, at, key) {
            Some(line) => format!("line {line}: "),
            None => String::new(),
        };
        let proxy = connection.get("proxy").and_then(Value::as_str);
        if proxy.is_some_and(|proxy| ChosenProxy::parse(proxy).is_none()) {
            wrong.push(format!(
                "{}“proxy” in [connections] must be “none” or an address such as http://proxy:3128",
                place("proxy")
            ));
        }
        let headers = connection.get("headers").and_then(Value::as_table).into_iter().flatten();
        for (name, _) in headers.filter(|(name, _)| !is_header_name(name)) {
            let place = place("headers");
            wrong.push(format!("{place}“{name}” in [connections] cannot be the name of a header"));
        }
    }
    wrong
}

/// The line of a key in the connection of this number, unless it is written in an odd way.
fn line_in_connection(content: &str, at: usize, key: &str) -> Option<usize> {
    let mut seen = 0;
    for (number, line) in content.lines().enumerate() {
        let line = line.trim();
        if line.starts_with("[[connections]]") {
            seen += 1;
        } else if seen == at + 1 {
            let is_table = line.starts_with("[connections.") && line.contains(key);
            if is_table || line.split('=').next().is_some_and(|name| name.trim() == key) {
                return Some(number + 1);
            }
        }
    }
    None
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_in_a_connection_is_named_with_its_line() {
        let content = "[[connections]]\nname = \"a\"\nurl = \"x\"\nproxy = \"none\"\n\
                       [[connections]]\nname = \"b\"\nurl = \"x\"\nproxy = \"secret@nowhere\"\n\
                       headers = { \"X Team\" = \"secret\", X-Team = \"blue\" }\n";
        let wrong = wrong_values(content);
        assert_eq!(
            wrong,
            [
                "line 8: “proxy” in [connections] must be “none” or an address such as http://proxy:3128",
                "line 9: “X Team” in [connections] cannot be the name of a header",
            ]
        );
        assert!(parse(content).is_ok(), "the rest counts");
    }

    #[test]
    fn a_header_of_another_kind_is_said_without_its_value() {
        let content = "[[connections]]\nname = \"a\"\nurl = \"x\"\nheaders = { X = 7 }\n";
        let error = parse(content).unwrap_err();
        let message = plain_message(content, &error);
        assert!(
            message.contains("a header is text in quotes") && !message.contains('7'),
            "{message}"
        );
        assert!(message.starts_with("line "), "{message}");
    }
}
