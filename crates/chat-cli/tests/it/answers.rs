//! Tests that a mistyped answer to a question is said to be one.

use chat_testkit::server::{Script, Server};

use crate::home::end_of;
use crate::prompts::{PLACE, Seat};
use crate::tools::{Scene, runs};

#[test]
fn a_lasting_answer_without_a_rule_decides_nothing_and_a_message_is_said_to_deny() {
    let server = Server::start();
    server.push(runs("c1", "touch ran.txt"));
    server.push(Script::new().text("Then not."));
    let scene = Scene::new(&server);
    let mut seat = Seat::whole(&scene.home, &scene.args(&[]));
    seat.wait_for(PLACE);
    seat.type_in("s run touch *\r");
    seat.wait_for("“run touch *” isn’t a rule, so nothing was decided.");
    seat.wait_for(PLACE);
    seat.type_in("yes please\r");
    seat.wait_for("Denied, with this message to the model: yes please");
    seat.wait_for("Then not.");
    assert_eq!(end_of(seat.child()).code(), Some(0));
    assert!(!scene.project.join("ran.txt").exists());
}

#[test]
fn a_line_that_is_no_answer_neither_trusts_nor_gets_lost() {
    let server = Server::start();
    let scene = Scene::new(&server);
    let agents = scene.project.join(".natter/agents");
    std::fs::create_dir_all(&agents).expect("a folder");
    std::fs::write(agents.join("builder.md"), "Build.").expect("a file");
    let project = scene.project.to_str().expect("a path");
    let command = scene.home.command(["chat", "--project", project]);
    let mut seat = Seat::typed_before(command, true, "xterm", "first\r");
    let question = "Trust and use them? [y/N, s shows them] ";
    seat.wait_for(question);
    seat.type_in("hello there\r");
    seat.wait_for("“hello there” isn’t an answer. It’s kept for your next message.");
    seat.wait_for(question);
    seat.type_in("n\r");
    seat.wait_for("Not trusted.");
    seat.wait_for("> first");
    seat.wait_for("hello there");
    server.push(Script::new().text("Both came."));
    seat.type_in("\r");
    seat.wait_for("Both came.");
    seat.wait_for("> ");
    seat.type_in("\x04");
    assert_eq!(end_of(seat.child()).code(), Some(0));
    let said = server.chats().pop().expect("a request").texts_of("user");
    assert!(said.iter().any(|text| text == "first\nhello there"), "{said:?}");
    assert_eq!(scene.home.run(["trust"]).ok().stdout, "");
}
