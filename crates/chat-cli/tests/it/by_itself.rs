//! Tests what a conversation at a terminal does by itself: questions of agents and replies to their
//! reports at its prompt, and what Ctrl+C stops. What was being typed stays.

use chat_testkit::server::{Answer, Gate, Model, Script, Server};
use serde_json::json;

use crate::agents::spawn;
use crate::home::{connection, end_of, kill, wait_until};
use crate::prompts::{PLACE, Seat};
use crate::tools::Scene;

fn seat(scene: &Scene) -> Seat {
    let project = scene.project.to_str().expect("a path");
    let mut seat = Seat::whole(&scene.home, &["chat", "--project", project]);
    seat.wait_for("> ");
    seat
}

/// A conversation at a terminal whose lines cannot be edited.
fn plain_seat(scene: &Scene) -> Seat {
    let project = scene.project.to_str().expect("a path");
    let mut command = scene.home.command(["chat", "--project", project]);
    command.env("NO_COLOR", "1");
    let mut seat = Seat::on(command, true, "dumb");
    seat.wait_for("> ");
    seat
}

/// Begins a message, and waits until it is on the screen.
fn begin_to_type(seat: &mut Seat, text: &str) {
    seat.type_in(text);
    seat.wait_for(text);
}

fn leave(mut seat: Seat) {
    seat.wait_for("> ");
    seat.type_in("\x04");
    assert_eq!(end_of(seat.child()).code(), Some(0));
}

/// A conversation at whose prompt the agent “second” works in the background with this script, from the
/// opening of the gate on.
fn with_agent(server: &Server, scene: &Scene, works: Script) -> Seat {
    with_agent_at(seat, server, scene, works)
}

/// The same at a terminal of this kind.
fn with_agent_at(seat: fn(&Scene) -> Seat, server: &Server, scene: &Scene, works: Script) -> Seat {
    server.when("Look", works);
    let task = json!({ "name": "second", "task": "Look", "background": true });
    server.push(spawn("c1", task));
    server.push(Script::new().text("It is being looked for."));
    let mut seat = seat(scene);
    seat.type_in("mend it\r");
    seat.wait_for("It is being looked for.");
    seat.wait_for("> ");
    seat
}

#[test]
fn a_question_of_an_agent_comes_to_the_prompt_and_what_is_being_typed_stays() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let gate = Gate::new();
    let call = json!({ "command": "touch ran.txt" });
    let asks = Script::new().gate_first(&gate).tool_call("c2", "run_command", call);
    let mut seat = with_agent(&server, &scene, asks);
    gate.wait_reached();
    server.when("Look", Script::new().text("It is there."));
    server.push(Script::new().text("It was found."));
    begin_to_type(&mut seat, "half a mess");
    gate.open();
    let asked = seat.wait_for(PLACE);
    assert!(asked.contains("second") && asked.contains("touch ran.txt"), "{asked:?}");
    seat.type_in("y\r");
    // The chat goes on by itself after the report.
    seat.wait_for("It was found.");
    seat.wait_for("> half a mess");
    seat.type_in("age\r");
    seat.wait_for("You said: half a message");
    leave(seat);
    assert!(scene.project.join("ran.txt").exists());
    let chats = server.chats();
    let said = chats.iter().flat_map(|chat| chat.texts_of("user"));
    assert!(said.clone().all(|text| text.trim() != "y"), "{:?}", said.collect::<Vec<_>>());
}

#[test]
fn an_answer_that_is_cut_off_by_the_end_of_the_reply_is_no_message() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let (works, replies) = (Gate::new(), Gate::new());
    let call = json!({ "command": "touch ran.txt" });
    let asks = Script::new().gate_first(&works).tool_call("c2", "run_command", call);
    server.when("Look", asks);
    let task = json!({ "name": "second", "task": "Look", "background": true });
    server.push(spawn("c1", task));
    server.push(Script::new().text("Wait.").gate(&replies).text(" Done."));
    server.push(Script::new().text("It was not found."));
    let mut seat = seat(&scene);
    seat.type_in("fix it\r");
    works.wait_reached();
    server.when("Look", Script::new().text("It is not there."));
    seat.wait_for("Wait.");
    works.open();
    seat.wait_for(PLACE);
    begin_to_type(&mut seat, "ye");
    replies.open();
    // It is asked once more.
    seat.wait_for(PLACE);
    seat.type_in("n\r");
    seat.wait_for("It was not found.");
    seat.wait_for("> ");
    seat.type_in("hello\r");
    seat.wait_for("You said: hello");
    leave(seat);
    assert!(!scene.project.join("ran.txt").exists());
}

