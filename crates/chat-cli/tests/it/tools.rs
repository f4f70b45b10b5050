//! Tests tools in a project when nobody can be asked: what is allowed, what is denied, and how that
//! is reported.

use std::path::PathBuf;
use std::process::Command;

use chat_testkit::server::{Model, Script, Server};
use serde_json::{Value, json};

use crate::home::{Home, Run};

/// A home with a small project in it, whose test passes once `add` adds.
pub struct Scene {
    pub home: Home,
    pub project: PathBuf,
}

/// A file with a fault, and the edit that fixes it.
pub const WRONG: &str = "add() {\n    echo $(($1 - $2))\n}\n";
pub const RIGHT: &str = "add() {\n    echo $(($1 + $2))\n}\n";

impl Scene {
    pub fn new(server: &Server) -> Self {
        let home = Home::new(server);
        let project = home.path("work");
        std::fs::create_dir_all(project.join("src")).expect("a folder");
        std::fs::write(project.join("src/add.sh"), WRONG).expect("a file");
        let test = ". src/add.sh\n[ \"$(add 2 3)\" = 5 ] && echo well || { echo ill; exit 3; }\n";
        std::fs::write(project.join("test.sh"), test).expect("a file");
        Self { home, project: project.canonicalize().expect("its path") }
    }

    /// `ask` in the project, with these options.
    pub fn args<'a>(&'a self, options: &[&'a str]) -> Vec<&'a str> {
        let project = self.project.to_str().expect("a path");
        let mut args = vec!["ask", "--project", project];
        args.extend(options);
        args.push("mend it");
        args
    }

    pub fn ask(&self, options: &[&str]) -> Run {
        self.home.run(self.args(options))
    }

    pub fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.project.join(path)).unwrap_or_default()
    }
}

pub fn edits(id: &str) -> Script {
    let edits = json!([{ "old": "$1 - $2", "new": "$1 + $2" }]);
    Script::new().tool_call(id, "edit_file", json!({ "path": "src/add.sh", "edits": edits }))
}

pub fn runs(id: &str, command: &str) -> Script {
    Script::new().tool_call(id, "run_command", json!({ "command": command }))
}

fn reads(id: &str, path: &str) -> Script {
    Script::new().tool_call(id, "read_file", json!({ "path": path }))
}

fn of_type<'a>(events: &'a [Value], kind: &str) -> Vec<&'a Value> {
    events.iter().filter(|event| event["type"] == kind).collect()
}

#[test]
fn what_is_allowed_is_done_and_told_line_by_line() {
    let server = Server::start();
    server.push(runs("c1", "sh test.sh"));
    server.push(reads("c2", "src/add.sh"));
    server.push(edits("c3"));
    server.push(runs("c4", "sh test.sh"));
    server.push(Script::new().text("It adds now."));
    let scene = Scene::new(&server);
    let run = scene.ask(&["--allow", "write:src/**", "--allow", "run:sh test.sh"]).ok();
    assert_eq!(run.stdout, "It adds now.\n", "{run:#?}");
    assert_eq!(scene.read("src/add.sh"), RIGHT);
    let lines: Vec<_> = run.stderr.lines().collect();
    assert_eq!(
        lines,
        [
            "Ran sh test.sh · exit code 3",
            "Read src/add.sh 1–3",
            "Edited src/add.sh +1 −1",
            "Ran sh test.sh"
        ],
        "{run:#?}"
    );
    let last = server.chats().last().expect("a request").body.to_string();
    assert!(last.contains("well"), "the model gets the output: {last}");
}

