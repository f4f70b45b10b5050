//! Tests `chat` without a terminal: one message per line.

use chat_testkit::server::{Model, Script, Server};

use crate::home::{Home, chunks};

#[test]
fn each_line_is_a_message_of_one_chat() {
    let server = Server::start();
    let home = Home::new(&server);
    let run = home.run_with(["chat"], "one\n\ntwo").ok();
    assert_eq!(run.stdout, "You said: one\nYou said: two\n");
    let chats = server.chats();
    assert_eq!(chats[1].texts_of("assistant"), ["You said: one"]);
    assert_eq!(home.transcript().len(), 4);
}

#[test]
fn a_backslash_goes_on_with_the_next_line() {
    let server = Server::start();
    let home = Home::new(&server);
    home.run_with(["chat"], "one\\\ntwo\\\nthree\n").ok();
    assert_eq!(home.transcript()[0].1, "one\ntwo\nthree");
}

#[test]
fn commands_are_obeyed_and_not_sent() {
    let server = Server::start().with_models([Model::new("scripted"), Model::new("other")]);
    let home = Home::new(&server);
    let input =
        "one\n/new\n/model other\n/models\n//etc\n/nonsense\n/help\n/sessions\n/quit\nlate\n";
    let run = home.run_with(["chat"], input).ok();
    let chats = server.chats();
    let said: Vec<_> = chats.iter().map(|chat| chat.texts_of("user").concat()).collect();
    assert_eq!(said, ["one", "/etc"]);
    assert_eq!((chats[0].model(), chats[1].model()), ("scripted", "other"));
    assert!(run.stdout.contains("Test/other"), "{}", run.stdout);
    assert!(run.stderr.contains("There is no command /nonsense."), "{}", run.stderr);
    assert!(run.stderr.contains("/model [NAME]"), "{}", run.stderr);
    assert_eq!(home.sessions().len(), 2);
}

#[test]
fn the_window_is_told_and_earlier_messages_summed_up_and_that_taken_back() {
    let server = Server::start();
    let home = Home::new(&server);
    server.when("Summarize the conversation above", Script::new().text("- they counted"));
    let input = "/context\none\ntwo\n/context\n/prompt\n/compact\nthree\n/compact undo\nfour\n";
    let run = home.run_with(["chat"], input).ok();
    assert!(run.stderr.contains("This chat hasn’t started yet."), "{}", run.stderr);
    assert!(run.stdout.contains(" tokens (0%)"), "{}", run.stdout);
    assert!(run.stdout.contains("  Your messages\n"), "{}", run.stdout);
    assert!(run.stdout.contains("4 earlier messages are also sent"), "{}", run.stdout);
    let last = |at: usize| server.chats()[at].body["messages"].to_string();
    assert!(last(3).contains("they counted") && !last(3).contains("You said: one"), "{}", last(3));
    assert!(last(4).contains("You said: one") && !last(4).contains("they counted"), "{}", last(4));
}

#[test]
fn a_further_chat_begins_with_what_was_asked_for() {
    let server = Server::start();
    let home = Home::new(&server);
    home.run_with(["chat", "--temperature", "0.25"], "one\n/new\ntwo\n").ok();
    let chats = server.chats();
    assert_eq!(chats.len(), 2);
    for chat in chats {
        assert_eq!(chat.body["options"]["temperature"], 0.25);
    }
}

#[test]
fn a_chat_can_be_opened_again() {
    let server = Server::start();
    let home = Home::new(&server);
    home.run(["ask", "one"]).ok();
    let fid = home.fid();
    home.run_with(["chat"], &format!("/open {fid}\ntwo\n")).ok();
    home.run_with(["chat", "--session", &fid], "three\n").ok();
    assert_eq!(home.transcript().len(), 6);
    let run = home.run_with(["chat"], "/open 2020-01-01-00-00-00\n");
    assert!(run.stderr.contains("Couldn’t find the chat “2020-01-01-00-00-00”."), "{}", run.stderr);
}

#[test]
fn a_failed_message_does_not_end_the_conversation() {
    let server = Server::start();
    server.push(Script::status(500, "{\"error\":\"out of memory\"}"));
    let home = Home::new(&server);
    let run = home.run_with(["chat"], "one\ntwo\n").ok();
    assert_eq!(run.stdout, "You said: one\n\ntwo\n");
    assert!(run.stderr.contains("“Test” had an internal error."), "{}", run.stderr);
    server.push(Script::status(500, "{\"error\":\"out of memory\"}"));
    assert_eq!(home.run_with(["chat"], "one\n").code, Some(1));
}

#[test]
fn events_of_a_conversation_end_each_turn_with_done() {
    let server = Server::start();
    let home = Home::new(&server);
    let events = home.run_with(["chat", "--json"], "one\ntwo\n").ok().events();
    let ends = events.iter().filter(|event| event["type"] == "done").count();
    assert_eq!(ends, 2);
    assert_eq!(chunks(&events, false), "You said: oneYou said: two");
    assert_eq!(events.last().expect("an event")["type"], "done");
}

#[test]
fn a_message_that_cannot_be_sent_is_an_event_and_the_conversation_goes_on() {
    let server = Server::start();
    let home = Home::new(&server);
    let args = ["chat", "--json", "--agent", "nobody"];
    let run = home.run_with(args, "one\n/new\ntwo\n").ok();
    let events = run.events();
    assert_eq!(
        (&events[0]["type"], &events[0]["kind"]),
        (&"error".into(), &"agent_missing".into())
    );
    assert_eq!((&events[1]["type"], &events[1]["reason"]), (&"done".into(), &"error".into()));
    assert_eq!(chunks(&events, false), "You said: two");
    assert!(run.stderr.contains("There is no agent “nobody”."), "{}", run.stderr);
}

#[test]
fn files_go_with_the_first_message_of_a_chat_that_goes_on() {
    let server = Server::start();
    let home = Home::new(&server);
    home.run(["ask", "one"]).ok();
    let file = home.path("notes.txt");
    std::fs::write(&file, "remember the milk").expect("written");
    let file = file.to_str().expect("a path");
    home.run_with(["chat", "--session", &home.fid(), "--file", file], "two\n").ok();
    assert!(server.chats()[1].texts_of("user").concat().contains("remember the milk"));
    // Nor are they lost on the way to another chat.
    home.run_with(["chat", "--file", file], "/new\nthree\nfour\n").ok();
    let chats = server.chats();
    assert!(chats[2].texts_of("user").concat().contains("remember the milk"));
    assert_eq!(chats[3].texts_of("user").last().map(String::as_str), Some("four"));
}
