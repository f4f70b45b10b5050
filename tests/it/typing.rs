//! Tests typing faster than the window can follow: nothing is lost, and nothing ends up in the
//! wrong place.

use anyhow::Result;
use chat_testkit::server::{Gate, Script};
use chat_testkit::ui::{containing, named};

use crate::stage::Stage;

#[tokio::test]
async fn two_messages_typed_in_one_breath_are_two() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.keys_at_once(&["y", "e", "s", "Return", "n", "o", "Return", "x"]).await?;
    window.shows("You said: yes").await?;
    window.shows("You said: no").await?;
    window.holds("x").await?;
    let said: Vec<_> =
        stage.server.chats().iter().map(|chat| chat.texts_of("user").join("|")).collect();
    assert_eq!(said, ["yes", "yes|no"]);
    window.close().await
}

#[tokio::test]
async fn what_is_typed_right_after_asking_for_a_new_chat_is_for_that_one() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    for text in ["one", "two", "three"] {
        stage.server.when(text, Script::new().gate_first(&gate).text(text));
    }
    let window = stage.ready().await?;
    let keys = "o n e Return ctrl+n t w o Return ctrl+n t h r e e Return e";
    window.keys_at_once(&keys.split(' ').collect::<Vec<_>>()).await?;
    stage.server.wait_for_chats(3).await;
    gate.open();
    window.holds("e").await?;
    let mut said: Vec<_> =
        stage.server.chats().iter().map(|chat| chat.texts_of("user").join("|")).collect();
    said.sort();
    assert_eq!(said, ["one", "three", "two"]);
    window.close().await
}

#[tokio::test]
async fn what_is_sent_is_in_sight_though_one_was_reading_further_up() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    let long = "A paragraph that takes a line.\n\n".repeat(60);
    stage.server.when("long", Script::new().text(&long).text("And so").gate(&gate).text(" on."));
    let window = stage.ready().await?;
    window.say("a long story").await?;
    window.shows("And so").await?;
    window.keys(&["shift+Tab", "ctrl+Home"]).await?;
    window.find(named("Jump to End")).await?;
    window.keys(&["ctrl+l"]).await?;
    window.type_text("afterwards").await?;
    window.keys(&["Return"]).await?;
    window.shows("afterwards").await?;
    window.gone(named("Jump to End")).await?;
    gate.open();
    window.shows("You said: afterwards").await?;
    window.close().await
}

#[tokio::test]
async fn enter_says_what_is_missing_and_keeps_the_text() -> Result<()> {
    let stage = Stage::bare().await?;
    let window = stage.window().await?;
    window.find(containing("No model server found")).await?;
    window.type_text("hello").await?;
    window.keys(&["Return"]).await?;
    window.find(named("Choose a model first")).await?;
    window.find(named("Manage Models…")).await?;
    window.keys(&["Escape"]).await?;
    window.holds("hello").await?;
    window.close().await
}

#[tokio::test]
async fn a_message_taken_back_stands_before_what_was_typed_since() -> Result<()> {
    let stage = Stage::new().await?;
    let (window, gate) = stage.telling().await?;
    window.say("and then").await?;
    window.shows("and then").await?;
    window.type_text("what else").await?;
    window.holds("what else").await?;
    window.click(named("Edit Message")).await?;
    window.holds("and then\nwhat else").await?;
    gate.open();
    window.gone(named("Stop")).await?;
    assert_eq!(stage.server.chats().len(), 1, "it was not sent");
    window.close().await
}

#[tokio::test]
async fn what_is_typed_right_after_the_key_to_the_message_goes_there() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.begin(&["Apples"]).await?;
    window.focus_list().await?;
    window.keys_at_once(&["ctrl+l", "a"]).await?;
    window.holds("a").await?;
    window.focus_list().await?;
    window.keys_at_once(&["ctrl+n", "b"]).await?;
    window.holds("b").await?;
    window.close().await
}