#[test]
fn a_reply_to_a_report_comes_to_the_prompt_and_what_is_being_typed_stays() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let gate = Gate::new();
    let works = Script::new().gate_first(&gate).text("It is there.");
    let mut seat = with_agent(&server, &scene, works);
    server.push(Script::new().text("It was found."));
    begin_to_type(&mut seat, "half a mess");
    gate.open();
    seat.wait_for("It was found.");
    seat.wait_for("> half a mess");
    seat.type_in("age\r");
    seat.wait_for("You said: half a message");
    leave(seat);
}

#[test]
fn without_editing_what_was_being_typed_is_shown_and_not_part_of_the_next_message() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let gate = Gate::new();
    let works = Script::new().gate_first(&gate).text("It is there.");
    let mut seat = with_agent_at(plain_seat, &server, &scene, works);
    server.push(Script::new().text("It was found."));
    begin_to_type(&mut seat, "half a mess");
    gate.open();
    seat.wait_for("It was found.");
    seat.wait_for("Not sent: half a mess\r\n> ");
    seat.type_in("another\r");
    seat.wait_for("You said: another");
    leave(seat);
}

#[test]
fn what_happens_while_a_message_is_made_ready_is_shown_before_its_reply() {
    let server = Server::start();
    let slow = Server::start().with_models([Model::new("late")]);
    let asked = Gate::new();
    let models = r#"{"models":[{"name":"late","model":"late"}]}"#;
    slow.answer("/api/tags", Answer::new(200, models).gate(&asked));
    let scene = Scene::new(&server);
    let other = connection(&slow.url()).replace("\"Test\"", "\"Slow\"");
    scene.home.settings(&(connection(&server.url()) + &other));
    let commands = scene.home.path("config/natter/commands");
    std::fs::create_dir_all(&commands).expect("a folder");
    let command = "---\ndescription: Ask another model\nmodel: late\n---\nSay it: $ARGUMENTS\n";
    std::fs::write(commands.join("late.md"), command).expect("a file");
    let works = Gate::new();
    let mut seat =
        with_agent(&server, &scene, Script::new().gate_first(&works).text("It is there."));
    server.push(Script::new().text("It was").error("out of memory"));
    seat.type_in("/late @nowhere\r");
    // The message is being made ready from here on.
    seat.wait_for("@nowhere isn’t in the project");
    asked.wait_reached();
    let sessions = scene.home.sessions();
    let chat = sessions.iter().find(|it| it["parent"].is_null()).expect("the chat");
    let fid = chat["fid"].as_str().expect("a fid");
    works.open();
    wait_until("the end of the reply to the report", || {
        let chat = scene.home.show(fid);
        let last = chat["messages"].as_array().and_then(|all| all.last()).expect("a message");
        last["ended"] == "failed" && chat["in_use"] == false
    });
    asked.open();
    let shown = seat.wait_for("You said: ");
    assert!(shown.contains("“Test” had an internal error."), "{shown:?}");
    leave(seat);
}

#[test]
fn ctrl_c_can_stop_one_agent_and_what_was_typed_ahead_stays() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let gate = Gate::new();
    server.when("Look", Script::new().gate_first(&gate).text("It is there."));
    server.push(spawn("c1", json!({ "name": "second", "task": "Look" })));
    server.push(Script::new().text("So without it."));
    let mut seat = seat(&scene);
    seat.type_in("mend it\r");
    gate.wait_reached();
    begin_to_type(&mut seat, "next one");
    kill(seat.child().id(), "INT");
    seat.wait_for("Stop the reply or an agent? Working: second");
    seat.wait_for("or Enter to continue: ");
    seat.type_in("second\r");
    seat.wait_for("Stopped agent “second”.");
    seat.wait_for("So without it.");
    seat.wait_for("> next one");
    seat.type_in("\r");
    seat.wait_for("You said: next one");
    leave(seat);
}

