//! Tests the descriptions of the tools that a model gets.

use std::collections::BTreeSet;

use chat_core::agent::{Agent, CodeAssistant, Surroundings};
use chat_core::message::{ToolSpec, ToolView};
use chat_core::tool::{CallData, Labels, MsgId, Tense, Text, ToolGroup};
use chat_permission::Mode;
use serde_json::json;

fn names_in(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split(", ").filter(|name| !name.is_empty())
}

#[test]
fn names_are_unique_and_schemas_say_just_what_is_promised() {
    let tools = chat_tools::all();
    let mut promised = std::collections::BTreeMap::from([
        ("ask_agent", "name, message"),
        ("ask_user", "question, choices?"),
        ("close_agent", "name"),
        ("list_agents", ""),
        ("message_agent", "name, message, interrupt?"),
        ("spawn_agent", "task?, name?, path?, agent?, model?, background?"),
        ("spawn_worktree", "task, name?, branch?, base?, agent?, model?, background?"),
        ("wait_agents", "names?, seconds?"),
        ("delete_file", "path"),
        ("edit_file", "path, edits"),
        ("fetch_output", "id, from?, to?"),
        ("find_files", "glob, path?"),
        ("finish_worktree", "name, action"),
        ("list_files", "path?, depth?"),
        ("move_file", "from, to"),
        ("outline", "path"),
        ("read_output", "id"),
        ("run_command", "command, folder?, seconds?, background?, network?, outside_sandbox?"),
        ("stop_command", "id"),
        ("read_file", "path, from?, to?"),
        ("search_files", "pattern, path?, glob?, context?, ignore_case?"),
        ("update_todos", "todos"),
        ("use_skill", "name, file?"),
        ("write_file", "path, content"),
    ]);
    for tool in &tools {
        let spec = &tool.info().spec;
        let Some(promise) = promised.remove(&*spec.name) else { continue };
        let names: BTreeSet<String> =
            names_in(promise).map(|name| name.trim_end_matches('?').to_owned()).collect();
        let needed: BTreeSet<String> =
            names_in(promise).filter(|name| !name.ends_with('?')).map(str::to_owned).collect();
        let properties = spec.parameters["properties"].as_object().into_iter().flatten();
        let given = properties.map(|(name, _)| name.clone()).collect::<BTreeSet<_>>();
        assert_eq!(given, names, "{}", spec.name);
        let required = spec.parameters["required"].as_array().into_iter().flatten();
        assert_eq!(
            required.map(|name| name.as_str().unwrap().to_owned()).collect::<BTreeSet<_>>(),
            needed,
            "{}",
            spec.name
        );
    }
    assert!(promised.is_empty(), "missing: {promised:?}");
    let names: BTreeSet<_> = tools.iter().map(|tool| tool.info().name().to_owned()).collect();
    assert_eq!(names.len(), tools.len());
}

/// Instructions and schemas as a request in a project carries them.
fn prompt(mode: Mode, agents: bool) -> (String, Vec<ToolSpec>) {
    let tools = chat_tools::all()
        .into_iter()
        .filter(|tool| agents || tool.info().group != ToolGroup::Agents)
        // It is offered to those who have skills, and costs only them.
        .filter(|tool| !tool.loads_skills())
        .filter(|tool| mode != Mode::Plan || tool.info().kind.in_plan_mode());
    let around = Surroundings {
        project: Some("/home/me/project".into()),
        tools: tools.collect(),
        mode,
        ..Surroundings::default()
    };
    (CodeAssistant.system_prompt(&around).expect("instructions"), around.tools.specs())
}

/// The characters of instructions and schemas, with the tools for agents or without.
fn size(mode: Mode, agents: bool) -> usize {
    let (prompt, specs) = prompt(mode, agents);
    let specs = specs.iter().map(|spec| serde_json::to_string(spec).unwrap().chars().count());
    prompt.chars().count() + specs.sum::<usize>()
}

/// Every request carries them, and local models have small windows.
#[test]
fn instructions_and_schemas_have_at_most_10_000_characters_and_agents_4_000_more() {
    for mode in Mode::ALL {
        let (all, without) = (size(mode, true), size(mode, false));
        println!("{mode}: {without}, with agents {all}");
        assert!(without <= 10_000, "{mode}: {without} characters");
        assert!(all - without <= 4_000, "{mode}: {} characters for agents", all - without);
    }
}

