//! Tests agents in a terminal: listed, watched, and named in the events of their chat.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Child;
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;

use chat_testkit::server::{Gate, PATIENCE, Script, Server};
use serde_json::{Value, json};

use crate::home::{Run, connection, end_of, kill};
use crate::tools::{RIGHT, Scene, WRONG, edits};

pub fn spawn(id: &str, arguments: Value) -> Script {
    Script::new().tool_call(id, "spawn_agent", arguments)
}

fn field(line: &Value, name: &str) -> String {
    line[name].as_str().unwrap_or_default().to_owned()
}

/// The lines of a program that runs, as they come.
pub fn lines(child: &mut Child) -> Receiver<Value> {
    let (told, heard) = channel();
    let output = BufReader::new(child.stdout.take().expect("its output"));
    std::thread::spawn(move || {
        for line in output.lines().map_while(Result::ok) {
            let _ = told.send(serde_json::from_str(&line).expect("JSON"));
        }
    });
    heard
}

#[test]
fn agents_are_listed_with_what_they_do() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let home = &scene.home;
    let empty = home.run(["agents"]).ok();
    assert_eq!((empty.stdout.as_str(), empty.stderr.as_str()), ("", "There are no agents yet.\n"));
    server.when("Look", Script::new().text("It is there.").usage(1_000, 20));
    let task = json!({ "name": "second", "task": "Look" });
    server.push(spawn("c1", json!({ "name": "first" })).tool_call("c2", "spawn_agent", task));
    server.push(Script::new().text("Found."));
    scene.ask(&[]).ok();
    home.run(["ask", "Something else"]).ok();
    let chats = home.sessions();
    let is_chat = |title: &str| chats.iter().find(|chat| chat["title"] == title).expect("a chat");
    let (chat, other) = (field(is_chat("mend it"), "fid"), field(is_chat("Something else"), "fid"));

    let mut agents = home.run(["agents", "--json"]).ok().events();
    agents.sort_by_key(|agent| field(agent, "name"));
    let told = |agent: &Value| {
        ["parent", "name", "agent", "model", "state"].map(|name| field(agent, name))
    };
    let expected = |name: &str, state: &str| {
        [&chat, name, "code-assistant", "Test/scripted", state].map(str::to_owned)
    };
    assert_eq!(
        agents.iter().map(told).collect::<Vec<_>>(),
        [expected("first", "idle"), expected("second", "done")]
    );
    assert_eq!(agents[1]["usage"]["prompt_tokens"], 1_000, "{agents:?}");
    let text = home.run(["agents", "--session", &chat]).ok().stdout;
    assert!(text.lines().next().expect("a line").ends_with("  mend it"), "{text}");
    let line = "    second · code-assistant · Test/scripted · done · 1,020 tokens · ";
    assert!(text.contains(line), "{text}");

    assert_eq!(home.run(["agents", "--session", &other]).ok().stdout, "");
    let unknown = home.run(["agents", "--session", "nowhere"]);
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
    let closes = Script::new().tool_call("c3", "close_agent", json!({ "name": "second" }));
    server.push(closes);
    server.push(Script::new().text("Closed."));
    home.run(["ask", "--session", &chat, "Close it"]).ok();
    let agents = home.run(["agents", "--json"]).ok().events();
    let closed = agents.iter().find(|agent| agent["name"] == "second").expect("it is kept");
    assert_eq!(closed["state"], "closed");
}

#[test]
fn a_denial_names_the_agent_and_the_rule_that_it_names_helps() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let script = || {
        server.push(spawn("c1", json!({ "name": "fixer", "task": "Fix it" })));
        server.push(edits("e1"));
        server.push(Script::new().text("I tried."));
        server.push(Script::new().text("That is all."));
    };
    script();
    let run = scene.ask(&[]).ok();
    let told = "From agent fixer: Denied, because Natter can’t ask you here: ";
    assert!(run.stderr.contains(told), "{}", run.stderr);
    assert!(run.stderr.contains("--allow write:./src/add.sh\n"), "{}", run.stderr);
    assert_eq!(scene.read("src/add.sh"), WRONG);
    script();
    let run = scene.ask(&["--json"]).ok();
    assert!(run.stderr.contains(told), "{}", run.stderr);
    script();
    let run = scene.ask(&["--allow", "write:./src/add.sh"]).ok();
    assert!(!run.stderr.contains("Denied"), "{}", run.stderr);
    assert_eq!(scene.read("src/add.sh"), RIGHT);
}

