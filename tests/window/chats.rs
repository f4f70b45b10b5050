//! Talking, and coming back.

use anyhow::Result;
use chat_testkit::server::{Gate, Script};
use chat_testkit::ui::{containing, named};

use crate::place::{Place, send, until_message_is, until_shown};

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_is_there_again_after_a_restart() -> Result<()> {
    let place = Place::new().await?;
    let app = place.open_ready().await?;
    send(&app, "How deep is the sea?").await?;
    until_shown(&app, "You said: How deep is the sea?").await?;
    app.find(containing("How deep is the sea?").under("Chats")).await?;
    app.terminate().await?;

    let app = place.open().await?;
    until_shown(&app, "You said: How deep is the sea?").await?;
    send(&app, "And the sky?").await?;
    until_shown(&app, "You said: And the sky?").await?;
    let second = place.server.chats().pop().expect("a second request");
    assert_eq!(second.texts_of("assistant"), ["You said: How deep is the sea?"]);
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_belongs_to_its_chat_and_survives() -> Result<()> {
    let place = Place::new().await?;
    let app = place.open_ready().await?;
    send(&app, "The first chat").await?;
    until_shown(&app, "You said: The first chat").await?;
    app.type_text("half a thought").await?;
    until_message_is(&app, "half a thought").await?;
    app.keys(&["ctrl+n"]).await?;
    until_message_is(&app, "").await?;
    app.type_text("something new").await?;
    until_message_is(&app, "something new").await?;
    app.keys(&["alt+Down"]).await?;
    until_message_is(&app, "half a thought").await?;
    app.terminate().await?;

    let app = place.open().await?;
    until_message_is(&app, "half a thought").await?;
    app.keys(&["ctrl+n"]).await?;
    until_message_is(&app, "something new").await?;
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_sent_while_busy_waits_visibly_and_goes_out_after() -> Result<()> {
    let place = Place::new().await?;
    let gate = Gate::new();
    place.server.when("first", Script::new().text("Slowly ").gate(&gate).text("done."));
    let app = place.open_ready().await?;
    send(&app, "the first").await?;
    app.find(named("Stop")).await?;
    until_shown(&app, "Slowly").await?;
    send(&app, "the second").await?;
    until_shown(&app, "the second").await?;
    assert_eq!(place.server.chats().len(), 1);
    gate.open();
    until_shown(&app, "You said: the second").await?;
    app.gone(named("Stop")).await?;
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn escape_stops_only_when_pressed_twice() -> Result<()> {
    let place = Place::new().await?;
    let gate = Gate::new();
    place.server.when("long", Script::new().text("Once upon ").gate(&gate).text("a time"));
    let app = place.open_ready().await?;
    send(&app, "a long story").await?;
    until_shown(&app, "Once upon").await?;
    app.keys(&["Escape"]).await?;
    app.find(containing("Press Esc again")).await?;
    assert!(app.has(named("Stop")).await);
    app.keys(&["Escape"]).await?;
    app.gone(named("Stop")).await?;
    until_shown(&app, "You stopped this reply").await?;
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deleted_chat_can_be_taken_back() -> Result<()> {
    let place = Place::new().await?;
    let app = place.open_ready().await?;
    send(&app, "Keep me").await?;
    until_shown(&app, "You said: Keep me").await?;
    app.keys(&["F10"]).await?;
    app.find(containing("Delete Chat")).await?;
    app.keys(&["Down", "Down", "Return"]).await?;
    app.gone(containing("Keep me").under("Chats")).await?;
    app.click(containing("Undo")).await?;
    app.find(containing("Keep me").under("Chats")).await?;
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_finds_what_was_said() -> Result<()> {
    let place = Place::new().await?;
    let app = place.open_ready().await?;
    for text in ["Bread and butter", "Stars at night"] {
        app.keys(&["ctrl+n"]).await?;
        until_message_is(&app, "").await?;
        send(&app, text).await?;
        until_shown(&app, &format!("You said: {text}")).await?;
    }
    app.keys(&["ctrl+shift+f"]).await?;
    app.type_text("said: Bread").await?;
    app.gone(containing("Stars at night").under("Chats")).await?;
    app.find(containing("Bread and butter").under("Chats")).await?;
    app.terminate().await
}
