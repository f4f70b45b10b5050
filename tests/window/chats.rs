//! Talking, and coming back.

use anyhow::Result;
use chat_testkit::server::{Gate, Script};
use chat_testkit::ui::{App, Role, State, containing, named, state, until};

use crate::place::{Place, message, send, until_message_is, until_shown};

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
    let (begin, gate) = (Gate::new(), Gate::new());
    let slowly = Script::new().gate_first(&begin).text("Slowly ").gate(&gate).text("done.");
    place.server.when("first", slowly);
    let app = place.open_ready().await?;
    send(&app, "the first").await?;
    app.find(named("Stop")).await?;
    app.find(named("waiting").under("Chats")).await?;
    begin.open();
    until_shown(&app, "Slowly").await?;
    app.find(named("is answering").under("Chats")).await?;
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
    app.keys(&["Down", "Down", "Down", "Return"]).await?;
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

/// Begins a chat for each text, the last one shown, and waits for all answers.
async fn with_chats(app: &App, texts: &[&str]) -> Result<()> {
    for text in texts {
        app.keys(&["ctrl+n"]).await?;
        until_message_is(app, "").await?;
        send(app, text).await?;
        until_shown(app, &format!("You said: {text}")).await?;
        app.find(named(text).under("Chats")).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn undo_takes_back_all_that_the_toast_in_sight_speaks_of() -> Result<()> {
    let place = Place::new().await?;
    let app = place.open_ready().await?;
    with_chats(&app, &["Apples", "Bread", "Cheese"]).await?;
    focus_list(&app).await?;
    // The next chat is shown and chosen, and the keyboard stays in the list.
    app.keys(&["Delete"]).await?;
    app.gone(named("Cheese").under("Chats")).await?;
    until_shown(&app, "You said: Bread").await?;
    app.find(named("“Cheese” deleted")).await?;
    app.keys(&["Delete"]).await?;
    app.gone(named("Bread").under("Chats")).await?;
    app.find(named("2 chats deleted")).await?;
    app.keys(&["ctrl+z"]).await?;
    app.find(named("Bread").under("Chats")).await?;
    app.find(named("Cheese").under("Chats")).await?;
    app.gone(named("2 chats deleted")).await?;
    app.terminate().await
}

/// Goes to the row of the shown chat by keyboard.
async fn focus_list(app: &App) -> Result<()> {
    until("the keyboard in the list of chats", || async {
        let at = app.all(state(State::Focused)).await;
        if at.iter().any(|widget| widget.is_under("Chats")) {
            return Ok(Some(()));
        }
        app.keys(&["Tab"]).await?;
        Ok(None)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn control_z_in_the_message_is_its_own() -> Result<()> {
    let place = Place::new().await?;
    let app = place.open_ready().await?;
    with_chats(&app, &["Apples", "Bread"]).await?;
    app.keys(&["F10"]).await?;
    app.click(containing("Delete Chat")).await?;
    app.find(named("“Bread” deleted")).await?;
    until_message_is(&app, "").await?;
    app.type_text("words").await?;
    until_message_is(&app, "words").await?;
    app.keys(&["ctrl+z"]).await?;
    until_message_is(&app, "").await?;
    assert!(!app.has(named("Bread").under("Chats")).await);
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn f2_renames_the_shown_chat_from_anywhere() -> Result<()> {
    let place = Place::new().await?;
    let app = place.open_ready().await?;
    with_chats(&app, &["Apples"]).await?;
    // The keyboard is in the message, and the list is hidden.
    app.keys(&["F9", "F2"]).await?;
    app.find(named("Title")).await?;
    app.keys(&["F2", "ctrl+a"]).await?;
    app.type_text("Fruit").await?;
    app.keys(&["Return"]).await?;
    app.find(named("Fruit").role(Role::Frame)).await?;
    app.gone(named("Title")).await?;
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_arrow_keys_walk_through_the_list_and_stay_there() -> Result<()> {
    let place = Place::new().await?;
    let app = place.open_ready().await?;
    with_chats(&app, &["Apples", "Bread", "Cheese"]).await?;
    focus_list(&app).await?;
    app.keys(&["Down"]).await?;
    until_shown(&app, "You said: Bread").await?;
    app.keys(&["Down"]).await?;
    until_shown(&app, "You said: Apples").await?;
    // Enter goes to the chat.
    app.keys(&["Return"]).await?;
    app.find(message().state(State::Focused)).await?;
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn escape_after_a_hit_was_opened_shows_all_chats_again() -> Result<()> {
    let place = Place::new().await?;
    let app = place.open_ready().await?;
    with_chats(&app, &["Apples", "Bread"]).await?;
    app.keys(&["ctrl+shift+f"]).await?;
    app.find(named("Search Chats")).await?;
    app.type_text("said: Apples").await?;
    app.gone(named("Bread").under("Chats")).await?;
    app.find(named("Apples").under("Chats")).await?;
    app.keys(&["Return"]).await?;
    until_shown(&app, "You said: Apples").await?;
    app.find(message().state(State::Focused)).await?;
    app.keys(&["Escape"]).await?;
    app.find(named("Bread").under("Chats")).await?;
    app.gone(named("Search Chats")).await?;
    app.terminate().await
}