/// Waits until a program has said this on standard error, and gives what it says after that.
fn until_said(child: &mut Child, words: &str) -> JoinHandle<String> {
    let (told, heard) = channel();
    let mut errors = BufReader::new(child.stderr.take().expect("its errors"));
    let words = words.to_owned();
    let rest = std::thread::spawn(move || {
        let mut line = String::new();
        while !line.contains(&words) {
            line.clear();
            assert_ne!(errors.read_line(&mut line).expect("a line"), 0, "it ended");
        }
        let _ = told.send(());
        let mut rest = String::new();
        errors.read_to_string(&mut rest).expect("the rest");
        rest
    });
    heard.recv_timeout(PATIENCE).expect("it is said");
    rest
}

/// Begins a chat with the agent “second” in the background, which works until the gate is opened.
fn in_background(server: &Server, scene: &Scene) -> (Child, Gate) {
    let gate = Gate::new();
    server.when("Look", Script::new().gate_first(&gate).text("It is there."));
    let task = json!({ "name": "second", "task": "Look", "background": true });
    server.push(spawn("c1", task));
    server.push(Script::new().text("It is being looked for."));
    (scene.home.command(scene.args(&[])).spawn().expect("started"), gate)
}

const WAITS: &str = "Waiting for agents: second. Press Ctrl+C to end without them.";

#[test]
fn ask_waits_for_agents_in_the_background_and_for_what_the_chat_makes_of_their_reports() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let (mut asks, gate) = in_background(&server, &scene);
    let rest = until_said(&mut asks, WAITS);
    server.push(Script::new().text("It was found."));
    gate.open();
    let run = Run::of(asks).ok();
    assert_eq!(run.stdout, "It is being looked for.\nIt was found.\n");
    assert_eq!(rest.join().expect("the rest"), "");
    let agents = scene.home.run(["agents", "--json"]).ok().events();
    assert_eq!(agents[0]["state"], "done", "{agents:?}");
}

#[test]
fn ask_fails_where_a_limit_leaves_a_report_without_an_answer_and_names_it() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let limit = "[agents]\nturns = 1\n";
    scene.home.settings(&format!("{}{limit}", connection(&server.url())));
    let (mut asks, gate) = in_background(&server, &scene);
    let rest = until_said(&mut asks, WAITS);
    gate.open();
    let run = Run::of(asks);
    assert_eq!((run.code, run.stdout.as_str()), (Some(1), "It is being looked for.\n"));
    let said = rest.join().expect("the rest");
    assert!(said.contains("reached their limit of 1 turn"), "{said}");
    assert!(said.contains("set “turns” in [agents] of config.toml"), "{said}");
}

#[test]
fn ctrl_c_ends_ask_without_its_agents_and_names_them() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let (mut asks, _gate) = in_background(&server, &scene);
    let rest = until_said(&mut asks, WAITS);
    kill(asks.id(), "INT");
    let run = Run::of(asks);
    assert_eq!((run.code, run.stdout.as_str()), (Some(130), "It is being looked for.\n"));
    let words = "Still working when this ended, and interrupted: second\n";
    assert!(rest.join().expect("the rest").starts_with(words));
}

