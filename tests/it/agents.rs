//! Tests agents that work for a chat: in the list, in the card of their call, and what stops them.

use anyhow::Result;
use chat_core::message::SessionMeta;
use chat_core::store::{NewSession, Store};
use chat_testkit::server::{Gate, Script};
use chat_testkit::ui::{By, Notifications, Role, State, containing, named};
use serde_json::{Value, json};

use crate::stage::{Stage, Window, chat};

/// A call that starts an agent.
fn spawn(script: Script, id: &str, name: &str, task: &str) -> Script {
    let arguments: Value = json!({ "name": name, "task": task });
    script.tool_call(id, "spawn_agent", arguments)
}

/// A window with a chat, "Fruit", in a project.
async fn with_chat(stage: &Stage) -> Result<Window> {
    let project = stage.project(&[("notes.txt", "milk\n")])?;
    let store = Store::open(&stage.folders())?.store;
    let meta = SessionMeta { project: Some(project), ..chat("Fruit").meta };
    store.create(NewSession { meta, ..chat("Fruit") }, Vec::new()).await?;
    drop(store);
    let window = stage.ready().await?;
    window.open("Fruit").await?;
    Ok(window)
}

/// A label in the list of chats.
fn in_list(text: &str) -> By {
    named(text).role(Role::Label).under("Chats")
}

/// A window in which the agent "explorer" works for "Fruit" until the gate is opened.
async fn at_work(stage: &Stage) -> Result<(Window, Gate)> {
    let gate = Gate::new();
    stage.server.when("Look for", Script::new().text("I look ").gate(&gate).text("no more."));
    stage.server.push(spawn(Script::new(), "c1", "explorer", "Look for apples"));
    stage.server.push(Script::new().text("There are none."));
    let window = with_chat(stage).await?;
    window.say("Any apples?").await?;
    window.find(in_list("1 agent working")).await?;
    Ok((window, gate))
}

#[tokio::test]
async fn agents_are_folded_below_their_chat_and_opened_by_mouse_and_keyboard() -> Result<()> {
    let stage = Stage::new().await?;
    let (window, gate) = at_work(&stage).await?;
    assert!(!window.has(in_list("explorer")).await, "it is folded");
    window.find(named("Show agents of “Fruit”")).await?.click_with_mouse().await?;
    window.find(in_list("explorer")).await?;
    window.find(in_list("Working…")).await?;
    gate.open();
    window.find(in_list("Done")).await?;
    window.shows("There are none.").await?;
    window.find(named("Hide agents of “Fruit”")).await?.click_with_mouse().await?;
    window.gone(in_list("explorer")).await?;

    window.focus_list().await?;
    window.keys(&["Right"]).await?;
    window.find(in_list("explorer")).await?;
    window.keys(&["Right"]).await?;
    window.find(named("explorer").role(Role::Frame)).await?;
    window.shows("I look no more.").await?;
    window.find(containing("Agent explorer").state(State::Focused).under("Chats")).await?;
    window.keys(&["Left"]).await?;
    window.find(named("Fruit").role(Role::Frame)).await?;
    window.keys(&["Left"]).await?;
    window.gone(in_list("explorer")).await?;

    window.keys(&["ctrl+shift+f"]).await?;
    window.find(named("Search Chats")).await?;
    window.type_text("explor").await?;
    window.gone(in_list("Fruit")).await?;
    window.keys(&["Return"]).await?;
    window.find(named("explorer").role(Role::Frame)).await?;
    window.keys(&["ctrl+shift+f", "Escape"]).await?;
    // The chat that is shown is in sight, below its own.
    window.find(in_list("Fruit")).await?;
    window.find(in_list("explorer")).await?;
    window.close().await
}

#[tokio::test]
async fn an_agent_that_is_refused_is_said_not_to_have_started_and_why() -> Result<()> {
    let stage = Stage::new().await?;
    let of_no_kind = json!({ "name": "explorer", "task": "Look", "agent": "nobody" });
    stage.server.push(Script::new().tool_call("c1", "spawn_agent", of_no_kind));
    stage.server.push(Script::new().text("Nobody can."));
    let window = with_chat(&stage).await?;
    window.say("Any apples?").await?;
    window.find(containing("Agent explorer wasn’t started").under("Conversation")).await?;
    let why = "There is no kind of agent “nobody”";
    window.find(containing(why).role(Role::Label).under("Conversation")).await?;
    window.close().await
}

/// The line of the agent "explorer" in the card of its call.
fn in_card(status: &str) -> By {
    named(&format!("Agent explorer: {status}")).role(Role::Button).under("Conversation")
}

#[tokio::test]
async fn the_card_of_a_call_shows_its_agent_and_leads_there_and_back() -> Result<()> {
    let stage = Stage::new().await?;
    let (window, gate) = at_work(&stage).await?;
    window.find(in_card("Working…")).await?.click_with_mouse().await?;
    window.find(named("explorer").role(Role::Frame)).await?;
    window.shows("I look").await?;
    // Its row is in sight, below its chat.
    window.find(in_list("explorer")).await?;
    gate.open();
    window.shows("I look no more.").await?;
    window.find(named("Works for “Fruit”")).await?.click_with_mouse().await?;
    window.find(named("Fruit").role(Role::Frame)).await?;
    window.shows("There are none.").await?;
    window.find(in_card("Done")).await?;
    window.close().await
}

