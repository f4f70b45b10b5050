//! Tests the questions of tools in a terminal.

use std::fs::File;
use std::io::Write as _;
use std::process::{Child, Command};
use std::sync::mpsc::Receiver;

use chat_testkit::server::{Gate, Script, Server};
use serde_json::json;

use crate::home::{Home, Run, end_of, kill, wait_until};
use crate::pipes::{on, screen, terminal, wait_for};
use crate::tools::{RIGHT, Scene, WRONG, edits, runs};

/// A program whose input and standard error are a terminal.
pub struct Seat {
    /// None once it has ended.
    child: Option<Child>,
    keys: File,
    screen: Receiver<String>,
    seen: String,
}

impl Seat {
    fn new(home: &Home, args: &[&str]) -> Self {
        Self::of(home.command(args), false)
    }

    /// One whose output is that terminal, too.
    pub fn whole(home: &Home, args: &[&str]) -> Self {
        Self::of(home.command(args), true)
    }

    pub fn of(command: Command, whole: bool) -> Self {
        Self::on(command, whole, "xterm")
    }

    /// One at a terminal of this name.
    pub fn on(command: Command, whole: bool, name: &str) -> Self {
        Self::typed_before(command, whole, name, "")
    }

    /// One at whose terminal this was typed before it started.
    pub fn typed_before(mut command: Command, whole: bool, name: &str, keys: &str) -> Self {
        let (mut ours, theirs) = terminal();
        ours.write_all(keys.as_bytes()).expect("typed");
        command.stdin(on(&theirs)).stderr(on(&theirs)).env("TERM", name);
        if whole {
            command.stdout(on(&theirs));
        }
        let child = command.spawn().expect("started");
        let screen = screen(ours.try_clone().expect("another handle"));
        Self { child: Some(child), keys: ours, screen, seen: String::new() }
    }

    pub fn wait_for(&mut self, wanted: &str) -> String {
        wait_for(&self.screen, &mut self.seen, wanted)
    }

    pub fn type_in(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("typed");
    }

    pub fn child(&mut self) -> &mut Child {
        self.child.as_mut().expect("it runs")
    }

