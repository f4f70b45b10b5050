//! Tests the argument names of models that were trained with other programs' tools.

use chat_core::tool::{Form, check};
use rstest::rstest;
use serde_json::{Value, json};

use crate::world::World;

/// What a tool gets where this was given.
fn meant(tool: &str, given: &Value) -> Value {
    let tools = chat_tools::all();
    let tool = tools.iter().find(|one| one.info().name() == tool).expect("a tool");
    let checked = check(given, &tool.info().spec.parameters, tool.info().aliases)
        .expect("arguments that fit");
    assert_eq!(checked.note(), None, "{given}");
    checked.value
}

#[rstest]
#[case("read_file", json!({ "file_path": "a" }), json!({ "path": "a" }))]
#[case("read_file", json!({ "path": "a", "start_line": 2, "end_line": 5 }), json!({ "path": "a", "from": 2, "to": 5 }))]
#[case("read_file", json!({ "path": "a", "offset": 11, "limit": 10 }), json!({ "path": "a", "from": 11, "to": 20 }))]
#[case("write_file", json!({ "file_path": "a", "contents": "b" }), json!({ "path": "a", "content": "b" }))]
#[case("write_file", json!({ "filename": "a", "file_text": "b" }), json!({ "path": "a", "content": "b" }))]
#[case("edit_file", json!({ "file_path": "a", "old_string": "b", "new_string": "c" }), json!({ "path": "a", "edits": [{ "old": "b", "new": "c" }] }))]
#[case("edit_file", json!({ "path": "a", "old": "b", "new": "c" }), json!({ "path": "a", "edits": [{ "old": "b", "new": "c" }] }))]
#[case("edit_file", json!({ "path": "a", "old_str": "b", "new_str": "c", "replace_all": true }), json!({ "path": "a", "edits": [{ "old": "b", "new": "c", "all": true }] }))]
#[case("edit_file", json!({ "path": "a", "edits": [{ "old_text": "b", "new_text": "c" }] }), json!({ "path": "a", "edits": [{ "old": "b", "new": "c" }] }))]
#[case("edit_file", json!({ "path": "a", "edits": "[{\"old_string\": \"b\", \"new_string\": \"c\"}]" }), json!({ "path": "a", "edits": [{ "old": "b", "new": "c" }] }))]
#[case("delete_file", json!({ "file": "a" }), json!({ "path": "a" }))]
#[case("outline", json!({ "filepath": "a" }), json!({ "path": "a" }))]
#[case("move_file", json!({ "source": "a", "destination": "b" }), json!({ "from": "a", "to": "b" }))]
#[case("move_file", json!({ "old_path": "a", "new_path": "b" }), json!({ "from": "a", "to": "b" }))]
#[case("list_files", json!({ "directory": "a" }), json!({ "path": "a" }))]
#[case("find_files", json!({ "pattern": "*.rs", "dir": "a" }), json!({ "glob": "*.rs", "path": "a" }))]
#[case("search_files", json!({ "query": "a", "include": "*.rs" }), json!({ "pattern": "a", "glob": "*.rs" }))]
#[case("search_files", json!({ "regex": "a", "case_insensitive": true }), json!({ "pattern": "a", "ignore_case": true }))]
#[case("run_command", json!({ "cmd": "ls", "timeout": 30 }), json!({ "command": "ls", "seconds": 30 }))]
#[case("run_command", json!({ "command": "ls", "timeout": 120_000 }), json!({ "command": "ls", "seconds": 120 }))]
#[case("run_command", json!({ "command": "ls", "timeout_ms": 5_000, "cwd": "a" }), json!({ "command": "ls", "seconds": 5, "folder": "a" }))]
#[case("run_command", json!({ "command": ["bash", "-lc", "cargo test | tail"] }), json!({ "command": "cargo test | tail" }))]
#[case("run_command", json!({ "cmd": ["git", "log", "-n", "1"] }), json!({ "command": "git log -n 1" }))]
#[case("run_command", json!({ "command": "ls", "workdir": "a", "run_in_background": true }), json!({ "command": "ls", "folder": "a", "background": true }))]
#[case("update_todos", json!({ "todos": [{ "content": "a", "status": "done" }] }), json!({ "todos": [{ "text": "a", "state": "done" }] }))]
fn what_models_emit_is_read(#[case] tool: &str, #[case] given: Value, #[case] expected: Value) {
    assert_eq!(meant(tool, &given), expected);
}

/// An alias that is an argument's own name would hide it, and one for nothing helps nobody.
#[test]
fn every_alias_stands_for_an_argument_that_there_is() {
    for tool in chat_tools::all() {
        let spec = &tool.info().spec;
        let properties = &spec.parameters["properties"];
        for alias in tool.info().aliases {
            let of = match alias.form {
                Form::OnlyItem(list) | Form::EachItem(list) => {
                    &properties[list]["items"]["properties"]
                }
                _ => properties,
            };
            assert!(of.get(alias.means).is_some(), "{}: {alias:?}", spec.name);
            let hides = alias.form == Form::Same && properties.get(alias.given).is_some();
            assert!(!hides, "{}: {alias:?}", spec.name);
        }
    }
}

#[tokio::test]
async fn line_numbers_copied_from_read_file_are_left_out() {
    let world = World::new();
    world.host.allows();
    world.put("a.rs", "fn main() {\n    one();\n    two();\n}\n");
    let edit =
        json!({ "path": "a.rs", "old": "2\t    one();\n3\t    two();", "new": "2\t    three();" });
    let said = world.says("edit_file", edit).await;
    assert!(said.contains("The line numbers in your text were removed."), "{said}");
    assert_eq!(world.get("a.rs"), "fn main() {\n    three();\n}\n");
}
