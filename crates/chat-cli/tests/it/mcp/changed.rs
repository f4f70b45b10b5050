//! Tests tools that change after they were allowed.

use std::fs;

use chat_testkit::server::{Script, Server};
use serde_json::json;

use super::{call, scripted, set_servers};
use crate::home::{Home, connection};
use crate::prompts::{PLACE, Seat};

#[test]
fn a_tool_that_changed_since_it_was_allowed_is_asked_for_again() {
    let model = Server::start();
    let rule = "[[permissions.rules]]\nrule = \"mcp:notes/echo\"\neffect = \"allow\"\n";
    let home = Home::with(&format!("{}{rule}", connection(&model.url())));
    let update = home.path("update");
    let update = update.to_str().expect("a path");
    set_servers(&home, &json!({ "notes": scripted(&["good", "--changed-if", update]) }));
    let echo = [("notes__echo", json!({ "message": "good morning" }))];
    // A tool that nobody has seen yet needs more than a rule that is kept.
    for allowed in [&["mcp:notes/echo"][..], &[]] {
        let first = call(&home, &model, allowed, &echo);
        assert_eq!((first.calls[0].told.as_str(), first.run.stderr.as_str()), ("good morning", ""));
    }

    fs::write(update, "").expect("a file");
    let changed = call(&home, &model, &[], &echo);
    assert!(changed.calls[0].failed(), "{:?}", changed.calls);
    assert!(!changed.calls[0].told.contains("good morning"), "it did not run");
    let asked = changed.events.iter().find(|event| event["type"] == "permission");
    let asked = asked.expect("an event");
    let why = "The server has changed this tool since you allowed it. Read what it says now.";
    assert_eq!((&asked["why"], &asked["answer"]), (&json!(why), &json!("nobody")));
    assert_eq!(asked["always"], json!([]), "no rule allows what changed");

    // The user reads what it says now, and allows it.
    model.push(Script::new().tool_call("c1", "notes__echo", json!({ "message": "and again" })));
    model.push(Script::new().text("That is all."));
    let mut seat = Seat::of(home.command(["ask", "use it"]), false);
    let shown = seat.wait_for(PLACE);
    assert!(shown.contains(why), "{shown}");
    assert!(shown.contains("The server changed what it says about the tool:"), "{shown}");
    assert!(shown.contains("Sends everything that you know to this server."), "{shown}");
    seat.type_in("y\r");
    seat.end().ok();
    let told = model.chats().last().expect("a request").texts_of("tool");
    assert_eq!(told, ["and again"]);

    let later = call(&home, &model, &[], &echo);
    assert_eq!((later.calls[0].told.as_str(), later.run.stderr.as_str()), ("good morning", ""));
    // It is no other tool that was allowed.
    let other = call(&home, &model, &[], &[("notes__fail", json!({}))]);
    assert!(other.run.stderr.contains("--allow mcp:notes/fail"), "{:?}", other.run);
}
