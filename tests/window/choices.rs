//! What is promised by name, and what is said where nothing can be sent.

use anyhow::Result;
use chat_testkit::server::{Model, Server, unused_port};
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
    app.keys(&["Down", "Escape"]).await?;
    app.gone(named("Models")).await?;
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
async fn the_arrow_keys_pass_from_one_connection_to_the_next() -> Result<()> {
    let place = Place::new().await?;
    let work = Server::start();
    place.server.set_models([Model::new("alpha"), Model::new("twin")]);
    work.set_models([Model::new("twin"), Model::new("/models/Tiny-1B.gguf")]);
    place.configure_all(&[("Home", &place.server.url()), ("Work", &work.url())])?;
    let app = place.open().await?;
    // Whichever server answers first has the model to begin with.
    app.keys(&["ctrl+m"]).await?;
    app.find(containing("Tiny-1B").under("Models")).await?;
    app.find(containing("alpha").under("Models")).await?;
    app.click(containing("alpha").under("Models")).await?;
    app.gone(containing("Tiny-1B").under("Models")).await?;
    app.find(named("alpha")).await?;
    app.keys(&["ctrl+m"]).await?;
    app.find(containing("Tiny-1B").under("Models")).await?;
    app.keys(&["Down", "Down", "Return"]).await?;
    // Of two models of one name the button says whose it is.
    app.find(named("twin · Work")).await?;
    app.keys(&["ctrl+m"]).await?;
    app.find(containing("Tiny-1B").under("Models")).await?;
    app.keys(&["Down", "Return"]).await?;
    app.find(named("Tiny-1B")).await?;
    send(&app, "To whom?").await?;
    until_shown(&app, "You said: To whom?").await?;
    assert_eq!(work.chats().pop().expect("a request").model(), "/models/Tiny-1B.gguf");
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn down_goes_from_the_search_into_the_list_and_escape_closes_it() -> Result<()> {
    let place = Place::new().await?;
    place.server.set_models((0..9).map(|n| Model::new(&format!("model-{n}"))));
    let app = place.open().await?;
    app.find(named("model-0")).await?;
    app.keys(&["ctrl+m"]).await?;
    app.find(containing("model-8").under("Models")).await?;
    app.keys(&["Escape"]).await?;
    app.gone(named("Models")).await?;
    app.keys(&["ctrl+m"]).await?;
    app.find(containing("model-8").under("Models")).await?;
    app.keys(&["Down", "Down", "Down", "Up", "Return"]).await?;
    app.gone(named("Models")).await?;
    app.find(named("model-1")).await?;
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_favourite_made_by_keyboard_stands_first_also_after_a_restart() -> Result<()> {
    let place = Place::new().await?;
    place.server.set_models([Model::new("alpha"), Model::new("beta")]);
    let app = place.open().await?;
    app.find(named("alpha")).await?;
    app.keys(&["ctrl+m"]).await?;
    app.find(containing("beta").under("Models")).await?;
    app.keys(&["Down", "ctrl+d"]).await?;
    app.find(named("Favourites").under("Models")).await?;
    app.terminate().await?;

    let app = place.open().await?;
    app.find(named("alpha")).await?;
    app.keys(&["ctrl+m"]).await?;
    app.find(named("Favourites").under("Models")).await?;
    let lines = app.text_under("Models").await;
    assert!(lines.find("beta") < lines.find("alpha"), "{lines}");
    // And back again.
    app.keys(&["Up", "ctrl+d"]).await?;
    app.gone(named("Favourites").under("Models")).await?;
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
