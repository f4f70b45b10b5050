//! Tests the lines of all tools.

use std::time::Duration;

use chat_core::message::{AgentReport, AgentState, Fid, Todo, ToolCallId, ToolSpec, Usage};
use chat_core::tool::Registry;
use serde_json::{Value, json};

use super::*;

fn call(name: &str, arguments: Value) -> ToolCall {
    ToolCall::new(ToolCallId::new("c1"), name, arguments)
}

fn ours() -> Toolbox {
    chat_tools::all().into_iter().collect::<Registry>().toolbox()
}

fn answered(call: &ToolCall, view: Option<ToolView>) -> ToolResult {
    ToolResult { view, ..ToolResult::to(call, "…", false) }
}

/// A call of each tool with what it did.
fn each() -> Vec<(ToolCall, Option<ToolView>)> {
    let path = || "src/lib.rs".to_owned();
    let ran = |exit| ToolView::Ran {
        command: "cargo test".to_owned(),
        exit,
        output: None,
        sandboxed: true,
        quarantined: Vec::new(),
    };
    let edited = |created, added, removed| ToolView::Edited {
        path: path(),
        diff: String::new(),
        added,
        removed,
        created,
    };
    let page = "https://example.org/";
    let fetched =
        |path| ToolView::Fetched { url: page.to_owned(), title: None, bytes: 12_300, path };
    let todo = |state| Todo { text: "a".to_owned(), state };
    let plan = vec![todo(TodoState::Done), todo(TodoState::Open)];
    vec![
        (
            call("read_file", json!({ "path": "src/lib.rs", "from": 1, "to": 80 })),
            Some(ToolView::Read { path: path(), from: Some(1), to: Some(80) }),
        ),
        (
            call("read_file", json!({ "path": "logo.png" })),
            Some(ToolView::Read { path: "logo.png".to_owned(), from: None, to: None }),
        ),
        (
            call("outline", json!({ "path": "src/lib.rs" })),
            Some(ToolView::Read { path: path(), from: None, to: None }),
        ),
        (
            call("list_files", json!({})),
            Some(ToolView::Listed { what: ".".to_owned(), entries: 1 }),
        ),
        (
            call("find_files", json!({ "glob": "**/*.rs" })),
            Some(ToolView::Listed { what: "**/*.rs".to_owned(), entries: 20 }),
        ),
        (
            call("search_files", json!({ "pattern": "fn \\w+" })),
            Some(ToolView::Searched { pattern: "fn \\w+".to_owned(), matches: 12, files: 1 }),
        ),
        (call("edit_file", json!({ "path": "src/lib.rs" })), Some(edited(false, 3, 1))),
        (call("write_file", json!({ "path": "src/lib.rs" })), Some(edited(true, 30, 0))),
        (call("write_file", json!({ "path": "src/lib.rs" })), Some(edited(false, 0, 2))),
        (
            call("move_file", json!({ "from": "a", "to": "b" })),
            Some(ToolView::Moved { from: "a".to_owned(), to: "b".to_owned() }),
        ),
        (
            call("delete_file", json!({ "path": "src/lib.rs" })),
            Some(ToolView::Deleted { path: path() }),
        ),
        (
            call("run_command", json!({ "command": "cargo test" })),
            Some(ran(Some(CommandExit::Status(101)))),
        ),
        (
            call("run_command", json!({ "command": "cargo test" })),
            Some(ran(Some(CommandExit::Status(0)))),
        ),
        (
            call("run_command", json!({ "command": "cargo test" })),
            Some(ran(Some(CommandExit::Signal(9)))),
        ),
        (
            call("run_command", json!({ "command": "cargo test" })),
            Some(ran(Some(CommandExit::TimedOut))),
        ),
        (
            call("run_command", json!({ "command": "cargo test" })),
            Some(ran(Some(CommandExit::Limit(CommandLimit::Memory)))),
        ),
        (
            call("run_command", json!({ "command": "cargo test" })),
            Some(ran(Some(CommandExit::Exposed))),
        ),
        (
            call("run_command", json!({ "command": "git init sub" })),
            Some(ToolView::Ran {
                command: "git init sub".to_owned(),
                exit: Some(CommandExit::Status(0)),
                output: None,
                sandboxed: true,
                quarantined: vec!["sub/.git/config.put-aside-1".to_owned()],
            }),
        ),
        (call("run_command", json!({ "command": "cargo test" })), Some(ran(None))),
        (call("read_output", json!({ "id": "1" })), Some(ran(None))),
        (call("stop_command", json!({ "id": "1" })), Some(ran(Some(CommandExit::Stopped)))),
        (call("fetch_output", json!({ "id": "3f", "from": 5 })), None),
        (call("web_fetch", json!({ "url": page })), Some(fetched(None))),
        (call("web_fetch", json!({ "url": page })), Some(fetched(Some("a.html".to_owned())))),
        (
            call("web_search", json!({ "query": "rust" })),
            Some(ToolView::WebSearched { query: "rust".to_owned(), results: 5 }),
        ),
        (call("update_todos", json!({ "todos": [] })), Some(ToolView::Todos { todos: plan })),
        (
            call("ask_user", json!({ "question": "Which?" })),
            Some(ToolView::Asked { question: "Which?".to_owned(), answer: "red".to_owned() }),
        ),
        (call("not_ours", json!({ "a": 1 })), None),
    ]
}

