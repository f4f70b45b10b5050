//! Reads servers that a user pastes: a whole file, one of its entries, or one server without a name.

use std::path::Path;

use jsonc_parser::ast::{Object, Value};

use crate::config::{
    LARGEST_FILE, ProblemKind, Reader, SERVERS, SERVERS_OF_VS_CODE, parse_root, server_keys,
    text_of,
};

use super::foreign::{ForeignServers, read_servers, read_values};
use super::variables::Dialect;

/// Reads a pasted text: a file with `mcpServers` or `servers`, an entry `"name": {…}`, or a server alone, which has no
/// name. Lines are those of the text.
pub fn read_pasted(text: &str, home: &Path) -> ForeignServers {
    let text = match text_of(text.as_bytes(), LARGEST_FILE) {
        Ok(text) => without_fence(text),
        Err(kind) => return ForeignServers::broken(None, kind),
    };
    let wrapped;
    let (text, root) = if is_entry(&text) {
        // Behind a comment a brace would be part of it.
        wrapped = format!("{{{text}\n}}");
        (wrapped.as_str(), parse_root(&wrapped))
    } else {
        (text.as_str(), parse_root(&text))
    };
    match root {
        Ok(None) => ForeignServers::default(),
        Ok(Some(Value::Object(root))) => of_object(text, &root, home),
        Ok(Some(_)) => ForeignServers::broken(Some(1), ProblemKind::NotAFileOfServers),
        Err(line) => ForeignServers::broken(Some(line), ProblemKind::Syntax),
    }
}

fn of_object(text: &str, root: &Object<'_>, home: &Path) -> ForeignServers {
    let dialect = Dialect::Any;
    // The settings of VS Code once had all in a key of their own.
    let file = root.get_object("mcp").unwrap_or(root);
    if let Some(servers) = file.get_object(SERVERS).or_else(|| file.get_object(SERVERS_OF_VS_CODE))
    {
        let inputs = file.get_array("inputs").map(|list| list.elements.as_slice());
        return read_servers(text, servers, inputs.unwrap_or_default(), dialect, home);
    }
    if is_server(root) {
        let value = Value::Object(root.clone());
        let read = |reader: &mut Reader<'_>, object: &Object<'_>| reader.server(object);
        return read_values(text, [(None, &value)], &[], dialect, home, read);
    }
    if root.properties.iter().any(|property| property.value.as_object().is_some_and(is_server)) {
        return read_servers(text, root, &[], dialect, home);
    }
    if root.properties.is_empty() {
        return ForeignServers::default();
    }
    ForeignServers::broken(None, ProblemKind::NotAFileOfServers)
}

fn is_server(object: &Object<'_>) -> bool {
    object.get_string(server_keys::COMMAND).is_some()
        || object.get_string(server_keys::URL).is_some()
}

/// Whether a text is an entry of an object: behind comments and white space, it begins with a name.
fn is_entry(text: &str) -> bool {
    let mut rest = text.trim_start();
    loop {
        let after = if let Some(comment) = rest.strip_prefix("//") {
            comment.split_once('\n').map(|(_, after)| after)
        } else if let Some(comment) = rest.strip_prefix("/*") {
            comment.split_once("*/").map(|(_, after)| after)
        } else {
            return rest.starts_with('"');
        };
        match after {
            Some(after) => rest = after.trim_start(),
            None => return false,
        }
    }
}

/// The text with empty lines in place of the fence that Markdown has around code.
fn without_fence(text: &str) -> String {
    let is_fence = |line: &str| line.trim_start().starts_with("```");
    let first = text.lines().find(|line| !line.trim().is_empty());
    if !first.is_some_and(is_fence) {
        return text.to_owned();
    }
    text.lines().map(|line| if is_fence(line) { "" } else { line }).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
