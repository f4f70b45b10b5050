//! Tests `kill -9`: of servers, which come back, and of Natter, which leaves no server behind.

use std::fs;

use chat_testkit::processes::{Process, below};
use chat_testkit::server::{Gate, Script, Server};
use serde_json::{Value, json};

use super::{home_with, program, scripted, set_servers};
use crate::home::{Home, end_of, kill, wait_until};
use crate::prompts::Seat;

/// The word by which a server is told from others.
const MARK: &str = "to-be-killed";

fn slow(id: &str) -> Script {
    Script::new().tool_call(id, "notes__slow", json!({ "seconds": 600 }))
}

/// Waits for the scripted server with that word, as it is by now.
fn running(seat: &mut Seat, is_it: impl Fn(&Process) -> bool) -> Process {
    let natter = seat.child().id();
    let mut found = None;
    wait_until("a server to run", || {
        let mut all = below(natter).into_iter();
        found = all.find(|it| it.runs("scripted-mcp") && it.has_word(MARK) && is_it(it));
        found.is_some()
    });
    found.expect("it runs")
}

#[test]
fn a_killed_server_fails_its_calls_alone_and_is_there_again_for_the_next() {
    let model = Server::start();
    let gate = Gate::new();
    let echo = |message: &str| json!({ "message": message });
    model.push(slow("c1").tool_call("c2", "other__echo", echo("not touched")));
    model.push(Script::new().text("Hm. ").gate(&gate).tool_call("c3", "notes__echo", echo("back")));
    model.push(Script::new().text("That is all."));
    let notes = scripted(&["good", "--log", MARK]);
    let home = home_with(&model, &json!({ "notes": notes, "other": scripted(&["good"]) }));
    let args = ["ask", "--allow", "mcp:notes/*", "--allow", "mcp:other/*", "use them"];
    let mut seat = Seat::of(home.command(args), false);
    seat.wait_for("step ");
    let first = running(&mut seat, |_| true);
    first.kill();
    wait_until("what came of the calls", || model.chats().len() == 2);
    let told = model.chats()[1].texts_of("tool");
    let broke = "tool_call_fail: The server notes did not do it: the connection broke. It may be back in a moment.";
    assert_eq!(told, [broke, "not touched"]);

    // It comes back by itself.
    running(&mut seat, |it| it.id != first.id);
    gate.open();
    let run = seat.end().ok();
    assert_eq!(run.stdout, "Hm. \nThat is all.\n");
    let told = model.chats().last().expect("a request").texts_of("tool");
    assert_eq!(told[2..], ["back"]);
}

/// The entry of the scripted server in the sandbox, which sees no more than a copy of it.
fn confined(home: &Home, arguments: &[&str]) -> Value {
    let mut command = chat_testkit::mcp::scripted(arguments);
    let folder = home.path("programs");
    fs::create_dir_all(&folder).expect("a folder");
    let copy = folder.join("scripted-mcp");
    fs::copy(&command[0], &copy).expect("a copy");
    copy.to_str().expect("a path").clone_into(&mut command[0]);
    program(&command, &json!({ "readFolders": ["~/programs"] }))
}

/// Kills Natter in the middle of a call, and waits until no process of the server is left.
fn nothing_is_left(mode: &str, is_confined: bool, started: &[&str]) {
    let model = Server::start();
    model.push(slow("c1"));
    let home = Home::new(&model);
    let arguments = [mode, "--log", MARK];
    let notes = if is_confined { confined(&home, &arguments) } else { scripted(&arguments) };
    set_servers(&home, &json!({ "notes": notes }));
    let args = ["ask", "--allow", "mcp:notes/*", "use it"];
    let mut seat = Seat::of(home.command(args), false);
    seat.wait_for("step ");
    let all = below(seat.child().id());
    for program in started {
        assert!(all.iter().any(|it| it.runs(program)), "{program}: {all:#?}");
    }
    assert_eq!(all.iter().any(|it| it.runs("bwrap")), is_confined, "{all:#?}");
    kill(seat.child().id(), "KILL");
    end_of(seat.child());
    all.iter().for_each(Process::wait);
}

#[test]
fn a_killed_natter_leaves_no_server_that_ignores_its_end() {
    nothing_is_left("ignores-end", false, &["scripted-mcp"]);
}

#[test]
fn a_killed_natter_leaves_no_server_in_the_sandbox_that_ignores_its_end() {
    nothing_is_left("ignores-end", true, &["scripted-mcp"]);
}

#[test]
fn a_killed_natter_leaves_nothing_that_a_server_started() {
    nothing_is_left("child", false, &["scripted-mcp", "sleep"]);
}

#[test]
fn a_killed_natter_leaves_nothing_that_a_server_in_the_sandbox_started() {
    nothing_is_left("child", true, &["scripted-mcp", "sleep"]);
}
