//! What a model is told about the tools.

use std::collections::BTreeSet;

use chat_core::agent::{Agent, CodeAssistant, Surroundings};
use chat_core::message::ToolSpec;
use chat_permission::Mode;

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
        ("run_command", "command, folder?, seconds?, background?, network?, outside_sandbox?"),
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

/// Instructions and schemas as a request in a project carries them.
fn prompt(mode: Mode) -> (String, Vec<ToolSpec>) {
    let tools =
        chat_tools::all().into_iter().filter(|tool| mode != Mode::Plan || tool.in_plan_mode());
    let around = Surroundings {
        project: Some("/home/me/project".into()),
        tools: tools.collect(),
        mode,
        ..Surroundings::default()
    };
    (CodeAssistant.system_prompt(&around).expect("instructions"), around.tools.specs())
}

/// Every request carries them, and local models have small windows.
#[test]
fn instructions_and_schemas_together_have_at_most_10_000_characters() {
    for mode in Mode::ALL {
        let (prompt, specs) = prompt(mode);
        let specs: usize =
            specs.iter().map(|spec| serde_json::to_string(spec).unwrap().chars().count()).sum();
        let prompt = prompt.chars().count();
        println!("{mode}: {prompt} + {specs}");
        assert!(prompt + specs <= 10_000, "{mode}: {prompt} + {specs} characters");
    }
}

#[test]
fn nothing_speaks_of_a_person() {
    for mode in Mode::ALL {
        let (prompt, specs) = prompt(mode);
        let all = prompt + &serde_json::to_string(&specs).unwrap();
        assert!(!all.contains("person"), "{all}");
    }
}

#[test]
fn plan_mode_offers_what_reads_and_commands_that_the_policy_judges() {
    let (_, specs) = prompt(Mode::Plan);
    let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let changing = ["delete_file", "edit_file", "move_file", "stop_command", "write_file"];
    for name in changing {
        assert!(!names.contains(&name), "{name}");
    }
    for name in ["read_file", "search_files", "run_command", "update_todos", "ask_user"] {
        assert!(names.contains(&name), "{name}");
    }
}