#[test]
fn what_agents_of_another_program_do_is_followed() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let gate = Gate::new();
    server.push(spawn("c1", json!({ "name": "second", "task": "Look" })));
    server.push(Script::new().tool_call("c2", "read_file", json!({ "path": "test.sh" })));
    server.push(Script::new().text("It is ").gate(&gate).text("there."));
    server.push(Script::new().text("Found."));
    let mut asks = scene.home.command(scene.args(&[])).spawn().expect("started");
    gate.wait_reached();
    let mut watches = scene.home.command(["agents", "--watch", "--json"]).spawn().expect("started");
    let heard = lines(&mut watches);
    let first = heard.recv_timeout(PATIENCE).expect("a line");
    assert_eq!(
        (field(&first, "name"), field(&first, "state")),
        ("second".into(), "working".into())
    );
    assert!(first["since"].is_string(), "{first}");
    gate.open();
    let ended = loop {
        let line = heard.recv_timeout(PATIENCE).expect("a line");
        if line["state"] != "working" {
            break line;
        }
    };
    assert_eq!(ended["state"], "done", "{ended}");
    assert!(end_of(&mut asks).success());
    scene.home.run(["delete", "--yes", &field(&first, "fid")]).ok();
    let deleted = loop {
        let line = heard.recv_timeout(PATIENCE).expect("a line");
        if line["state"] != "done" {
            break line;
        }
    };
    assert_eq!(deleted["state"], "deleted", "{deleted}");
    kill(watches.id(), "INT");
    assert_eq!(end_of(&mut watches).code(), Some(130));
}

#[test]
fn what_an_agent_changes_is_reviewed_and_undone_from_both_chats() {
    let server = Server::start();
    let scene = Scene::new(&server);
    server.push(spawn("c1", json!({ "name": "fixer", "task": "Fix it" })));
    server.push(edits("c2"));
    server.push(Script::new().text("Fixed."));
    server.push(Script::new().text("It was fixed."));
    let chat = field(&scene.ask(&["--mode", "edits", "--json"]).ok().events()[0], "fid");
    let agents = scene.home.run(["agents", "--json"]).ok().events();
    let agent = field(&agents[0], "fid");
    assert_eq!(scene.read("src/add.sh"), RIGHT);
    let does = |fid: &str, input: &str| scene.home.run_with(["chat", "--session", fid], input).ok();
    let run = does(&agent, "/review\n");
    assert!(run.stdout.contains("src/add.sh +1 −1\n"), "{run:?}");
    let run = does(&chat, "/review\n/undo\n/review\n");
    assert!(run.stdout.contains("src/add.sh +1 −1  By fixer\n"), "{run:?}");
    assert!(run.stderr.contains("Restored 1 file"), "{run:?}");
    assert!(run.stderr.contains("There are no changes to review."), "{run:?}");
    assert_eq!(scene.read("src/add.sh"), WRONG);
    // Another time from its own chat.
    server.push(Script::new().tool_call(
        "c3",
        "ask_agent",
        json!({ "name": "fixer", "message": "Again" }),
    ));
    server.push(edits("c4"));
    server.push(Script::new().text("Fixed."));
    server.push(Script::new().text("It was fixed."));
    scene.home.run(["ask", "--session", &chat, "again"]).ok();
    assert_eq!(scene.read("src/add.sh"), RIGHT);
    let run = does(&agent, "/undo\n/review\n");
    assert!(run.stderr.contains("Restored 1 file"), "{run:?}");
    assert!(run.stderr.contains("There are no changes to review."), "{run:?}");
    assert_eq!(scene.read("src/add.sh"), WRONG);
}

#[test]
fn events_of_agents_name_them_and_their_questions_do_not_wait_for_ever() {
    let server = Server::start();
    let scene = Scene::new(&server);
    server.push(spawn("c1", json!({ "name": "second", "task": "Fix it" })));
    server.push(edits("c2"));
    server.push(Script::new().text("It was denied."));
    server.push(Script::new().text("So it goes."));
    let run = scene.ask(&["--json"]).ok();
    let events = run.events();
    let chat = field(&events[0], "fid");
    assert!(events[0].get("parent").is_none(), "{}", events[0]);
    let permission = events.iter().find(|event| event["type"] == "permission").expect("asked");
    let told = ["parent", "agent_name", "tool", "answer"].map(|name| field(permission, name));
    assert_eq!(told, [&chat, "second", "edit_file", "nobody"]);
    let agent = events.iter().rfind(|event| event["type"] == "agent").expect("its end");
    let told = ["parent", "agent_name", "state"].map(|name| field(agent, name));
    assert_eq!(told, [&chat, "second", "done"]);
    assert_eq!(events.last().expect("an end")["reason"], "complete");

    // The events of its own chat name it, too.
    server.push(Script::new().text("Hello."));
    let run = scene.home.run(["ask", "--json", "--session", &field(agent, "fid"), "Hi"]).ok();
    let of_agent = |event: &Value| event["parent"] == *chat && event["agent_name"] == "second";
    assert!(run.events().iter().all(of_agent), "{run:?}");
}

