//! What a call is about, by what the model gave it: all that is known before there is a result.

use chat_core::message::ToolCall;
use gettextrs::gettext;
use serde_json::Value;

use super::{of, one_line, two, with_lines};

/// When it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tense {
    /// Not yet, or never: “Fetch …”.
    ToDo,
    /// Now: “Fetching …”.
    Doing,
    /// It was: “Fetched …”.
    Done,
}

/// What a call is to do, does or did.
pub fn by_call(call: &ToolCall, tense: Tense) -> String {
    match tense {
        Tense::ToDo => to_do(call),
        Tense::Doing => doing(call),
        Tense::Done => done(call),
    }
}

fn to_do(call: &ToolCall) -> String {
    let said = Said(&call.arguments);
    match call.name.as_str() {
        // “Read …” alone would be what was done.
        "read_file" => of(&gettext("Read the file {what}"), &said.file()),
        "outline" => of(&gettext("Look at the outline of {what}"), &said.text("path")),
        "list_files" => of(&gettext("List {what}"), &said.folder()),
        "find_files" => of(&gettext("Look for files {what}"), &said.text("glob")),
        "search_files" => of(&gettext("Search for {what}"), &said.text("pattern")),
        "edit_file" => of(&gettext("Edit {what}"), &said.text("path")),
        "write_file" => of(&gettext("Write {what}"), &said.text("path")),
        "move_file" => two(&gettext("Move {from} to {to}"), &said.text("from"), &said.text("to")),
        "delete_file" => of(&gettext("Move {what} to the trash"), &said.text("path")),
        "run_command" => of(&gettext("Run {what}"), &said.text("command")),
        "read_output" | "fetch_output" => {
            of(&gettext("Read more of the output {what}"), &said.text("id"))
        }
        "stop_command" => of(&gettext("Stop the command {what}"), &said.text("id")),
        "web_fetch" => of(&gettext("Fetch {what}"), &said.text("url")),
        "web_search" => of(&gettext("Search the web for “{what}”"), &said.text("query")),
        "update_todos" => gettext("Change the plan"),
        "ask_user" => of(&gettext("Ask you: {what}"), &said.text("question")),
        _ => other(call),
    }
}

fn doing(call: &ToolCall) -> String {
    let said = Said(&call.arguments);
    match call.name.as_str() {
        "read_file" => of(&gettext("Reading {what}"), &said.file()),
        "outline" => of(&gettext("Looking at the outline of {what}"), &said.text("path")),
        "list_files" => of(&gettext("Listing {what}"), &said.folder()),
        "find_files" => of(&gettext("Looking for files {what}"), &said.text("glob")),
        "search_files" => of(&gettext("Searching for {what}"), &said.text("pattern")),
        "edit_file" => of(&gettext("Editing {what}"), &said.text("path")),
        "write_file" => of(&gettext("Writing {what}"), &said.text("path")),
        "move_file" => two(&gettext("Moving {from} to {to}"), &said.text("from"), &said.text("to")),
        "delete_file" => of(&gettext("Moving {what} to the trash"), &said.text("path")),
        "run_command" => of(&gettext("Running {what}"), &said.text("command")),
        "read_output" | "fetch_output" => {
            of(&gettext("Reading the output {what}"), &said.text("id"))
        }
        "stop_command" => of(&gettext("Stopping the command {what}"), &said.text("id")),
        "web_fetch" => of(&gettext("Fetching {what}"), &said.text("url")),
        "web_search" => of(&gettext("Searching the web for “{what}”"), &said.text("query")),
        "update_todos" => gettext("Changing the plan"),
        "ask_user" => of(&gettext("Asking you: {what}"), &said.text("question")),
        _ => other(call),
    }
}

fn done(call: &ToolCall) -> String {
    let said = Said(&call.arguments);
    match call.name.as_str() {
        "read_file" => of(&gettext("Read {what}"), &said.file()),
        "outline" => of(&gettext("Looked at the outline of {what}"), &said.text("path")),
        "list_files" => of(&gettext("Listed {what}"), &said.folder()),
        "find_files" => of(&gettext("Looked for files {what}"), &said.text("glob")),
        "search_files" => of(&gettext("Searched for {what}"), &said.text("pattern")),
        "edit_file" => of(&gettext("Edited {what}"), &said.text("path")),
        "write_file" => of(&gettext("Wrote {what}"), &said.text("path")),
        "move_file" => two(&gettext("Moved {from} to {to}"), &said.text("from"), &said.text("to")),
        "delete_file" => of(&gettext("Moved {what} to the trash"), &said.text("path")),
        "run_command" => of(&gettext("Ran {what}"), &said.text("command")),
        "read_output" | "fetch_output" => of(&gettext("Read the output {what}"), &said.text("id")),
        "stop_command" => of(&gettext("Stopped the command {what}"), &said.text("id")),
        "web_fetch" => of(&gettext("Fetched {what}"), &said.text("url")),
        "web_search" => of(&gettext("Searched the web for “{what}”"), &said.text("query")),
        "update_todos" => gettext("Changed the plan"),
        "ask_user" => of(&gettext("Asked you: {what}"), &said.text("question")),
        _ => other(call),
    }
}

/// A tool that is not one of ours, or not any more.
fn other(call: &ToolCall) -> String {
    let arguments = match &call.arguments {
        Value::Object(object) if object.is_empty() => String::new(),
        Value::String(raw) => raw.clone(),
        arguments => arguments.to_string(),
    };
    one_line(&format!("{} {arguments}", call.name))
}

/// The arguments of a call: whatever the model gave.
struct Said<'a>(&'a Value);

impl Said<'_> {
    fn text(&self, name: &str) -> String {
        match self.0.get(name) {
            Some(Value::String(text)) => text.clone(),
            None | Some(Value::Null) => "?".to_owned(),
            Some(other) => other.to_string(),
        }
    }

    fn folder(&self) -> String {
        self.0.get("path").and_then(Value::as_str).unwrap_or(".").to_owned()
    }

    fn file(&self) -> String {
        let line = |name: &str| self.0.get(name).and_then(Value::as_u64);
        with_lines(&self.text("path"), line("from"), line("to"))
    }
}