#[test]
fn what_would_be_asked_is_denied_at_once_and_what_allows_it_is_named() {
    let server = Server::start();
    server.push(edits("c1"));
    server.push(runs("c2", "sh 'a b.sh'"));
    server.push(Script::new().text("Then not."));
    let scene = Scene::new(&server);
    let run = scene.ask(&[]).ok();
    assert_eq!(run.stdout, "Then not.\n");
    assert_eq!(scene.read("src/add.sh"), WRONG);
    for told in ["--allow write:./src/add.sh\n", "--allow 'run:sh "] {
        assert!(run.stderr.contains(told), "{told}: {}", run.stderr);
    }
    assert_eq!(run.stderr.lines().count(), 2, "a line each: {}", run.stderr);
    let sent = server.chats()[1].body.to_string();
    assert!(sent.contains("the user cannot be asked here"), "{sent}");
    // What it named is what allows it, as a shell reads it.
    let options = run.stderr.split("--allow 'run:").nth(1).expect("a rule");
    let rule = options.lines().next().expect("a line");
    let shell = Command::new("sh").arg("-c").arg(format!("printf %s 'run:{rule}")).output();
    let rule = String::from_utf8(shell.expect("a shell").stdout).expect("text");
    server.push(runs("c1", "sh 'a b.sh'"));
    server.push(Script::new().text("Done."));
    let run = scene.ask(&["--allow", &rule]).ok();
    assert!(!run.stderr.contains("can’t ask"), "{}", run.stderr);
}

#[test]
fn calls_of_two_replies_are_two_whatever_their_ids() {
    let server = Server::start();
    // Some servers begin to count again with each reply.
    server.push(reads("call_0", "src/add.sh"));
    server.push(reads("call_0", "test.sh"));
    server.push(Script::new().text("Read."));
    let scene = Scene::new(&server);
    let run = scene.ask(&["--json"]).ok();
    let events = run.events();
    let paths: Vec<_> =
        of_type(&events, "tool_call").iter().map(|call| &call["arguments"]["path"]).collect();
    assert_eq!(paths, ["src/add.sh", "test.sh"]);
    let lines: Vec<_> = of_type(&events, "tool_result").iter().map(|r| &r["line"]).collect();
    assert_eq!(lines, ["Read src/add.sh 1–3", "Read test.sh 1–2"]);
}

#[test]
fn programs_hear_of_calls_results_denials_and_the_plan() {
    let server = Server::start();
    let plan = json!([{ "text": "mend", "state": "doing" }]);
    server.push(Script::new().tool_call("c1", "update_todos", json!({ "todos": plan })));
    server.push(edits("c2"));
    let question = json!({ "question": "Which?", "choices": ["red", "blue"] });
    server.push(Script::new().tool_call("c3", "ask_user", question));
    server.push(Script::new().text("Done."));
    let scene = Scene::new(&server);
    let run = scene.ask(&["--json"]).ok();
    let events = run.events();
    assert_eq!(of_type(&events, "todos")[0]["todos"], plan);
    let asked = of_type(&events, "permission");
    assert_eq!(
        *asked[0],
        json!({
            "type": "permission", "id": "c2", "tool": "edit_file", "action": "write",
            "target": "src/add.sh", "why": "No rule allows it yet.",
            "reasons": ["No rule allows it yet."],
            "always": ["write:./src/add.sh"], "answer": "nobody",
        })
    );
    let question = of_type(&events, "question");
    assert_eq!((&question[0]["text"], &question[0]["answer"]), (&json!("Which?"), &Value::Null));
    let results = of_type(&events, "tool_result");
    assert_eq!(results.len(), 3);
    assert_eq!(results[0]["view"]["kind"], "todos");
    assert_eq!((&results[1]["failed"], &results[1]["id"]), (&json!(true), &json!("c2")));
    assert!(results[0]["took_ms"].is_u64(), "{results:#?}");
    assert_eq!(events.last().expect("events")["reason"], "complete");
}

#[test]
fn every_reason_to_ask_is_told() {
    let server = Server::start();
    server.push(runs("c1", "A=1 sh $x > ../out"));
    server.push(Script::new().text("Then not."));
    let scene = Scene::new(&server);
    let run = scene.ask(&["--json"]).ok();
    let events = run.events();
    let asked = of_type(&events, "permission")[0];
    let reasons = asked["reasons"].as_array().expect("reasons");
    assert_eq!(reasons[0], asked["why"]);
    for told in [
        "The file that “../out” opens is only known when the command runs.",
        "The value of “$x” is only known when the command runs.",
        "It sets the variable “A”. This may change what the command does.",
    ] {
        assert!(reasons.contains(&json!(told)), "{told}: {asked}");
    }
}

