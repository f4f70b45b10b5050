//! Tests what becomes of keys that were pressed before the program asked for them.

use chat_testkit::server::{Gate, Script, Server};
use serde_json::json;

use crate::agents::spawn;
use crate::home::{Home, end_of};
use crate::prompts::{PLACE, Seat};
use crate::tools::Scene;

/// Ends a conversation at its prompt.
fn leave(mut seat: Seat) {
    seat.wait_for("> ");
    seat.type_in("\x04");
    assert_eq!(end_of(seat.child()).code(), Some(0));
}

/// Whether the last request held this as a message.
fn was_sent(server: &Server, text: &str) -> bool {
    let chats = server.chats();
    chats.last().is_some_and(|chat| chat.texts_of("user").iter().any(|it| it == text))
}

#[test]
fn lines_typed_during_a_reply_come_back_as_one_draft() {
    let server = Server::start();
    let home = Home::new(&server);
    let gate = Gate::new();
    server.push(Script::new().text("Wait.").gate(&gate).text(" Done."));
    server.push(Script::new().text("All of it."));
    let mut seat = Seat::whole(&home, &["chat"]);
    seat.wait_for("> ");
    seat.type_in("hello\r");
    seat.wait_for("Wait.");
    seat.type_in("line A\rline B\rline C\rhalf");
    seat.wait_for("half");
    gate.open();
    seat.wait_for("Done.");
    seat.wait_for("> line A");
    seat.wait_for("half");
    assert_eq!(server.chats().len(), 1);
    seat.type_in("\r");
    seat.wait_for("All of it.");
    leave(seat);
    assert!(was_sent(&server, "line A\nline B\nline C\nhalf"));
}

#[test]
fn lines_typed_before_the_first_prompt_are_a_draft() {
    let server = Server::start();
    let home = Home::new(&server);
    server.push(Script::new().text("All of it."));
    let mut seat = Seat::typed_before(home.command(["chat"]), true, "xterm", "one\rtwo\rthree");
    seat.wait_for("> one");
    seat.wait_for("three");
    seat.type_in("\r");
    seat.wait_for("All of it.");
    leave(seat);
    assert_eq!(server.chats().len(), 1);
    assert!(was_sent(&server, "one\ntwo\nthree"));
}

#[test]
fn lines_typed_during_a_reply_to_a_report_come_back_as_one_draft() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let (works, replies) = (Gate::new(), Gate::new());
    server.when("Look", Script::new().gate_first(&works).text("It is there."));
    let task = json!({ "name": "second", "task": "Look", "background": true });
    server.push(spawn("c1", task));
    server.push(Script::new().text("It is being looked for."));
    server.push(Script::new().text("It was").gate(&replies).text(" found."));
    let project = scene.project.to_str().expect("a path");
    let mut seat = Seat::whole(&scene.home, &["chat", "--project", project]);
    seat.wait_for("> ");
    seat.type_in("fix it\r");
    seat.wait_for("It is being looked for.");
    seat.wait_for("> ");
    works.open();
    seat.wait_for("It was");
    seat.type_in("one\rtwo");
    seat.wait_for("two");
    replies.open();
    seat.wait_for("found.");
    seat.wait_for("> one");
    seat.wait_for("two");
    server.push(Script::new().text("All of it."));
    seat.type_in("\r");
    seat.wait_for("All of it.");
    leave(seat);
    assert!(was_sent(&server, "one\ntwo"));
}

#[test]
fn a_chat_is_not_deleted_by_what_was_typed_before_the_question() {
    let server = Server::start();
    let home = Home::new(&server);
    home.run(["ask", "hello"]).ok();
    let command = home.command(["delete", &home.fid()]);
    let mut seat = Seat::typed_before(command, false, "xterm", "y\r");
    seat.wait_for("Delete “hello”? [y/N] ");
    seat.type_in("n\r");
    seat.wait_for("Not deleted.");
    assert_eq!(seat.end().code, Some(1));
    assert_eq!(home.sessions().len(), 1);
}

#[test]
fn keys_that_were_under_way_when_a_question_appeared_do_not_answer_it() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let works = Gate::new();
    let call = json!({ "command": "touch ran.txt" });
    server.when("Look", Script::new().gate_first(&works).tool_call("c2", "run_command", call));
    let task = json!({ "name": "second", "task": "Look", "background": true });
    server.push(spawn("c1", task));
    server.push(Script::new().text("It is being looked for."));
    server.push(Script::new().text("It was not found."));
    let project = scene.project.to_str().expect("a path");
    let mut seat = Seat::whole(&scene.home, &["chat", "--project", project]);
    seat.wait_for("> ");
    seat.type_in("fix it\r");
    seat.wait_for("It is being looked for.");
    seat.wait_for("> ");
    works.wait_reached();
    server.when("Look", Script::new().text("It is not there."));
    seat.type_in("is it read");
    seat.wait_for("is it read");
    works.open();
    seat.wait_for("touch ran.txt");
    seat.type_in("y\r");
    seat.wait_for(PLACE);
    seat.type_in("n\r");
    seat.wait_for("It was not found.");
    seat.wait_for("> is it ready");
    server.push(Script::new().text("It is."));
    seat.type_in("\r");
    seat.wait_for("It is.");
    leave(seat);
    assert!(was_sent(&server, "is it ready"));
    assert!(!scene.project.join("ran.txt").exists());
}
