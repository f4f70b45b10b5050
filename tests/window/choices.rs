//! What is promised by name, and what is said where nothing can be sent.

use anyhow::Result;
use chat_testkit::server::{Model, unused_port};
use chat_testkit::ui::{State, containing, named};

use crate::place::{Place, send, until_message_is, until_shown};

#[tokio::test(flavor = "multi_thread")]
async fn the_promised_names_are_there() -> Result<()> {
    let place = Place::new().await?;
    let app = place.open_ready().await?;
    for name in ["Message", "Send", "New Chat", "Chats", "Agent", "Model", "Thinking", "Main Menu"]
    {
        app.find(named(name)).await?;
    }
    app.keys(&["ctrl+shift+f"]).await?;
    app.find(named("Search Chats")).await?;
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_model_chosen_by_keyboard_gets_the_message() -> Result<()> {
    let place = Place::new().await?;
    place.server.set_models([Model::new("alpha"), Model::new("beta")]);
    let app = place.open().await?;
    app.find(named("alpha")).await?;
    app.keys(&["ctrl+m"]).await?;
    app.find(containing("beta").under("Models")).await?;
    app.keys(&["Down", "Return"]).await?;
    app.find(named("beta")).await?;
    send(&app, "To whom?").await?;
    until_shown(&app, "You said: To whom?").await?;
    let chat = place.server.chats().pop().expect("a request");
    assert_eq!(chat.model(), "beta");
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_server_one_can_write_but_not_send_and_is_told_why() -> Result<()> {
    let place = Place::new().await?;
    place.configure(&format!("http://127.0.0.1:{}", unused_port()))?;
    let app = place.open().await?;
    app.find(named("No answer")).await?;
    app.type_text("Anybody there?").await?;
    let send = app.find(named("Send")).await?;
    assert!(!send.is(State::Sensitive));
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_beginning_keeps_what_was_written_already() -> Result<()> {
    let place = Place::new().await?;
    let app = place.open_ready().await?;
    app.find(named("Whom do you want to talk to?")).await?;
    send(&app, "The first chat").await?;
    until_shown(&app, "You said: The first chat").await?;
    app.keys(&["ctrl+n"]).await?;
    until_message_is(&app, "").await?;
    app.type_text("my words").await?;
    until_message_is(&app, "my words").await?;
    app.find(named("Improve a text")).await?.click_with_mouse().await?;
    until_message_is(&app, "Improve this text, and say what you changed:\n\nmy words").await?;
    app.terminate().await
}