    /// Whether its output is held up: a thread waits in writing.
    fn is_held_up(&mut self) -> bool {
        let write = if cfg!(target_arch = "x86_64") { "1 " } else { "64 " };
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child().id()));
        threads.expect("its threads").flatten().any(|thread| {
            let call = std::fs::read_to_string(thread.path().join("syscall"));
            call.is_ok_and(|call| call.starts_with(write))
        })
    }

    pub fn end(mut self) -> Run {
        Run::of(self.child.take().expect("it runs"))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            // A test that failed leaves no program.
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// What stands before the place where an answer is typed.
pub const PLACE: &str = "or a message to the model: ";

#[test]
fn a_change_is_shown_whole_and_done_when_allowed() {
    let server = Server::start();
    server.push(edits("c1"));
    server.push(Script::new().text("Done."));
    let scene = Scene::new(&server);
    let mut seat = Seat::new(&scene.home, &scene.args(&[]));
    let asked = seat.wait_for(PLACE);
    for part in [
        "Edit “src/add.sh”?",
        "\x1b[31m-    echo $(($1 - $2))\x1b[0m",
        "\x1b[32m+    echo $(($1 + $2))\x1b[0m",
        "No rule allows it yet.",
        "\r\n  write:./src/add.sh\r\n",
        "[y]es, in thi[s] chat, in this [p]roject, [n]o, [d]eny always in this project",
    ] {
        assert!(asked.contains(part), "{part:?} in {asked:?}");
    }
    assert_eq!(scene.read("src/add.sh"), WRONG);
    seat.type_in("y\r");
    seat.wait_for("Edited src/add.sh +1 −1");
    assert_eq!(seat.end().ok().stdout, "Done.\n");
    assert_eq!(scene.read("src/add.sh"), RIGHT);
}

#[test]
fn a_command_cannot_hide_what_it_does() {
    let server = Server::start();
    server.push(runs("c1", "echo one\\\n  two \x1b[8m\u{202e}&& touch ran.txt\r"));
    server.push(Script::new().text("Then not."));
    let scene = Scene::new(&server);
    let mut seat = Seat::new(&scene.home, &scene.args(&[]));
    let asked = seat.wait_for(PLACE);
    let whole = "  echo one\\\r\n    two ␛[8m⟨U+202E⟩&& touch ran.txt␍\r\n";
    assert!(asked.contains(whole), "{asked:?}");
    // What nothing can allow for longer offers no such answer.
    assert!(asked.contains("[y]es, [o]utside the sandbox once, [n]o, or a message"), "{asked:?}");
    seat.type_in("n\r");
    seat.end().ok();
    assert!(!scene.project.join("ran.txt").exists());
}

#[test]
fn a_word_is_for_the_model_and_neither_a_slip_nor_nothing_is_an_answer() {
    let server = Server::start();
    server.push(edits("c1"));
    server.push(Script::new().text("Then not."));
    let scene = Scene::new(&server);
    let mut seat = Seat::new(&scene.home, &scene.args(&["--json"]));
    for slip in ["\r", "x\r"] {
        seat.wait_for(PLACE);
        seat.type_in(slip);
    }
    seat.wait_for(PLACE);
    seat.type_in("use printf\r");
    let events = seat.end().ok().events();
    let asked = events.iter().find(|event| event["type"] == "permission").expect("an event");
    assert_eq!((&asked["answer"], &asked["message"]), (&json!("deny"), &json!("use printf")));
    assert_eq!(scene.read("src/add.sh"), WRONG);
    let sent = server.chats()[1].body.to_string();
    assert!(sent.contains("use printf"), "{sent}");
}

#[test]
fn what_was_typed_before_the_question_is_no_answer_to_it() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("Wait. ").gate(&gate).tool_call(
        "c1",
        "run_command",
        json!({ "command": "touch ran.txt" }),
    ));
    server.push(Script::new().text("Then not."));
    let scene = Scene::new(&server);
    let mut seat = Seat::whole(&scene.home, &scene.args(&[]));
    seat.wait_for("Wait.");
    seat.type_in("y\r");
    seat.wait_for("y\r\n");
    gate.open();
    seat.wait_for(PLACE);
    seat.type_in("n\r");
    seat.wait_for("denied");
    assert_eq!(end_of(seat.child()).code(), Some(0));
    assert!(!scene.project.join("ran.txt").exists());
}

#[test]
fn what_was_typed_while_the_question_is_held_up_is_no_answer_to_it() {
    let server = Server::start();
    server.push(runs("c1", "touch ran.txt"));
    server.push(Script::new().text("Then not."));
    let scene = Scene::new(&server);
    let mut seat = Seat::new(&scene.home, &scene.args(&[]));
    // Ctrl+S and Ctrl+Q.
    seat.type_in("\x13");
    wait_until("the question", || seat.is_held_up());
    seat.type_in("y\r\x11");
    seat.wait_for("touch ran.txt");
    seat.wait_for(PLACE);
    seat.type_in("n\r");
    assert_eq!(seat.end().ok().stdout, "Then not.\n");
    assert!(!scene.project.join("ran.txt").exists());
}

#[test]
fn leave_for_longer_is_asked_for_once_and_can_be_taken_back() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let touch = || {
        server.push(runs("c1", "touch ran.txt"));
        server.push(Script::new().text("Done."));
    };
    touch();
    let mut seat = Seat::new(&scene.home, &scene.args(&[]));
    seat.wait_for(PLACE);
    seat.type_in("p\r");
    seat.end().ok();
    // The next chat in this folder is not asked; nobody could be.
    touch();
    let run = scene.ask(&[]).ok();
    assert_eq!(run.stderr, "Ran touch ran.txt\n");
    let folder = scene.project.to_str().expect("a path");
    let listed = scene.home.run(["rules"]).ok().stdout;
    assert_eq!(listed, format!("allows\trun:touch ran.txt\t{folder}\n"));
    let listed = scene.home.run(["rules", "list", "--json"]).ok().events();
    let rule = json!({ "rule": "run:touch ran.txt", "effect": "allow", "project": folder });
    assert_eq!(listed, [rule]);
    let exported = scene.home.run(["rules", "export"]).ok().stdout;
    assert!(exported.contains("rule = \"run:touch ran.txt\""), "{exported}");
    assert_eq!(scene.home.run(["rules", "remove", "run:ls"]).code, Some(1));
    scene.home.run(["rules", "remove", "run:touch ran.txt"]).ok();
    touch();
    assert!(scene.ask(&[]).ok().stderr.contains("Natter can’t ask you here"));
}

