//! Tests messages that are sent while the chat answers the report of an agent.

use std::io::Write as _;
use std::process::{Child, ChildStdin, Stdio};
use std::sync::mpsc::Receiver;

use chat_testkit::server::{Gate, PATIENCE, Script, Server};
use serde_json::{Value, json};

use crate::agents::{lines, spawn};
use crate::home::{Run, chunks};
use crate::tools::Scene;

/// A conversation without a terminal.
struct Pipe {
    child: Child,
    input: ChildStdin,
    events: Receiver<Value>,
}

impl Pipe {
    /// One whose chat answers the report of an agent with this script.
    fn while_it_answers(server: &Server, scene: &Scene, answer: Script) -> Self {
        let works = Gate::new();
        server.when("Look", Script::new().gate_first(&works).text("It is there."));
        let task = json!({ "name": "second", "task": "Look", "background": true });
        server.push(spawn("c1", task));
        server.push(Script::new().text("It is being looked for."));
        server.push(answer);
        let project = scene.project.to_str().expect("a path");
        let mut command = scene.home.command(["chat", "--json", "--project", project]);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("started");
        let events = lines(&mut child);
        let mut pipe = Self { input: child.stdin.take().expect("its input"), child, events };
        pipe.say("fix it");
        pipe.wait_for(|event| event["type"] == "done");
        works.open();
        pipe
    }

    fn say(&mut self, text: &str) {
        writeln!(self.input, "{text}").expect("it reads");
    }

    fn wait_for(&self, is_wanted: impl Fn(&Value) -> bool) {
        while !is_wanted(&self.events.recv_timeout(PATIENCE).expect("an event")) {}
    }

    /// The other events, and how it ended.
    fn end(self) -> (Vec<Value>, Run) {
        drop(self.input);
        let run = Run::of(self.child);
        (self.events.iter().collect(), run)
    }
}

fn is_begun(event: &Value) -> bool {
    event["type"] == "chunk" && event["text"].as_str().is_some_and(|it| it.starts_with("It was"))
}

#[test]
fn a_message_that_waits_for_another_reply_ends_with_its_own() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let gate = Gate::new();
    let answer = Script::new().text("It was ").gate(&gate).text("found.");
    let mut pipe = Pipe::while_it_answers(&server, &scene, answer);
    gate.wait_reached();
    pipe.say("and now");
    pipe.wait_for(is_begun);
    gate.open();
    let (events, run) = pipe.end();
    run.ok();
    assert_eq!(chunks(&events, false).trim_start(), "found.You said: and now");
    let ends = events.iter().filter(|event| event["type"] == "done").count();
    assert_eq!(ends, 1, "{events:#?}");
    assert_eq!(events.last().expect("an event")["type"], "done");
}

#[test]
fn a_message_is_not_kept_for_later_if_what_it_waits_for_fails() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let gate = Gate::new();
    let answer = Script::new().text("It was ").gate(&gate).error("out of memory");
    let mut pipe = Pipe::while_it_answers(&server, &scene, answer);
    gate.wait_reached();
    pipe.say("and now");
    pipe.wait_for(is_begun);
    gate.open();
    pipe.wait_for(|event| event["type"] == "done");
    pipe.say("again");
    let (events, run) = pipe.end();
    let run = run.ok();
    assert!(run.stderr.contains("Not sent: and now\n"), "{run:#?}");
    assert_eq!(chunks(&events, false), "You said: again");
    let sent = server.chats().iter().flat_map(|chat| chat.texts_of("user")).collect::<Vec<_>>();
    assert!(!sent.iter().any(|text| text.contains("and now")), "{sent:?}");
}
