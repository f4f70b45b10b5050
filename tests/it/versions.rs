//! Tests that a switch to another version of a message leaves the reader and the keyboard where they are.

use anyhow::{Context, Result};
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, State, containing, named, until};

use crate::stage::{Stage, Window};

#[tokio::test]
async fn a_message_twenty_up_stays_where_it_is_and_so_does_the_keyboard() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.push(Script::new().text("Answer to pears"));
    stage.store("A long chat", (0..60).map(|index| format!("Number {index}"))).await?;
    let window = stage.ready().await?;
    window.open("A long chat").await?;
    window.shows("Number 59").await?;
    window.keys(&["ctrl+l"]).await?;
    // The tenth of the user's messages from the end.
    for _ in 0..10 {
        window.keys(&["alt+Prior"]).await?;
    }
    let own = named("Number 40").role(Role::Label).under("Conversation");
    window.find(own.state(State::Focused)).await?;
    window.keys(&["Return"]).await?;
    window.find(named("Edited Message").state(State::Focused)).await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text("Pears").await?;
    window.keys(&["Return"]).await?;
    window.shows("Answer to pears").await?;
    window.find(named("2/2").under("Conversation")).await?;
    window.writes().await?;

    let arrow = named("Previous Version").state(State::Focused);
    until("the keyboard on the arrow", || async {
        window.keys(&["shift+Tab"]).await?;
        Ok(window.has(arrow.clone()).await.then_some(()))
    })
    .await?;
    let place = top_of(&window, "Pears").await?;
    for _ in 0..2 {
        window.keys(&["Return"]).await?;
        is_at(&window, "Number 40", place).await?;
        window.find(named("1/2").under("Conversation")).await?;
        window.find(named("Next Version").state(State::Focused)).await?;
        // What follows it is shown below it, and not the end.
        window.find(named("Number 42").under("Conversation")).await?;
        is_at(&window, "Number 40", place).await?;
        window.keys(&["Return"]).await?;
        is_at(&window, "Pears", place).await?;
        window.find(named("Previous Version").state(State::Focused)).await?;
    }
    window.close().await
}

/// Where a message of the user's begins, from the top of the conversation.
async fn top_of(window: &Window, text: &str) -> Result<i32> {
    let chat = window.find(named("Conversation")).await?.place().await?;
    let own = window.find(named(text).role(Role::Label).under("Conversation")).await?;
    Ok(own.place().await?.1 - chat.1)
}

async fn is_at(window: &Window, text: &str, place: i32) -> Result<()> {
    let last = std::cell::Cell::default();
    let waited = until(&format!("{text:?} at {place}"), || async {
        let Some(own) = window
            .all(containing(text).role(Role::Label).under("Conversation"))
            .await
            .into_iter()
            .find(|own| own.name() == text)
        else {
            return Ok(None);
        };
        let chat = window.find(named("Conversation")).await?.place().await?;
        // A row may go while it is asked.
        let Ok((_, y, ..)) = own.place().await else { return Ok(None) };
        last.set(Some(y - chat.1));
        Ok(((y - chat.1 - place).abs() <= 1).then_some(()))
    })
    .await
    .with_context(|| format!("it was at {:?} at last", last.get()));
    window.explain(waited).await
}
