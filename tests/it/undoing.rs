//! Tests that Ctrl+Z undoes deletions of chats and messages, the latest first.

use anyhow::{Result, ensure};
use chat_testkit::ui::{Role, State, containing, named};

use crate::branches::right_click;
use crate::stage::{Stage, Window};

/// Chooses an entry of the menu of this message.
async fn choose(stage: &Stage, window: &Window, message: &str, entry: &str) -> Result<()> {
    let label = named(message).role(Role::Label).under("Conversation");
    right_click(stage, &window.find(label).await?).await?;
    window.click(named(entry).role(Role::Label)).await
}

#[tokio::test]
async fn control_z_brings_messages_back_long_after_their_toast() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    window.say("Pears").await?;
    window.shows("You said: Pears").await?;
    choose(&stage, &window, "Pears", "Delete From Here").await?;
    window.find(named("2 messages deleted")).await?;
    window.gone(containing("You said: Pears").under("Conversation")).await?;
    window.gone(named("2 messages deleted")).await?;
    window.keys(&["ctrl+l"]).await?;
    window.find(named("Message").state(State::Focused)).await?;
    window.keys(&["ctrl+z"]).await?;
    window.shows("You said: Pears").await?;
    window.close().await
}

#[tokio::test]
async fn control_z_undoes_deletions_of_messages_and_chats_in_one_order() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread"]).await?;
    window.open("Apples").await?;
    window.shows("You said: Apples").await?;
    choose(&stage, &window, "Apples", "Delete From Here").await?;
    window.find(named("2 messages deleted")).await?;
    window.open("Bread").await?;
    window.shows("You said: Bread").await?;
    window.keys(&["F10"]).await?;
    window.click(containing("Move Chat to")).await?;
    window.find(named("“Bread” deleted")).await?;
    window.gone(named("Bread").under("Chats")).await?;
    window.keys(&["ctrl+z"]).await?;
    window.find(named("Bread").under("Chats")).await?;
    window.shows("You said: Bread").await?;
    // The messages are those of another chat.
    window.keys(&["ctrl+z"]).await?;
    window.find(named("2 messages are back in “Apples”")).await?;
    window.open("Apples").await?;
    window.shows("You said: Apples").await?;
    window.close().await
}

#[tokio::test]
async fn deleted_messages_come_back_from_the_trash_and_are_not_undone_again() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples"]).await?;
    choose(&stage, &window, "Apples", "Delete From Here").await?;
    window.find(named("2 messages deleted")).await?;
    window.click(named("Chat List Menu")).await?;
    window.click(containing("Trash")).await?;
    window.click(containing("Restore 2 messages of “Apples”")).await?;
    window.find(containing("The trash is empty")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Trash").role(Role::Frame)).await?;
    window.shows("You said: Apples").await?;
    window.gone(named("2 messages deleted")).await?;

    choose(&stage, &window, "Apples", "Delete From Here").await?;
    window.find(named("2 messages deleted")).await?;
    window.click(named("Chat List Menu")).await?;
    window.click(containing("Trash")).await?;
    window.click(named("Empty…")).await?;
    window.find(containing("2 messages will be gone")).await?;
    window.click(named("Delete for Good")).await?;
    window.find(containing("The trash is empty")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Trash").role(Role::Frame)).await?;
    window.keys(&["ctrl+z"]).await?;
    window.find(containing("they were deleted for good")).await?;
    window.close().await
}

#[tokio::test]
async fn what_was_deleted_for_good_is_named_when_it_cannot_come_back() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Pears"]).await?;
    window.focus_list().await?;
    window.keys(&["Delete"]).await?;
    window.gone(named("Pears").under("Chats")).await?;
    window.click(named("Chat List Menu")).await?;
    window.click(containing("Trash")).await?;
    window.click(containing("Delete “Pears” for good")).await?;
    window.click(named("Delete for Good")).await?;
    window.find(containing("The trash is empty")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Trash").role(Role::Frame)).await?;
    window.keys(&["ctrl+z"]).await?;
    window.find(containing("Couldn’t bring the chat back")).await?;
    ensure!(!window.has(named("Pears").under("Chats")).await, "it is gone");
    window.close().await
}