#[test]
fn programs_hear_how_a_command_would_run() {
    let server = Server::start();
    for (id, more) in [("c1", json!({ "seconds": 600 })), ("c2", json!({ "background": true }))] {
        let mut call = json!({ "command": "make serve" });
        call.as_object_mut().expect("fields").extend(more.as_object().expect("fields").clone());
        server.push(Script::new().tool_call(id, "run_command", call));
    }
    server.push(Script::new().text("Then not."));
    let scene = Scene::new(&server);
    let run = scene.ask(&["--json"]).ok();
    let events = run.events();
    let asked = of_type(&events, "permission");
    let how = |at: usize| (&asked[at]["background"], &asked[at]["limit_seconds"]);
    assert_eq!(how(0), (&json!(false), &json!(600)));
    assert_eq!(how(1), (&json!(true), &Value::Null));
    assert_eq!(asked[1]["always"], json!(["run+background:make serve"]));
}

#[test]
fn each_mode_does_what_it_says() {
    for (mode, edited, ran) in
        [("edits", true, false), ("plan", false, false), ("unattended", true, true)]
    {
        let server = Server::start();
        server.push(edits("c1"));
        server.push(runs("c2", "touch ran.txt"));
        server.push(Script::new().text("Done."));
        let scene = Scene::new(&server);
        let run = scene.ask(&["--mode", mode]).ok();
        assert_eq!(scene.read("src/add.sh") == RIGHT, edited, "{mode}: {run:#?}");
        assert_eq!(scene.project.join("ran.txt").exists(), ran, "{mode}: {run:#?}");
    }
}

#[test]
fn a_chat_keeps_its_folder_and_its_rules_and_another_one_has_none() {
    let server = Server::start();
    let scene = Scene::new(&server);
    scene.ask(&["--allow", "write:src/**"]).ok();
    let fid = scene.home.fid();
    server.push(edits("c1"));
    server.push(Script::new().text("Done."));
    scene.home.run(["ask", "--session", &fid, "now"]).ok();
    assert_eq!(scene.read("src/add.sh"), RIGHT);
    scene.home.run(["ask", "hello"]).ok();
    let last = server.chats().last().expect("a request").body.clone();
    assert!(last.get("tools").is_none(), "{last}");
}

#[test]
fn a_wrong_rule_or_folder_is_a_wrong_command_line_with_a_word_how_it_is_right() {
    let server = Server::start();
    let home = Home::new(&server);
    for (option, value, told) in [
        ("--allow", "cargo test", "run:cargo test *"),
        (
            "--allow",
            "look:src",
            "read, write, run, run+network, run+background, network, mcp, or mcp+read-only",
        ),
        ("--project", "nowhere", "nowhere"),
        ("--mode", "wild", "unattended"),
    ] {
        let run = home.run(["ask", option, value, "hello"]);
        assert_eq!(run.code, Some(2), "{option} {value}: {run:#?}");
        assert!(run.stderr.contains(told), "{option} {value}: {}", run.stderr);
    }
    assert!(server.chats().is_empty());
}

#[test]
fn a_stored_chat_shows_its_calls_by_the_same_lines() {
    let server = Server::start();
    server.push(edits("call_0").text("I mend it."));
    server.push(runs("call_0", "sh test.sh"));
    server.push(Script::new().text("It adds now."));
    let scene = Scene::new(&server);
    scene.ask(&["--mode", "unattended"]).ok();
    let fid = scene.home.fid();
    let plain = scene.home.run(["show", &fid]).ok().stdout;
    let body = "I mend it.\n• Edited src/add.sh +1 −1\n• Ran sh test.sh\nIt adds now.\n";
    assert!(plain.ends_with(body), "{plain}");
    let markdown = scene.home.run(["show", "--markdown", &fid]).ok().stdout;
    let folded = "<details>\n<summary>Edited src/add.sh +1 −1</summary>\n\n```diff\n";
    assert!(markdown.contains(folded), "{markdown}");
    assert!(markdown.contains("\n-    echo $(($1 - $2))\n+    echo $(($1 + $2))\n"), "{markdown}");
    let chat = scene.home.show(&fid);
    let messages = chat["messages"].as_array().expect("messages").iter();
    let lines: Vec<_> = messages.filter_map(|m| m["tool_results"][0]["line"].as_str()).collect();
    assert_eq!(lines, ["Edited src/add.sh +1 −1", "Ran sh test.sh"]);
}

