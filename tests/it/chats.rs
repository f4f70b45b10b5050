//! The chat list: renaming, deleting, taking that back, searching.

use anyhow::Result;
use chat_testkit::ui::{containing, named, until};

use crate::stage::{Stage, Window};

async fn two_chats(stage: &Stage) -> Result<Window> {
    let window = stage.window().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    window.new_chat().await?;
    window.say("Pears").await?;
    window.shows("You said: Pears").await?;
    Ok(window)
}

#[tokio::test]
async fn a_chat_is_renamed() -> Result<()> {
    let stage = Stage::new().await?;
    let window = two_chats(&stage).await?;
    window.open("Apples").await?;
    window.shows("You said: Apples").await?;
    window.app.keys(&["F10"]).await?;
    window.app.click(containing("Rename")).await?;
    window.app.find(named("Title")).await?;
    window.app.keys(&["ctrl+a"]).await?;
    window.app.type_text("About fruit").await?;
    window.app.keys(&["Return"]).await?;
    window.app.find(named("About fruit").under("Chats")).await?;
    window.app.gone(named("Apples").under("Chats")).await?;
    window.close().await?;
    assert!(stage.stored().await?.contains_key("About fruit"));
    Ok(())
}

#[tokio::test]
async fn a_deleted_chat_comes_back_by_undo() -> Result<()> {
    let stage = Stage::new().await?;
    let window = two_chats(&stage).await?;
    window.open("Apples").await?;
    window.shows("You said: Apples").await?;
    window.app.keys(&["F10"]).await?;
    window.app.click(containing("Delete")).await?;
    window.app.gone(named("Apples").under("Chats")).await?;
    until("the chat's end on disk", || async {
        Ok((!stage.stored().await?.contains_key("Apples")).then_some(()))
    })
    .await?;

    window.app.click(named("Undo")).await?;

    window.app.find(named("Apples").under("Chats")).await?;
    window.close().await?;
    let chat = stage.stored().await?.remove("Apples").expect("the chat");
    assert_eq!(chat.answers(), ["You said: Apples"]);
    Ok(())
}

#[tokio::test]
async fn chats_are_found_by_what_was_said_in_them() -> Result<()> {
    let stage = Stage::new().await?;
    let window = two_chats(&stage).await?;
    window.app.keys(&["ctrl+shift+f"]).await?;
    window.app.find(named("Search Chats")).await?;
    window.app.type_text("said: Apples").await?;
    window.app.gone(named("Pears").under("Chats")).await?;
    window.app.find(named("Apples").under("Chats")).await?;
    window.close().await
}
