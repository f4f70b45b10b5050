//! What a model is told about the tools.

use std::collections::BTreeSet;

#[test]
fn names_are_unique_and_schemas_say_just_what_is_promised() {
    let tools = chat_tools::all();
    let mut promised = std::collections::BTreeMap::from([
        ("ask_user", "question, choices?"),
        ("delete_file", "path"),
        ("edit_file", "path, edits"),
        ("fetch_output", "id, from?, to?"),
        ("find_files", "glob, path?"),
        ("list_files", "path?, depth?"),
        ("move_file", "from, to"),
        ("outline", "path"),
        ("read_output", "id"),
        ("run_command", "command, folder?, seconds?, background?, network?"),
        ("stop_command", "id"),
        ("read_file", "path, from?, to?"),
        ("search_files", "pattern, path?, glob?, context?, ignore_case?"),
        ("update_todos", "todos"),
        ("write_file", "path, content"),
    ]);
    for tool in &tools {
        let spec = tool.spec();
        let Some(promise) = promised.remove(&*spec.name) else { continue };
        let names: BTreeSet<String> =
            promise.split(", ").map(|name| name.trim_end_matches('?').to_owned()).collect();
        let needed: BTreeSet<String> =
            promise.split(", ").filter(|name| !name.ends_with('?')).map(str::to_owned).collect();
        let properties = spec.parameters["properties"].as_object().unwrap();
        assert_eq!(properties.keys().cloned().collect::<BTreeSet<_>>(), names, "{}", spec.name);
        let required = spec.parameters["required"].as_array().into_iter().flatten();
        assert_eq!(
            required.map(|name| name.as_str().unwrap().to_owned()).collect::<BTreeSet<_>>(),
            needed,
            "{}",
            spec.name
        );
    }
    assert!(promised.is_empty(), "missing: {promised:?}");
    let names: BTreeSet<_> = tools.iter().map(|tool| tool.spec().name.clone()).collect();
    assert_eq!(names.len(), tools.len());
}

/// Every request carries them: prompts and schemas together have room for 10,000 characters, of which
/// the prompts take the rest.
#[test]
fn they_are_told_in_few_words() {
    let all: usize = chat_tools::all()
        .iter()
        .map(|tool| serde_json::to_string(tool.spec()).unwrap().chars().count())
        .sum();
    assert!(all < 7100, "{all} characters");
}