#[test]
fn pressed_twice_ctrl_c_stops_the_reply_with_its_agents() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let gate = Gate::new();
    server.when("Look", Script::new().gate_first(&gate).text("It is there."));
    server.push(spawn("c1", json!({ "name": "second", "task": "Look" })));
    let mut seat = seat(&scene);
    seat.type_in("mend it\r");
    gate.wait_reached();
    kill(seat.child().id(), "INT");
    seat.wait_for("or Enter to continue: ");
    kill(seat.child().id(), "INT");
    seat.wait_for("> ");
    seat.type_in("hello\r");
    seat.wait_for("You said: hello");
    leave(seat);
}

#[test]
fn what_was_typed_ahead_stays_when_a_reply_is_stopped() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let gate = Gate::new();
    server.push(Script::new().text("Wait.").gate(&gate).text(" Done."));
    let mut seat = seat(&scene);
    seat.type_in("mend it\r");
    seat.wait_for("Wait.");
    begin_to_type(&mut seat, "half");
    seat.type_in("\x03");
    seat.wait_for("^C");
    kill(seat.child().id(), "INT");
    seat.wait_for("half");
    seat.type_in("\r");
    seat.wait_for("You said: half");
    leave(seat);
}

#[test]
fn what_was_typed_ahead_of_a_question_is_no_answer_but_the_next_message() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let gate = Gate::new();
    let call = json!({ "command": "touch ran.txt" });
    server.push(Script::new().text("Wait.").gate(&gate).tool_call("c1", "run_command", call));
    server.push(Script::new().text("Then not."));
    let mut seat = seat(&scene);
    seat.type_in("mend it\r");
    seat.wait_for("Wait.");
    begin_to_type(&mut seat, "yes, an");
    gate.open();
    seat.wait_for(PLACE);
    seat.type_in("n\r");
    seat.wait_for("Then not.");
    seat.wait_for("> yes, an");
    seat.type_in("d more\r");
    seat.wait_for("You said: yes, and more");
    leave(seat);
    assert!(!scene.project.join("ran.txt").exists());
}

#[test]
fn a_question_is_asked_again_after_a_reply_that_came_behind_it() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let (looks, waits) = (Gate::new(), Gate::new());
    let call = json!({ "command": "touch ran.txt" });
    let asks = Script::new().gate_first(&looks).tool_call("c2", "run_command", call);
    server.when("Look", asks);
    server.when("Wait", Script::new().gate_first(&waits).text("It is over."));
    let task = |name: &str, task: &str| json!({ "name": name, "task": task, "background": true });
    let both = spawn("c1", task("second", "Look"));
    server.push(both.tool_call("c2", "spawn_agent", task("third", "Wait")));
    server.push(Script::new().text("Both are at it."));
    server.push(Script::new().text("So it is over."));
    server.push(Script::new().text("It was not found."));
    let mut seat = seat(&scene);
    seat.type_in("fix it\r");
    seat.wait_for("Both are at it.");
    seat.wait_for("> ");
    looks.wait_reached();
    server.when("Look", Script::new().text("It is not there."));
    looks.open();
    seat.wait_for(PLACE);
    waits.open();
    seat.wait_for("So it is over.");
    let asked = seat.wait_for(PLACE);
    assert!(asked.contains("touch ran.txt"), "{asked:?}");
    seat.type_in("n\r");
    seat.wait_for("It was not found.");
    leave(seat);
    assert!(!scene.project.join("ran.txt").exists());
}

#[test]
fn ctrl_d_quits_at_once_only_while_no_agent_works() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let gate = Gate::new();
    let works = Script::new().gate_first(&gate).text("It is there.");
    let mut seat = with_agent(&server, &scene, works);
    gate.wait_reached();
    seat.type_in("\x04");
    seat.wait_for("Still working: second. To stop them and quit, press Ctrl+D again.");
    leave(seat);
}

#[test]
fn agents_that_a_crash_interrupted_are_named_when_their_chat_is_opened() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let gate = Gate::new();
    let works = Script::new().gate_first(&gate).text("It is there.");
    let mut seat = with_agent(&server, &scene, works);
    gate.wait_reached();
    kill(seat.child().id(), "KILL");
    end_of(seat.child());
    let sessions = scene.home.sessions();
    let chat = sessions.iter().find(|it| it["parent"].is_null()).expect("the chat");
    let fid = chat["fid"].as_str().expect("a fid");
    let mut seat = Seat::whole(&scene.home, &["chat", "--session", fid]);
    seat.wait_for("These agents were interrupted: second.");
    leave(seat);
}
