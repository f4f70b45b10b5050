//! What a person does at a tool's card: what they type is kept, and what they open stays where it is.

use std::sync::Arc;

use chat_core::event::{SessionEvent, Snapshot};
use chat_core::message::{
    ApprovalRequest, Ending, Message, ModelRef, Part, Role, ToolCall, ToolCallId, ToolResult,
    ToolView,
};
use chat_gtk::conversation::Output;
use gtk::prelude::*;
use serde_json::{Value, json};

use crate::scene::{Scene, fid, in_session, snapshot, until};
use crate::tools::{CALL, calling, command, run};

#[gtk::test]
fn what_was_typed_and_not_sent_goes_back_into_the_message() {
    let (scene, _) = calling("run_command", run("cargo test"), 0);
    let ask = scene.ask(command("cargo test"));
    scene.entry().set_text(" only this once ");
    scene.press("Allow Once");
    // That it came in time may be known before the question is gone.
    assert_eq!(scene.conversation.answered(ask, true), None);
    assert!(given_back(&scene).is_empty());
    scene.asks(Vec::new());
    assert_eq!(given_back(&scene), ["only this once"]);

    // What was said with a denial is sent.
    let ask = scene.ask(command("cargo test"));
    assert_eq!(scene.entry().text(), "");
    scene.entry().set_text("no");
    scene.press("Deny");
    scene.asks(Vec::new());
    assert_eq!(given_back(&scene).len(), 1);
    assert_eq!(scene.conversation.answered(ask, true), None);
    assert_eq!(scene.conversation.take_typed(), []);
}

fn given_back(scene: &Scene) -> Vec<String> {
    let words = |output: &Output| match output {
        Output::GiveBack(words) => Some(words.clone()),
        _ => None,
    };
    scene.told.borrow().iter().filter_map(words).collect()
}

#[gtk::test]
fn what_was_typed_for_an_answer_that_was_not_taken_is_kept() {
    let (scene, _) = calling("run_command", run("cargo test"), 0);
    let ask = scene.ask(command("cargo test"));
    scene.entry().set_text("use make");
    scene.press("Deny");
    // It could not be stored, and the question waits on.
    assert_eq!(scene.conversation.answered(ask, false), None);
    assert_eq!(scene.entry().text(), "use make");

    // Somebody else was faster, which is heard before it.
    scene.press("Deny");
    scene.asks(Vec::new());
    assert!(given_back(&scene).is_empty());
    let kept = (Some(fid()), "use make".to_owned());
    assert_eq!(scene.conversation.answered(ask, false), Some(kept.clone()));

    // The same, heard after it.
    let ask = scene.ask(command("cargo test"));
    scene.entry().set_text("use make");
    scene.press("Deny");
    assert_eq!(scene.conversation.answered(ask, false), None);
    scene.asks(Vec::new());
    assert_eq!(given_back(&scene), ["use make"]);

    // The program ends while a question waits.
    scene.ask(command("cargo test"));
    scene.entry().set_text("use make");
    assert_eq!(scene.conversation.take_typed(), [kept]);
}

#[gtk::test]
fn what_is_typed_below_a_question_stays_while_it_waits() {
    let (scene, message) = calling("run_command", run("cargo test"), 0);
    let ask = scene.ask(command("cargo test"));
    scene.entry().set_text("half a sent");
    let shown = |asks: Vec<Arc<ApprovalRequest>>| {
        let mut reply = Message::reply(None, ModelRef::new("test", "scripted"));
        let (id, name) = (ToolCallId::new(CALL), "run_command".to_owned());
        reply.parts.push(Part::ToolCall(ToolCall::new(id, name, run("cargo test"))));
        (reply.id, reply.ended) = (message, Some(Ending::Complete));
        Snapshot { asks, ..snapshot(vec![reply], false) }
    };
    scene.conversation.clear();
    scene.settle();
    let (call, tool) = (ToolCallId::new(CALL), "run_command".to_owned());
    let asks = vec![Arc::new(ApprovalRequest { id: ask, call, tool, kind: command("cargo test") })];
    scene.conversation.show(&shown(asks));
    scene.settle();
    assert_eq!(scene.entry().text(), "half a sent");

    // It is answered while another chat is shown.
    scene.conversation.clear();
    scene.settle();
    assert!(given_back(&scene).is_empty());
    scene.conversation.show(&shown(Vec::new()));
    assert_eq!(given_back(&scene), ["half a sent"]);
}

#[gtk::test]
fn what_a_person_opens_stays_under_the_pointer() {
    let (scene, _) = calling("edit_file", json!({ "path": "a.rs", "edits": [] }), 30);
    let call = ToolCall::new(ToolCallId::new(CALL), "edit_file", Value::Null);
    let view = ToolView::Edited {
        path: "a.rs".to_owned(),
        diff: format!("@@ -1 +1,200 @@\n-old\n{}", "+new\n".repeat(200)),
        added: 200,
        removed: 1,
        created: false,
    };
    let mut answer = Message::text(Role::Tool, None, "");
    let result = ToolResult { view: Some(view), ..ToolResult::to(&call, "Edited.", false) };
    answer.parts = vec![Part::ToolResult(result)];
    let message = Arc::new(answer);
    scene.conversation.apply(&[in_session(4, SessionEvent::MessageAdded { message })]);
    scene.settle();
    let adjustment = scene.adjustment();
    let before = adjustment.value();
    let grown = adjustment.upper();
    scene.press("Edited a.rs +200 −1");
    until("it is opened", || adjustment.upper() > grown);
    scene.settle();
    assert!((adjustment.value() - before).abs() < 1.0, "{} {before}", adjustment.value());
}

#[gtk::test]
fn a_command_that_runs_is_shown_without_a_library_for_drawings() {
    let (scene, _) = calling("run_command", run("cargo test"), 0);
    scene.settle();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    assert!(maps.contains("libgtk"), "what is mapped can be read");
    assert!(!maps.contains("librsvg"), "the spinner is a picture");
}