#[test]
fn nothing_speaks_of_a_person() {
    for mode in Mode::ALL {
        let (prompt, specs) = prompt(mode, true);
        let all = prompt + &serde_json::to_string(&specs).unwrap();
        assert!(!all.contains("person"), "{all}");
    }
}

#[test]
fn plan_mode_offers_what_reads_and_commands_that_the_policy_judges() {
    let (_, specs) = prompt(Mode::Plan, true);
    let names: Vec<_> = specs.iter().map(|spec| spec.name.as_str()).collect();
    let changing = ["delete_file", "edit_file", "move_file", "stop_command", "write_file"];
    for name in changing {
        assert!(!names.contains(&name), "{name}");
    }
    for name in ["read_file", "search_files", "run_command", "update_todos", "ask_user"] {
        assert!(names.contains(&name), "{name}");
    }
}

/// A view of each kind. Labels take any.
fn views() -> Vec<Option<ToolView>> {
    let name = || "a.rs".to_owned();
    let edited = |created| ToolView::Edited {
        path: name(),
        diff: String::new(),
        added: 1,
        removed: 0,
        created,
    };
    let fetched = |path| ToolView::Fetched { url: name(), title: None, bytes: 1, path };
    let ran = ToolView::Ran {
        command: name(),
        exit: None,
        output: None,
        sandboxed: true,
        quarantined: Vec::new(),
    };
    let views = [
        ToolView::Read { path: name(), from: Some(1), to: None },
        ToolView::Listed { what: name(), entries: 1 },
        ToolView::Searched { pattern: name(), matches: 1, files: 1 },
        edited(true),
        edited(false),
        ToolView::Moved { from: name(), to: name() },
        ToolView::Deleted { path: name() },
        ran,
        fetched(None),
        fetched(Some(name())),
        ToolView::WebSearched { query: name(), results: 1 },
        ToolView::Todos { todos: Vec::new() },
        ToolView::Asked { question: name(), answer: name() },
    ];
    std::iter::once(None).chain(views.into_iter().map(Some)).collect()
}

/// The names in braces.
fn places(sentence: &str) -> BTreeSet<&str> {
    sentence.split('{').skip(1).filter_map(|rest| Some(rest.split_once('}')?.0)).collect()
}

#[test]
fn every_tool_is_whole() {
    let catalogue = include_str!("../../../../po/natter.pot");
    // Long messages stand on several lines.
    let catalogue = catalogue.replace("\"\n\"", "");
    let is_known = |tool: &str, id: MsgId| {
        let line = format!("\nmsgid \"{}\"\n", id.as_str());
        assert!(catalogue.contains(&line), "{tool}: po/natter.pot does not have “{}”", id.as_str());
    };
    for tool in chat_tools::all() {
        let info = tool.info();
        let name = info.name();
        for text in [&info.title, &info.summary] {
            let Text::Message(id) = text else { panic!("{name}: {text:?}") };
            assert!(!id.as_str().is_empty() && places(id.as_str()).is_empty(), "{name}: {id:?}");
            is_known(name, *id);
        }
        assert!(!info.spec.description.is_empty(), "{name}");
        let schema = &info.spec.parameters;
        jsonschema::meta::validate(schema).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(schema["type"], "object", "{name}");
        assert_eq!(schema["additionalProperties"], false, "{name}");
        let Labels::Own(label) = info.labels else { panic!("{name} has no labels") };
        let mut sentences = BTreeSet::new();
        for (tense, view) in
            Tense::ALL.iter().flat_map(|tense| views().into_iter().map(move |view| (*tense, view)))
        {
            for arguments in
                [json!({}), json!(null), json!("raw"), json!({ "path": 5, "from": "x" })]
            {
                let call = CallData { arguments: &arguments, view: view.as_ref() };
                let label = label(tense, call);
                is_known(name, label.sentence);
                let given: BTreeSet<_> = label.values.iter().map(|(name, _)| *name).collect();
                assert_eq!(places(label.sentence.as_str()), given, "{name}: {label:?}");
                if view.is_none() {
                    sentences.insert((format!("{tense:?}"), label.sentence.as_str()));
                }
            }
        }
        assert_eq!(sentences.len(), Tense::ALL.len(), "{name} says in one way: {sentences:?}");
        let words: BTreeSet<_> = sentences.iter().map(|(_, sentence)| sentence).collect();
        assert_eq!(words.len(), Tense::ALL.len(), "{name} has the same words twice: {words:?}");
    }
}