#[test]
fn all_lines() {
    let mut lines = String::new();
    for (call, view) in each() {
        let [done, plain] = [view, None].map(|view| answered(&call, view));
        let failed = ToolResult::to(&call, "no", true);
        let stopped = ToolResult { stopped: true, ..failed.clone() };
        let verdict = Some(Verdict::Denied { message: None });
        let denied = ToolResult { verdict, ..stopped.clone() };
        let ended = [&done, &plain, &failed, &stopped, &denied].map(Progress::Ended);
        let open = [Progress::Queued, Progress::Asking, Progress::Running, Progress::Lost];
        for progress in open.into_iter().chain(ended) {
            let line = tool_line(&ours(), &call, progress);
            assert!(
                !line.contains(['{', '?']) || call.name == "not_ours" || call.name == "ask_user",
                "{line}"
            );
            lines.push_str(&line);
            lines.push('\n');
        }
    }
    insta::assert_snapshot!(lines);
}

#[test]
fn only_what_is_at_work_is_said_to_be() {
    let (call, _) = each().swap_remove(0);
    let failed = ToolResult::to(&call, "no", true);
    let stopped = ToolResult { stopped: true, ..failed.clone() };
    let ended = [&failed, &stopped].map(Progress::Ended);
    let open = [Progress::Queued, Progress::Asking, Progress::Lost];
    for (call, _) in each().iter().filter(|(call, _)| call.name != "not_ours") {
        let working = tool_line(&ours(), call, Progress::Running);
        for progress in open.into_iter().chain(ended) {
            let line = tool_line(&ours(), call, progress);
            assert!(!line.contains(&working), "{line}");
        }
    }
}

#[test]
fn what_was_denied_and_how_long_it_took_is_said() {
    let call = call("run_command", json!({ "command": "cargo test" }));
    let verdict = Some(Verdict::Denied { message: None });
    let denied = ToolResult { verdict, ..ToolResult::to(&call, "no", true) };
    assert_eq!(tool_line(&ours(), &call, Progress::Ended(&denied)), "Run cargo test · denied");
    let view = ToolView::Ran {
        command: "cargo test".to_owned(),
        exit: Some(CommandExit::Status(101)),
        output: None,
        sandboxed: true,
        quarantined: Vec::new(),
    };
    for (took, said) in [
        (Duration::from_millis(900), "Ran cargo test · exit code 101"),
        (Duration::from_millis(12_300), "Ran cargo test · exit code 101 · 12 s"),
        (Duration::from_secs(185), "Ran cargo test · exit code 101 · 3 min 5 s"),
    ] {
        let result = ToolResult { took: Some(took), ..answered(&call, Some(view.clone())) };
        assert_eq!(tool_line(&ours(), &call, Progress::Ended(&result)), said);
    }
}

#[test]
fn whatever_a_model_writes_is_one_line() {
    let wild = "a\n\x1b[2J\u{202e}{from}".repeat(50);
    for name in ["read_file", "run_command", "move_file", "not_ours\n\x07"] {
        let odd = json!({ "path": wild, "command": wild, "from": wild, "to": wild });
        for arguments in [odd, json!(wild), json!(null), json!([1]), json!({ "path": 5 })] {
            let call = call(name, arguments);
            let failed = ToolResult::to(&call, "no", true);
            for progress in [Progress::Queued, Progress::Running, Progress::Ended(&failed)] {
                let line = tool_line(&ours(), &call, progress);
                assert!(!line.contains(char::is_control), "{line:?}");
                assert!(!line.contains('\u{202e}'), "{line:?}");
                assert!(line.chars().count() < 1_000, "{line:?}");
            }
        }
    }
}

