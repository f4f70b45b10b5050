//! Records the `--json` output of whole conversations, and what is sent to the model with the real
//! tools. `docs/dev/testing.md` explains how to review and accept a changed snapshot.

use chat_testkit::recording::{self, Placeholders, indented};
use chat_testkit::server::{Script, Server};
use serde_json::{Value, json};

use crate::home::{Home, Run};
use crate::tools::{Scene, edits};

fn placeholders(home: &Home, server: &Server) -> Placeholders {
    let path = |inside| home.path(inside).canonicalize().expect("its path").display().to_string();
    Placeholders::default().word(path("work/.."), "home").word(server.url(), "server")
}

/// The events as they were printed, without what is a matter of time: pieces of one text are put
/// together, and that a server was waited for is left out.
fn events(run: &Run, placeholders: &mut Placeholders) -> String {
    let mut out = Vec::new();
    let mut text: Option<(Value, String)> = None;
    for line in run.stdout.lines() {
        let event: Value = serde_json::from_str(line).expect("JSON");
        if event["type"] == "stage" && event["stage"] == "waiting" {
            continue;
        }
        if event["type"] == "chunk" {
            let more = event["text"].as_str().expect("text");
            match &mut text {
                Some((thinking, text)) if *thinking == event["thinking"] => text.push_str(more),
                _ => {
                    out.extend(text.take().map(chunk));
                    text = Some((event["thinking"].clone(), more.to_owned()));
                }
            }
            continue;
        }
        out.extend(text.take().map(chunk));
        out.push(line.to_owned());
    }
    out.extend(text.take().map(chunk));
    let out = out.iter().map(|line| indented(&placeholders.apply(line)));
    out.collect::<Vec<_>>().join("\n")
}

fn chunk((thinking, text): (Value, String)) -> String {
    let text = Value::from(text);
    format!(r#"{{"type":"chunk","text":{text},"thinking":{thinking}}}"#)
}

/// A home with a folder `work`, which the placeholders want.
fn home(server: &Server) -> Home {
    let home = Home::new(server);
    std::fs::create_dir(home.path("work")).expect("a folder");
    home
}

#[test]
fn a_question_and_one_that_follows() {
    let server = Server::start();
    let home = home(&server);
    server.push(Script::new().thinking("hm ").thinking("well").text("For").text("ty-two\n"));
    let first = home.run(["ask", "--json", "--thinking", "high", "6 × 7?"]).ok();
    server.push(Script::new().text("Yes.").usage(40, 2));
    let second = home.run(["ask", "--json", "--session", &home.fid(), "Sure?"]).ok();
    let mut placeholders = placeholders(&home, &server);
    insta::assert_snapshot!("question", events(&first, &mut placeholders));
    insta::assert_snapshot!("question_that_follows", events(&second, &mut placeholders));
    let sessions = home.run(["sessions", "--json"]).ok();
    insta::assert_snapshot!("question_in_the_list", events(&sessions, &mut placeholders));
}

#[test]
fn tools_in_a_project() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let todos = json!({ "todos": [{ "text": "Fix it", "state": "doing" }] });
    let question = json!({ "question": "Which one?", "choices": ["a", "b"] });
    // One after the other: results of calls that run at once come as they are done.
    let reads = |script: Script, id, path| {
        server.push(script.tool_call(id, "read_file", json!({ "path": path })));
    };
    reads(Script::new().text("I look."), "c1", "src/add.sh");
    reads(Script::new(), "c2", "missing.txt");
    server.push(edits("c3").tool_call("c4", "update_todos", todos));
    let write = json!({ "path": "new.txt", "content": "new\n" });
    server.push(Script::new().tool_call("c5", "write_file", write));
    server.push(Script::new().tool_call("c6", "ask_user", question));
    server.push(Script::new().text("It adds now."));
    let run = scene.ask(&["--json", "--allow", "write:src/**"]).ok();
    let mut placeholders = placeholders(&scene.home, &server);
    insta::assert_snapshot!("tools", events(&run, &mut placeholders));
    let requests = recording::requests(&server.requests());
    insta::assert_snapshot!("tools_requests", placeholders.apply(&requests));
    let fid = scene.home.fid();
    let shown = scene.home.run(["show", "--json", &fid]).ok().stdout;
    insta::assert_snapshot!("tools_shown", indented(&placeholders.apply(&shown)));
    let exported = scene.home.run(["export", &fid]).ok().stdout;
    insta::assert_snapshot!("tools_exported", placeholders.apply(&exported));
}

#[test]
fn a_failure_in_the_middle() {
    let server = Server::start();
    let home = home(&server);
    server.push(Script::new().text("Half of").error("out of memory"));
    let run = home.run(["ask", "--json", "Tell me"]);
    assert_eq!(run.code, Some(1), "{run:?}");
    insta::assert_snapshot!("failure", events(&run, &mut placeholders(&home, &server)));
}

#[test]
fn a_rate_limit_that_is_waited_for() {
    let server = Server::start();
    let home = home(&server);
    server.push(Script::status(429, r#"{"error":"slow down"}"#).header("Retry-After", "1"));
    server.push(Script::new().text("Now."));
    let run = home.run(["ask", "--json", "Now?"]).ok();
    insta::assert_snapshot!("rate_limit", events(&run, &mut placeholders(&home, &server)));
}

#[test]
fn a_conversation_of_several_chats() {
    let server = Server::start();
    let home = home(&server);
    server.when("Summarize the conversation above", Script::new().text("- they counted"));
    let input = "one\ntwo\n/compact\nthree\n/new\nfour\n";
    let run = home.run_with(["chat", "--json"], input).ok();
    insta::assert_snapshot!("conversation", events(&run, &mut placeholders(&home, &server)));
    let requests = recording::requests(&server.requests());
    let requests = placeholders(&home, &server).apply(&requests);
    insta::assert_snapshot!("conversation_requests", requests);
}
