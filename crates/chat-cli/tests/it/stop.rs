//! Tests Ctrl+C and similar signals: what has arrived is kept, and the exit code shows that the
//! reply was stopped.

use std::io::{BufRead as _, BufReader};
use std::process::Child;

use chat_testkit::server::{End, Gate, Script, Server, text};
use serde_json::Value;

use crate::home::{Home, Run, chunks, end_of, events, kill};

/// Reads events until there is one of this type.
fn until(child: &mut Child, wanted: &str) -> Vec<Value> {
    let stdout = child.stdout.as_mut().expect("its output");
    let mut seen = Vec::new();
    // One byte at a time would do too; the reader is kept small so that nothing is lost behind it.
    let mut reader = BufReader::with_capacity(1, stdout);
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).expect("a line") > 0, "no {wanted} in {seen:#?}");
        seen.extend(events(&line));
        if seen.last().is_some_and(|event| event["type"] == wanted) {
            return seen;
        }
    }
}

#[test]
fn an_interrupted_reply_keeps_what_arrived() {
    for signal in ["INT", "TERM"] {
        let server = Server::start();
        server.push(Script::new().text("As far ").text("as here").stall());
        let home = Home::new(&server);
        let mut child = home.command(["ask", "--json", "hello"]).spawn().expect("started");
        let mut seen = Vec::new();
        while chunks(&seen, false) != "As far as here" {
            seen.extend(until(&mut child, "chunk"));
        }
        kill(child.id(), signal);
        let run = Run::of(child);
        assert_eq!(run.code, Some(130), "{signal}: {run:#?}");
        let rest = run.events();
        let done = rest.last().expect("an end");
        assert_eq!((&done["type"], &done["reason"]), (&"done".into(), &"stopped".into()));
        let chat = home.show(&home.fid());
        assert_eq!(chat["messages"][1]["text"], "As far as here");
        assert_eq!(chat["messages"][1]["ended"], "stopped");

        home.run(["ask", "--session", &home.fid(), "go on"]).ok();
        let chats = server.chats();
        assert_eq!(chats[1].texts_of("assistant"), ["As far as here"], "{signal}");
        assert_eq!(chats[0].sent().end, End::ClientGone, "{signal}");
    }
}

#[test]
fn waiting_for_a_silent_server_can_be_stopped() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().gate_first(&gate));
    let home = Home::new(&server);
    let mut child = home.command(["ask", "hello"]).spawn().expect("started");
    gate.wait_reached();
    kill(child.id(), "INT");
    assert_eq!(end_of(&mut child).code(), Some(130));
    assert_eq!(home.transcript()[0].1, "hello");
    assert_eq!(
        home.run(["ask", "--session", &home.fid(), "again"]).ok().stdout,
        "You said: hello\n\nagain\n"
    );
}

#[test]
fn waiting_out_a_rate_limit_can_be_stopped() {
    let server = Server::start();
    server.push(Script::status(429, "{\"error\":\"slow down\"}").header("retry-after", "3600"));
    let home = Home::new(&server);
    let mut child = home.command(["ask", "--json", "hello"]).spawn().expect("started");
    while until(&mut child, "stage").last().is_some_and(|e| e["stage"] != "rate_limited") {}
    kill(child.id(), "INT");
    let run = Run::of(child);
    assert_eq!(run.code, Some(130), "{run:#?}");
    assert_eq!(run.events().last().expect("an end")["reason"], "stopped");
}

#[test]
fn a_second_interrupt_ends_at_once() {
    let server = Server::start();
    let pieces: Vec<String> = text::words(400_000).chunks(20).map(<[String]>::concat).collect();
    server.push(Script::new().flat_out(pieces).stall());
    let home = Home::new(&server);
    // Nobody reads its output: the pipe is full, and what was stopped cannot be said.
    let mut child = home.command(["ask", "--json", "hello"]).spawn().expect("started");
    until(&mut child, "chunk");
    kill(child.id(), "INT");
    kill(child.id(), "INT");
    assert_eq!(end_of(&mut child).code(), Some(130));
}