#[test]
fn folder_mode_and_rules_are_changed_in_a_conversation() {
    let server = Server::start();
    let scene = Scene::new(&server);
    server.push(edits("c1"));
    server.push(Script::new().text("Done."));
    let folder = scene.project.to_str().expect("a path");
    let input = format!(
        "/project\n/project {folder}\n/project\n/mode\n/mode edits\nmend it\n/mode\n/mode wild\n\
         /rules\n/rules remove run:ls *\n/rules remove run:ls *\n"
    );
    let run = scene.home.run_with(["chat", "--allow", "run:ls *"], &input);
    assert_eq!(scene.read("src/add.sh"), RIGHT, "{run:#?}");
    for told in [
        "This chat has no project.",
        &format!("The model now works in {folder}."),
        &format!("The model works in {folder}."),
        "ask – ",
        "edits – ",
        "There is no mode “wild”",
        "allows run:ls * (in this chat)",
        "Removed the rule “run:ls *”.",
        "There is no rule “run:ls *”.",
    ] {
        assert!(run.stderr.contains(told), "{told}: {}", run.stderr);
    }
}

#[test]
fn a_model_without_tools_gets_none_and_that_is_said() {
    let model = Model::new("scripted").capabilities(&["completion"]);
    let server = Server::start().with_models([model]);
    let scene = Scene::new(&server);
    let run = scene.ask(&["--json"]).ok();
    let events = run.events();
    assert_eq!(of_type(&events, "notice")[0]["kind"], "unsupported");
    assert_eq!(events.last().expect("events")["type"], "done");
    assert!(server.chats()[0].body.get("tools").is_none());
    let run = scene.ask(&[]).ok();
    assert!(run.stderr.contains("This model can’t use tools."), "{}", run.stderr);
    // Where no folder was given there is nothing to say.
    assert_eq!(scene.home.run(["ask", "hello"]).ok().stderr, "");
}

#[test]
fn files_that_are_named_with_an_at_go_along() {
    let server = Server::start();
    let scene = Scene::new(&server);
    std::fs::write(scene.project.join("my notes.txt"), "water twice a day\n").expect("a file");
    let folder = scene.project.to_str().expect("a path");
    let question = "Is @src/add.sh:1-2 right? See @\"my notes.txt\", @src/none.sh and me@home.org";
    let run = scene.home.run(["ask", "--project", folder, question]).ok();
    let sent = server.chats().last().expect("a request").body.to_string();
    assert!(sent.contains("$1 - $2") && sent.contains("water twice a day"), "{sent}");
    assert!(run.stderr.contains("@src/none.sh isn’t in the project"), "{}", run.stderr);
    assert!(!run.stderr.contains("home.org"), "{}", run.stderr);
    // In a conversation as well, and with that message alone.
    server.push(Script::new().text("It fails."));
    server.push(Script::new().text("It does not."));
    let talk = "What of @test.sh?\nAnd now?\n";
    let run = scene.home.run_with(["chat", "--project", folder], talk).ok();
    assert_eq!(run.stderr, "");
    let chats = server.chats();
    let [.., first, second] = &chats[..] else { panic!("{chats:?}") };
    let count = |one: &str| one.matches("echo well").count();
    assert_eq!(count(&first.body.to_string()), 1);
    assert_eq!(count(&second.body.to_string()), 1);
}

#[test]
fn a_project_opens_with_the_code_assistant_or_who_worked_there_last() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let instructions = |options: &[&str]| {
        server.push(Script::new().text("Well."));
        scene.ask(options).ok();
        server.chats().pop().expect("a request").body["messages"][0].clone()
    };
    let first = instructions(&[]);
    assert_eq!(first, instructions(&["--agent", "code-assistant"]));
    let plain = instructions(&["--agent", "just-ask"]);
    assert_ne!(first, plain);
    assert_eq!(instructions(&[]), plain);
}