#[test]
fn a_question_of_the_models_has_numbered_choices() {
    let server = Server::start();
    let question = json!({ "question": "Which colour?", "choices": ["red", "blue"] });
    server.push(Script::new().tool_call("c1", "ask_user", question));
    server.push(Script::new().text("Blue it is."));
    let scene = Scene::new(&server);
    let mut seat = Seat::new(&scene.home, &scene.args(&[]));
    let asked = seat.wait_for("or your own answer: ");
    assert!(asked.contains("  Which colour?\r\n  1  red\r\n  2  blue\r\n"), "{asked:?}");
    seat.type_in("2\r");
    seat.wait_for("Asked you: Which colour? · blue");
    seat.end().ok();
    let sent = server.chats()[1].body.to_string();
    assert!(sent.contains("blue"), "{sent}");
}

#[test]
fn a_question_is_left_by_stopping_the_request() {
    let server = Server::start();
    server.push(edits("c1"));
    let scene = Scene::new(&server);
    let mut seat = Seat::new(&scene.home, &scene.args(&[]));
    seat.wait_for(PLACE);
    kill(seat.child().id(), "INT");
    assert_eq!(seat.end().code, Some(130));
    assert_eq!(scene.read("src/add.sh"), WRONG);
}

#[test]
fn a_conversation_goes_on_after_questions_answered_and_left() {
    let server = Server::start();
    server.push(edits("c1"));
    server.push(runs("c1", "touch ran.txt"));
    server.push(Script::new().text("Mended."));
    let scene = Scene::new(&server);
    let folder = scene.project.to_str().expect("a path");
    let mut seat = Seat::whole(&scene.home, &["chat", "--project", folder]);
    seat.wait_for("> ");
    seat.type_in("mend it\r");
    seat.wait_for(PLACE);
    seat.type_in("y\r");
    seat.wait_for("touch ran.txt");
    seat.wait_for(PLACE);
    kill(seat.child().id(), "INT");
    seat.wait_for("> ");
    // The line belongs to the conversation again, whole.
    seat.type_in("hello\r");
    seat.wait_for("Mended.");
    seat.wait_for("> ");
    seat.type_in("\x04");
    assert_eq!(end_of(seat.child()).code(), Some(0));
    assert!(!scene.project.join("ran.txt").exists());
    assert_eq!(scene.read("src/add.sh"), RIGHT);
    let said = server.chats().last().expect("a request").texts_of("user");
    assert!(said.iter().any(|text| text == "hello"), "{said:?}");
}

#[test]
fn a_letter_that_is_given_up_with_ctrl_d_allows_nothing() {
    let server = Server::start();
    server.push(edits("c1"));
    server.push(Script::new().text("Then not."));
    let scene = Scene::new(&server);
    let folder = scene.project.to_str().unwrap();
    let mut seat = Seat::whole(&scene.home, &["ask", "--project", folder, "mend it"]);
    seat.wait_for(PLACE);
    seat.type_in("y\x04");
    seat.wait_for("Then not.");
    seat.end().ok();
    assert_eq!(scene.read("src/add.sh"), WRONG);
}

#[test]
fn what_is_denied_is_never_said_to_run() {
    for (script, running) in
        [(runs("c1", "touch ran.txt"), "Running touch"), (edits("c1"), "Editing src/add.sh")]
    {
        let server = Server::start();
        server.push(script.clone());
        server.push(script);
        server.push(Script::new().text("Done."));
        let scene = Scene::new(&server);
        let mut seat = Seat::new(&scene.home, &scene.args(&[]));
        let mut shown = seat.wait_for(PLACE);
        seat.type_in("n\r");
        shown += &seat.wait_for(PLACE);
        assert!(!shown.contains(running), "{shown:?}");
        // What is allowed is.
        seat.type_in("y\r");
        seat.wait_for(running);
        seat.end().ok();
    }
}

