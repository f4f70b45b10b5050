//! Tests the messages that wait during a reply.

use anyhow::Result;
use chat_testkit::ui::{Role, State, named, until};

use crate::stage::{Stage, Window};

/// Waits until these texts stand in the conversation in this order.
async fn in_order(window: &Window, texts: &[&str]) -> Result<()> {
    let what = format!("{texts:?} in this order");
    let ordered = |all: &str| {
        let places: Vec<_> = texts.iter().map(|text| all.find(text)).collect();
        places.iter().all(Option::is_some) && places.is_sorted()
    };
    window.wait_for_text("Conversation", &what, ordered).await.map(drop)
}

/// Presses the button of this name at this place among those of its name.
async fn press(window: &Window, name: &str, place: usize) -> Result<()> {
    let what = format!("{name} at {place}");
    let button = until(&what, || async {
        Ok(window.all(named(name).role(Role::Button)).await.into_iter().nth(place))
    })
    .await?;
    button.click().await
}

#[tokio::test]
async fn messages_that_wait_are_moved_edited_removed_and_sent_now() -> Result<()> {
    let stage = Stage::new().await?;
    let (window, _gate) = stage.telling().await?;
    window.say("alpha").await?;
    in_order(&window, &["Once upon", "alpha", "Sent after this step"]).await?;
    window.type_text("beta").await?;
    window.holds("beta").await?;
    window.keys(&["ctrl+Return"]).await?;
    window.holds("").await?;
    in_order(&window, &["alpha", "Sent after this step", "beta", "Sent after this reply"]).await?;
    window.say("gamma").await?;
    in_order(&window, &["alpha", "beta", "gamma"]).await?;

    // The keyboard stays with what it moves.
    until("the keyboard on the last message that waits", || async {
        let up = named("Move Up (Alt+Up)").state(State::Focused);
        if window.has(up).await {
            return Ok(Some(()));
        }
        window.keys(&["shift+Tab"]).await?;
        Ok(None)
    })
    .await?;
    window.keys(&["alt+Up"]).await?;
    in_order(&window, &["alpha", "gamma", "beta"]).await?;
    window.keys(&["alt+Up"]).await?;
    in_order(&window, &["gamma", "alpha", "beta"]).await?;
    window.keys(&["alt+Down"]).await?;
    in_order(&window, &["alpha", "gamma", "beta"]).await?;

    // What is edited goes back to its place.
    press(&window, "Edit Message", 0).await?;
    window.holds("alpha").await?;
    in_order(&window, &["gamma", "beta"]).await?;
    window.type_text("!").await?;
    window.holds("alpha!").await?;
    window.keys(&["Return"]).await?;
    in_order(&window, &["alpha!", "gamma", "beta"]).await?;

    press(&window, "Remove Message", 1).await?;
    let gone = |all: &str| !all.contains("gamma");
    window.wait_for_text("Conversation", "gamma to be gone", gone).await?;
    press(&window, "Send Now", 1).await?;
    window.shows("You said: beta").await?;
    window.shows("You said: alpha!").await?;
    let chats = stage.server.chats();
    assert_eq!(chats[1].texts_of("user"), ["a long story", "beta"]);
    assert_eq!(chats[1].texts_of("assistant"), ["Once upon "]);
    assert_eq!(chats[2].texts_of("user"), ["a long story", "beta", "alpha!"]);
    window.close().await
}

#[tokio::test]
async fn a_message_that_was_removed_is_put_back_at_its_place() -> Result<()> {
    let stage = Stage::new().await?;
    let (window, gate) = stage.telling().await?;
    window.say("alpha").await?;
    window.say("beta").await?;
    in_order(&window, &["alpha", "beta"]).await?;
    press(&window, "Remove Message", 0).await?;
    let gone = |all: &str| !all.contains("alpha");
    window.wait_for_text("Conversation", "alpha to be gone", gone).await?;
    window.find(named("Message removed")).await?;
    window.click(named("Undo")).await?;
    in_order(&window, &["alpha", "beta"]).await?;
    // It goes out as if nothing had happened.
    gate.open();
    window.shows("You said: beta").await?;
    let chats = stage.server.chats();
    let said = chats.last().map(|chat| chat.texts_of("user")).unwrap_or_default();
    assert_eq!(said, ["a long story", "alpha", "beta"]);
    window.close().await
}