#[test]
fn agents_are_closed_by_name_and_all_at_once() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let home = &scene.home;
    let calls = ["first", "second", "third"].into_iter().fold(Script::new(), |script, name| {
        script.tool_call(name, "spawn_agent", json!({ "name": name }))
    });
    server.push(calls);
    server.push(Script::new().text("They are there."));
    scene.ask(&[]).ok();
    let chats = home.sessions();
    let chat = chats.iter().find(|chat| chat.get("parent").is_none()).expect("a chat");
    let chat = field(chat, "fid");
    let state = |name: &str| {
        let agents = home.run(["agents", "--json"]).ok().events();
        field(agents.iter().find(|agent| agent["name"] == name).expect("it is kept"), "state")
    };
    let closed = home.run(["agents", "close", "first"]).ok();
    assert_eq!(closed.stderr, "Closed agent “first”.\n");
    assert_eq!((state("first"), state("second")), ("closed".into(), "idle".into()));
    let unknown = home.run(["agents", "close", "nobody"]);
    assert_eq!(unknown.code, Some(1), "{unknown:?}");
    assert!(unknown.stderr.contains("There is no agent named “nobody”"), "{unknown:?}");
    assert_eq!(home.run(["agents", "close"]).code, Some(2));
    assert_eq!(home.run(["agents", "close", "--all"]).code, Some(2));
    let closed = home.run(["agents", "close", "--all", "--session", &chat]).ok();
    assert_eq!(closed.stderr, "Closed 2 agents.\n");
    assert_eq!((state("second"), state("third")), ("closed".into(), "closed".into()));

    // Another chat has one of the same name.
    for _ in 0..2 {
        server.push(spawn("c1", json!({ "name": "twin" })));
        server.push(Script::new().text("It is there."));
        scene.ask(&[]).ok();
    }
    let several = home.run(["agents", "close", "twin"]);
    assert!(several.code == Some(1) && several.stderr.contains("Several chats"), "{several:?}");
    let agents = home.run(["agents", "--json"]).ok().events();
    let twin = agents.iter().find(|agent| agent["name"] == "twin").expect("a twin");
    home.run(["agents", "close", &field(twin, "fid")]).ok();
    home.run(["agents", "close", "twin"]).ok();
    let closed = home.run(["agents", "close", "twin"]);
    assert!(closed.code == Some(1) && closed.stderr.contains("closed already"), "{closed:?}");
}

#[test]
fn agents_in_the_background_are_listed_and_stopped_in_a_conversation() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let gate = Gate::new();
    server.when("Look", Script::new().gate_first(&gate).text("It is there."));
    let task = json!({ "name": "second", "task": "Look", "background": true });
    server.push(spawn("c1", task));
    server.push(Script::new().text("It is being looked for."));
    let project = scene.project.to_str().expect("a path");
    let input = "/agents stop second\nmend it\n/agents\n/agents stop nobody\n/agents stop second\n\
                 /agents stop all\n/agents close all\n/agents\n";
    let run = scene.home.run_with(["chat", "--project", project], input);
    let working = "second · code-assistant · Test/scripted · working";
    assert!(run.stdout.contains(working), "{run:?}");
    assert!(run.stdout.contains("second · code-assistant · Test/scripted · closed"), "{run:?}");
    for told in [
        "This chat has no agent named “nobody”. List its agents with: /agents",
        "Stopped agent “second”.",
        "Stopped all agents.",
        "Closed 1 agent.",
    ] {
        assert!(run.stderr.contains(told), "{told}: {run:?}");
    }
}