#[test]
fn a_tool_that_is_not_ours_speaks_for_itself_and_hides_nothing() {
    let spec = ToolSpec {
        name: "weather".to_owned(),
        description: "Tells the\nweather.".to_owned(),
        parameters: Value::default(),
    };
    let title = Text::Verbatim("The \u{202e}Weather".to_owned());
    let info = ToolInfo { title, ..ToolInfo::foreign(spec) };
    assert_eq!(tool_title(&info), "The ⟨U+202E⟩Weather");
    assert_eq!(tool_description(&info), "Tells the⏎weather.");
    let (call, unknown) = (call("weather", json!({ "a": 1 })), call("gone", json!({})));
    let tools: Toolbox = [info].into_iter().collect();
    assert_eq!(tool_line(&tools, &call, Progress::Running), "Using The ⟨U+202E⟩Weather");
    assert_eq!(tool_subject(&tools, &call, None), None);
    let lines = |result: &ToolResult| tool_line(&tools, &unknown, Progress::Ended(result));
    assert_eq!(lines(&ToolResult::to(&unknown, "no", true)), "Couldn’t use gone");
    let titled = ToolCall { title: Some("The\nClock".to_owned()), ..unknown.clone() };
    assert_eq!(tool_line(&tools, &titled, Progress::Lost), "Use The⏎Clock · no result");
    let found = ToolView::Listed { what: "a".to_owned(), entries: 2 };
    assert_eq!(lines(&answered(&unknown, Some(found))), "Used gone · 2 entries");
}

#[test]
fn a_line_says_what_the_call_is_about() {
    let subject = |name, arguments| tool_subject(&ours(), &call(name, arguments), None);
    let found = subject("search_files", json!({ "pattern": "fn \n", "path": "src" }));
    assert_eq!(found.as_deref(), Some("fn"));
    assert_eq!(subject("update_todos", json!({})), None);
    let each = each();
    let (stop, view) = each.iter().find(|(call, _)| call.name == "stop_command").expect("one");
    let stopped = answered(stop, view.clone());
    let subject = |result| tool_subject(&ours(), stop, result);
    assert_eq!(subject(None).as_deref(), Some("1"));
    assert_eq!(subject(Some(&stopped)).as_deref(), Some("cargo test"));
}

#[test]
fn each_end_of_a_worktree_has_words_of_its_own() {
    let line = |action: &str, progress: Progress<'_>| {
        let arguments = json!({ "name": "fixer", "action": action });
        tool_line(&ours(), &call("finish_worktree", arguments), progress)
    };
    let lines = |action| {
        let done = ToolResult::to(&call("finish_worktree", json!({})), "…", false);
        let failed = ToolResult { failed: true, ..done.clone() };
        [
            line(action, Progress::Asking),
            line(action, Progress::Running),
            line(action, Progress::Ended(&done)),
            line(action, Progress::Ended(&failed)),
        ]
    };
    assert_eq!(
        lines("merge"),
        [
            "Merge the work of fixer · waiting for your answer",
            "Merging the work of fixer",
            "Merged the work of fixer",
            "Couldn’t merge the work of fixer",
        ]
    );
    assert_eq!(lines("show")[2], "Showed the changes of fixer");
    assert_eq!(lines("commit")[2], "Committed the changes of fixer");
    assert_eq!(lines("discard")[0], "Discard the work of fixer · waiting for your answer");
    // A model may write anything.
    assert_eq!(lines("burn")[1], "Finishing the worktree of fixer");
}

#[test]
fn what_an_agent_does_is_said_once() {
    let line = |tool: &str, state| {
        let report = AgentReport {
            session: Fid::new("a"),
            name: "explorer".to_owned(),
            agent: "just-ask".to_owned(),
            state,
            text: String::new(),
            error: None,
            usage: Usage::default(),
            ids: Vec::new(),
        };
        let call = call(tool, json!({ "name": "explorer" }));
        let result = answered(&call, Some(ToolView::Agents { agents: vec![report] }));
        let ended = Progress::Ended(&result);
        [tool_line(&ours(), &call, ended), tool_heading(&ours(), &call, ended)]
    };
    assert_eq!(
        line("spawn_agent", AgentState::Failed),
        ["Agent explorer has worked · failed", "Agent explorer has worked"]
    );
    assert_eq!(
        line("spawn_worktree", AgentState::Working),
        ["Started agent explorer in a worktree · working", "Started agent explorer in a worktree"]
    );
    assert_eq!(line("spawn_agent", AgentState::Idle)[0], "Started agent explorer · no task yet");
}