#[test]
fn a_running_command_shows_its_last_line() {
    let server = Server::start();
    server.push(runs("c1", "printf 'first\\n\\033[32msecond\\033[0m'; exec sleep 1000"));
    let scene = Scene::new(&server);
    let mut seat = Seat::new(&scene.home, &scene.args(&["--mode", "unattended"]));
    seat.wait_for("Running printf");
    seat.wait_for("  second\x1b[0m");
    kill(seat.child().id(), "INT");
    assert_eq!(seat.end().code, Some(130));
}

#[test]
fn what_a_project_brings_is_used_once_the_user_trusts_it() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let agents = scene.project.join(".natter/agents");
    std::fs::create_dir_all(&agents).expect("a folder");
    let agent = "---\nmode: plan\ntools: [read_*]\n---\nBuild.";
    std::fs::write(agents.join("builder.md"), agent).expect("a file");
    let run = scene.ask(&["--agent", "builder"]);
    assert_eq!(run.code, Some(2), "{run:#?}");
    assert!(run.stderr.contains("aren’t used until you trust them"), "{run:#?}");

    let project = scene.project.to_str().expect("a path");
    let mut seat = Seat::new(&scene.home, &["chat", "--project", project]);
    let asked = seat.wait_for("Trust and use them? [y/N, s shows them] ");
    assert!(
        asked.contains("  Agent builder – tools: read_*, at most “Plan”\r\n    New\r\n"),
        "{asked:?}"
    );
    seat.type_in("y\r");
    seat.wait_for("> ");
    seat.type_in("/agent builder\r");
    seat.wait_for("Now using the agent builder.");
    seat.wait_for("> ");
    seat.type_in("\x04");
    seat.end().ok();

    server.push(Script::new().text("Built."));
    let run = scene.ask(&["--agent", "builder"]).ok();
    assert_eq!((run.stdout.as_str(), run.stderr.as_str()), ("Built.\n", ""));
    let sent = server.chats().pop().expect("a request");
    assert!(sent.texts_of("system").concat().starts_with("Build."));

    // The trust can be taken back.
    let listed = scene.home.run(["trust"]).ok();
    assert_eq!(listed.stdout, format!("{project}\n"));
    let listed = scene.home.run(["trust", "list", "--json"]).ok().events();
    assert_eq!(listed, [json!({ "project": project })]);
    let elsewhere = scene.home.path("config");
    let elsewhere = elsewhere.to_str().expect("a path");
    let run = scene.home.run(["trust", "remove", elsewhere]);
    assert!(run.code == Some(1) && run.stderr.contains("You don’t trust “"), "{run:#?}");
    let run = scene.home.run(["trust", "remove", project]).ok();
    assert_eq!(run.stderr, format!("“{project}” is no longer trusted.\n"));
    assert_eq!(scene.home.run(["trust"]).ok().stdout, "");
    assert_eq!(scene.ask(&["--agent", "builder"]).code, Some(2));
}

#[test]
fn an_agent_in_the_users_files_is_found_and_a_broken_file_is_named() {
    let server = Server::start();
    let home = Home::new(&server);
    let agents = home.path("config/natter/agents");
    std::fs::create_dir_all(&agents).expect("a folder");
    std::fs::write(agents.join("pirate.md"), "Talk like a pirate.").expect("a file");
    std::fs::write(agents.join("other.md"), "---\nmode: maybe\n---\nHm.").expect("a file");
    server.push(Script::new().text("Aye."));
    let run = home.run(["ask", "--agent", "pirate", "Where to?"]).ok();
    assert_eq!(run.stdout, "Aye.\n");
    let file = agents.join("other.md");
    let line = format!("{}, line 2: “maybe” isn’t a valid value of “mode”.\n", file.display());
    assert_eq!(run.stderr, line);
    let sent = server.chats().pop().expect("a request");
    assert!(sent.texts_of("system").concat().starts_with("Talk like a pirate."));
}
