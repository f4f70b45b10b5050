//! Tests desktop notifications about chats that are not in view.

use anyhow::Result;
use chat_testkit::server::Script;
use chat_testkit::ui::{Notifications, Role, named};
use serde_json::json;

use crate::stage::{Stage, program};

#[tokio::test]
async fn a_reply_that_nobody_looks_at_is_told_and_leads_to_its_chat() -> Result<()> {
    let stage = Stage::new().await?;
    let notifications = Notifications::start(&stage.desktop).await?;
    let (window, gate) = stage.telling().await?;
    window.new_chat().await?;
    gate.open();
    let told = notifications.titled("a long story").await?;
    assert_eq!(told.body, "The reply is ready.\nOnce upon a time");
    assert_eq!(told.program, "Natter");
    notifications.press(&told, None).await?;
    window.find(named("a long story").role(Role::Frame)).await?;
    window.shows("Once upon a time").await?;
    notifications.none().await?;

    // What is looked at needs no word: of two replies only the other is told.
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    window.gone(named("Stop")).await?;
    let gate = chat_testkit::server::Gate::new();
    stage.server.when("pears", Script::new().text("Ripe").gate(&gate));
    window.new_chat().await?;
    window.say("pears").await?;
    window.shows("Ripe").await?;
    window.open("a long story").await?;
    gate.open();
    notifications.titled("pears").await?;
    assert_eq!(notifications.shown().len(), 1, "{:?}", notifications.shown());
    // Looked at, it is known.
    window.open("pears").await?;
    notifications.none().await?;
    window.close().await
}

#[tokio::test]
async fn what_was_told_ends_with_the_program() -> Result<()> {
    let stage = Stage::new().await?;
    let notifications = Notifications::start(&stage.desktop).await?;
    let (window, gate) = stage.telling().await?;
    window.new_chat().await?;
    gate.open();
    notifications.titled("a long story").await?;
    window.close().await?;
    notifications.none().await
}

#[tokio::test]
async fn a_reply_that_fails_while_nobody_looks_is_told() -> Result<()> {
    let stage = Stage::new().await?;
    let notifications = Notifications::start(&stage.desktop).await?;
    let gate = chat_testkit::server::Gate::new();
    let failing = Script::status(500, r#"{"error":{"message":"the GPU fell off the bus"}}"#);
    stage.server.when("pears", failing.gate_first(&gate));
    let window = stage.ready().await?;
    window.say("pears").await?;
    gate.reached().await;
    window.new_chat().await?;
    gate.open();
    let told = notifications.titled("pears").await?;
    let why = "had an internal error";
    assert!(told.body.contains(why), "{told:?}");
    notifications.press(&told, None).await?;
    window.find(named("pears").role(Role::Frame)).await?;
    window.shows(why).await?;
    window.close().await
}

#[tokio::test]
async fn what_a_tool_asks_is_answered_from_outside_the_window() -> Result<()> {
    let stage = Stage::new().await?;
    let notifications = Notifications::start(&stage.desktop).await?;
    let outside = stage.desktop.folder().join("notes.txt");
    std::fs::write(&outside, "milk and bread\n")?;
    let call = |id: &str| {
        Script::new().tool_call(id, "read_file", json!({ "path": outside.display().to_string() }))
    };
    let gate = chat_testkit::server::Gate::new();
    stage.server.push(call("c1").gate_first(&gate));
    stage.server.push(call("c2"));
    stage.server.push(Script::new().text("All is done"));
    let home = stage.desktop.folder().join("home");
    let window = stage.launch(program().arg("--project").arg(home)).await?;
    window.find(named("scripted")).await?;
    window.say("Read my notes").await?;
    gate.reached().await;
    window.new_chat().await?;
    gate.open();

    let asked = notifications.titled("Read my notes").await?;
    assert!(asked.body.contains("notes.txt"), "{asked:?}");
    notifications.press(&asked, Some("Deny")).await?;
    let again = notifications.titled("Read my notes").await?;
    assert_ne!(again.id, asked.id);
    notifications.press(&again, Some("Allow Once")).await?;
    stage.server.wait_for_chats(3).await;
    let results = stage.server.chats().pop().expect("a request").texts_of("tool");
    assert!(results[0].contains("denied"), "{results:?}");
    assert!(results[1].contains("milk and bread"), "{results:?}");
    let done = loop {
        let told = notifications.titled("Read my notes").await?;
        if told.actions.iter().all(|(_, words)| words != "Deny") {
            break told;
        }
    };
    assert!(done.body.contains("All is done"), "{done:?}");
    window.close().await
}

#[tokio::test]
async fn what_is_answered_in_the_window_is_asked_on_the_desktop_no_more() -> Result<()> {
    let stage = Stage::new().await?;
    let notifications = Notifications::start(&stage.desktop).await?;
    let gate = chat_testkit::server::Gate::new();
    let call = Script::new().tool_call("c1", "read_file", json!({ "path": "/etc/hostname" }));
    stage.server.push(call.gate_first(&gate));
    let home = stage.desktop.folder().join("home");
    let window = stage.launch(program().arg("--project").arg(home)).await?;
    window.find(named("scripted")).await?;
    window.say("Who am I?").await?;
    gate.reached().await;
    window.new_chat().await?;
    gate.open();
    let asked = notifications.titled("Who am I?").await?;
    assert!(asked.actions.iter().any(|(_, words)| words == "Allow Once"), "{asked:?}");
    // Looking at it is enough; the question stands in the chat.
    window.open("Who am I?").await?;
    notifications.none().await?;
    window.close().await
}
