//! Tests two programs at once: one writes, others read, none loses anything.

use std::thread;

use chat_testkit::server::{Gate, Script, Server};

use crate::home::{Home, Run, wait_until};

#[test]
fn a_chat_that_is_being_written_can_be_read_and_not_written() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("first half, ").gate(&gate).text("second half"));
    let home = Home::new(&server);
    let child = home.command(["ask", "hello"]).spawn().expect("started");
    gate.wait_reached();
    let fid = home.fid();
    wait_until("the first half on disk", || {
        home.show(&fid)["messages"][1]["text"] == "first half, "
    });
    let chat = home.show(&fid);
    assert_eq!(chat["in_use"], true);
    assert!(chat["messages"][1]["ended"].is_null(), "{chat:#}");
    let other = home.run(["ask", "--session", &fid, "me too"]);
    assert_eq!(other.code, Some(1), "{other:?}");
    assert!(
        other.stderr.contains("Another Natter window or terminal is writing in this chat."),
        "{other:?}"
    );
    assert!(home.run(["show", &fid]).ok().stdout.contains("[This reply is still being written.]"));
    gate.open();
    assert_eq!(Run::of(child).ok().stdout, "first half, second half\n");
    assert_eq!(home.transcript()[1].1, "first half, second half");
    home.run(["ask", "--session", &fid, "me too"]).ok();
    assert_eq!(home.transcript().len(), 4);
}

#[test]
fn many_begin_at_once_and_each_gets_a_chat_of_its_own() {
    let server = Server::start();
    let home = Home::new(&server);
    thread::scope(|scope| {
        for number in 0..8 {
            let home = &home;
            scope.spawn(move || {
                let run = home.run(["ask", &format!("number {number}")]).ok();
                assert_eq!(run.stdout, format!("You said: number {number}\n"));
            });
        }
    });
    let sessions = home.sessions();
    assert_eq!(sessions.len(), 8);
    for session in &sessions {
        let chat = home.show(session["fid"].as_str().expect("a fid"));
        let title = session["title"].as_str().expect("a title");
        assert_eq!(chat["messages"][1]["text"], format!("You said: {title}"));
    }
}

#[test]
fn a_chat_is_not_deleted_while_another_program_writes_in_it() {
    let server = Server::start();
    let gate = Gate::new();
    server.push(Script::new().text("half, ").gate(&gate).text("whole"));
    let home = Home::new(&server);
    let child = home.command(["ask", "hello"]).spawn().expect("started");
    gate.wait_reached();
    let fid = home.fid();
    let refused = home.run(["delete", "--yes", &fid]);
    assert_eq!(refused.code, Some(1), "{refused:#?}");
    let words = "Another Natter window or terminal is writing in this chat.";
    assert!(refused.stderr.contains(words), "{refused:#?}");
    gate.open();
    assert_eq!(Run::of(child).ok().stdout, "half, whole\n");
    home.run(["delete", "--yes", &fid]).ok();
    assert!(home.sessions().is_empty());
}
