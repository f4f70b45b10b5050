//! Finding words: in the chat that is shown, and from the list of chats on to the very message.

use std::sync::Arc;

use anyhow::Result;
use chat_core::message::{Message, ModelRef, Options, Role, Thinking};
use chat_core::store::{NewSession, Store};
use chat_testkit::ui::{containing, named, role, until};

use crate::stage::Stage;

#[tokio::test]
async fn words_are_found_in_the_chat_by_keyboard_and_the_focus_comes_back() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    let app = &window.app;
    app.keys(&["ctrl+f"]).await?;
    app.find(named("Find in Chat")).await?;
    app.type_text("APPLES").await?;
    app.find(named("1 of 2")).await?;
    for (key, place) in [
        ("Return", "2 of 2"),
        ("Return", "1 of 2"),
        ("shift+Return", "2 of 2"),
        ("ctrl+g", "1 of 2"),
        ("ctrl+shift+g", "2 of 2"),
    ] {
        app.keys(&[key]).await?;
        app.find(named(place)).await?;
    }
    app.type_text(" and pears").await?;
    app.find(named("Not found")).await?;
    app.keys(&["Escape"]).await?;
    app.gone(named("Find in Chat")).await?;
    app.type_text("written").await?;
    let composer = app.find(named("Message")).await?;
    until("the words in the composer", || async {
        Ok((composer.text().await? == "written").then_some(()))
    })
    .await?;
    // What was looked for is there again, and another chat closes the bar.
    app.keys(&["ctrl+f"]).await?;
    app.find(named("Not found")).await?;
    app.keys(&["ctrl+n"]).await?;
    app.gone(named("Find in Chat")).await?;
    window.close().await
}

#[tokio::test]
async fn a_chat_that_a_search_found_opens_at_the_message() -> Result<()> {
    let stage = Stage::new().await?;
    let mut messages: Vec<Arc<Message>> = Vec::new();
    for index in 0..160 {
        let role = if index % 2 == 0 { Role::User } else { Role::Assistant };
        let filler = "and some words that nobody looks for ".repeat(4);
        let text = match index {
            20 => format!("{filler}the needle in it"),
            _ => format!("Number {index} {filler}"),
        };
        let parent = messages.last().map(|message| message.id);
        messages.push(Arc::new(Message::text(role, parent, text)));
    }
    let store = Store::open(&stage.folders())?.store;
    let session = NewSession {
        title: "A long chat".to_owned(),
        agent: "just-ask".to_owned(),
        model: Some(ModelRef::new("Test", "scripted")),
        thinking: Thinking::default(),
        options: Options::default(),
    };
    store.create(session, messages).await?;
    drop(store);

    let window = stage.window().await?;
    let app = &window.app;
    app.keys(&["ctrl+shift+f"]).await?;
    app.find(named("Search Chats")).await?;
    app.type_text("needle").await?;
    // The word is not cut away from the narrow row.
    let row = app.find(containing("the needle in it").under("Chats")).await?;
    assert!(row.name().starts_with('…'), "{}", row.name());
    row.click_with_mouse().await?;

    app.find(named("1 of 1")).await?;
    let bar = app.find(named("Find in Chat")).await?;
    assert_eq!(bar.text().await?, "needle");
    window.shows("the needle in it").await?;
    app.gone(containing("Number 159").under("Conversation")).await?;
    assert!(app.has(role(chat_testkit::ui::Role::Label).under("Conversation")).await);
    window.close().await
}