#[tokio::test]
async fn an_agent_that_asks_is_said_to_wait_in_list_and_card() -> Result<()> {
    let stage = Stage::new().await?;
    let command = json!({ "command": "touch apples" });
    let asks = Script::new().tool_call("c9", "run_command", command).usage(1200, 34);
    stage.server.when("Look for", asks);
    stage.server.push(spawn(Script::new(), "c1", "explorer", "Look for apples"));
    let notifications = Notifications::start(&stage.desktop).await?;
    let window = with_chat(&stage).await?;
    window.say("Any apples?").await?;
    window.find(in_list("1 agent needs you")).await?;
    window.find(in_card("Waiting for you")).await?;
    window.find(named("1,234 tokens").under("Conversation")).await?;
    // Elsewhere it is named with the chat that it works for.
    notifications.titled("explorer · Fruit").await?;
    window.find(named("1 waiting for you").role(Role::Button)).await?.click_with_mouse().await?;
    window.find(named("explorer · Fruit").role(Role::Label).under("Waiting for You")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Waiting for You")).await?;
    window.close().await
}

#[tokio::test]
async fn one_agent_is_stopped_in_the_card_and_all_in_the_list() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    for what in ["apples", "pears"] {
        stage.server.when(what, Script::new().text("I look ").gate(&gate).text("no more."));
    }
    let calls = spawn(Script::new(), "c1", "explorer", "Look for apples");
    stage.server.push(spawn(calls, "c2", "other", "Look for pears"));
    let window = with_chat(&stage).await?;
    window.say("Any fruit?").await?;
    window.find(in_list("2 agents working")).await?;
    window.find(named("Stop agent explorer")).await?.click_with_mouse().await?;
    window.find(in_card("Stopped")).await?;
    window.find(in_list("1 agent working")).await?;
    window.find(in_list("Fruit")).await?.right_click().await?;
    window.find(named("Stop with All Agents")).await?.click_with_mouse().await?;
    window.find(named("Agent other: Stopped").under("Conversation")).await?;
    window.gone(named("Stop").role(Role::Button)).await?;
    window.close().await
}

#[tokio::test]
async fn a_chat_is_deleted_and_restored_with_its_agents() -> Result<()> {
    let stage = Stage::new().await?;
    let (window, gate) = at_work(&stage).await?;
    gate.open();
    window.shows("There are none.").await?;
    window.focus_list().await?;
    window.keys(&["Right"]).await?;
    window.find(in_list("explorer")).await?;
    window.keys(&["Delete"]).await?;
    window.find(named("“Fruit” and 1 agent deleted")).await?;
    window.gone(in_list("explorer")).await?;
    window.keys(&["ctrl+z"]).await?;
    window.find(in_list("Fruit")).await?;
    window.find(named("Fruit").role(Role::Frame)).await?;
    window.find(named("Show agents of “Fruit”")).await?.click_with_mouse().await?;
    window.find(in_list("explorer")).await?;
    window.close().await
}

#[tokio::test]
async fn agents_that_were_interrupted_continue_by_one_click() -> Result<()> {
    let stage = Stage::new().await?;
    let (window, _gate) = at_work(&stage).await?;
    window.find(in_card("Working…")).await?;
    window.kill().await?;

    stage.server.when("Look for", Script::new().text("I see none."));
    stage.server.when("cut off", Script::new().text("I see none."));
    let window = stage.ready().await?;
    window.find(named("1 agent was interrupted")).await?;
    window.find(named("Show agents of “Fruit”")).await?.click_with_mouse().await?;
    window.find(in_list("Interrupted")).await?;
    window.find(in_card("Interrupted")).await?;
    window.find(named("Continue Agents")).await?.click_with_mouse().await?;
    window.find(in_list("Done")).await?;
    window.gone(named("1 agent was interrupted")).await?;
    window.shows("There are none.").await?;
    window.close().await
}

#[tokio::test]
async fn a_restart_keeps_how_work_in_the_background_ended_and_what_it_cost() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.when("Look for", Script::new().text("I see none.").usage(1200, 34));
    let arguments = json!({ "name": "explorer", "task": "Look for apples", "background": true });
    stage.server.push(Script::new().tool_call("c1", "spawn_agent", arguments));
    stage.server.always(Script::new().text("There are none."));
    let window = with_chat(&stage).await?;
    window.say("Any apples?").await?;
    window.find(in_card("Done")).await?;
    window.find(named("1,234 tokens").under("Conversation")).await?;
    let report = || named("Report from explorer, done").role(Role::Button);
    window.find(report().state(State::Expandable)).await?.click_with_mouse().await?;
    window.find(report().state(State::Expanded)).await?;
    // It was delivered, and nobody stopped anything.
    window.gone(containing("You stopped this reply")).await?;
    window.close().await?;

    let window = stage.ready().await?;
    window.open("Fruit").await?;
    window.find(in_card("Done")).await?;
    window.find(named("1,234 tokens").under("Conversation")).await?;
    window.find(named("Show agents of “Fruit”")).await?.click_with_mouse().await?;
    window.find(in_list("Done")).await?;
    window.close().await
}

#[tokio::test]
async fn only_the_chat_notifies_when_it_is_done_and_not_its_agents() -> Result<()> {
    let stage = Stage::new().await?;
    let notifications = Notifications::start(&stage.desktop).await?;
    let (window, gate) = at_work(&stage).await?;
    window.new_chat().await?;
    gate.open();
    notifications.titled("Fruit").await?;
    assert_eq!(notifications.shown().len(), 1, "{:?}", notifications.shown());
    window.close().await
}
