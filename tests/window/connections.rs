//! Adding a connection: what is said before it is kept, and what it is called.

use anyhow::Result;
use chat_testkit::server::{Model, Protocol, Server, unused_port};
use chat_testkit::ui::{App, Role, State, containing, named, until};

use crate::place::Place;

/// Opens the dialog that adds a connection, with the keyboard in its address.
async fn add(app: &App) -> Result<()> {
    app.find(named("Add…")).await?.click().await?;
    app.find(named("Add a Connection").role(Role::Frame)).await.map(drop)
}

async fn until_save_is(app: &App, sensitive: bool) -> Result<()> {
    until("Save to be usable or not", || async {
        let save = app.find(containing("Save").role(Role::Button)).await?;
        Ok((save.is(State::Sensitive) == sensitive).then_some(()))
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_is_none_is_said_and_cannot_be_kept() -> Result<()> {
    let place = Place::new().await?;
    place.configure_all(&[])?;
    let app = place.open().await?;
    add(&app).await?;
    app.type_text("htp://nowhere").await?;
    app.find(containing("This address is not valid")).await?;
    until_save_is(&app, false).await?;
    app.keys(&["ctrl+a"]).await?;
    app.type_text(&place.server.url()).await?;
    app.gone(containing("This address is not valid")).await?;
    until_save_is(&app, true).await?;
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_without_a_name_is_called_after_its_program() -> Result<()> {
    let place = Place::new().await?;
    let server = Server::start().only(Protocol::OpenAi);
    server.set_models([Model::new("tiny").owned_by("vllm")]);
    place.configure_all(&[])?;
    let app = place.open().await?;
    add(&app).await?;
    app.type_text(&server.url()).await?;
    app.keys(&["Return"]).await?;
    app.gone(named("Add a Connection").role(Role::Frame)).await?;
    app.find(named("vLLM")).await?;
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_missing_is_told_from_one_that_is_wrong() -> Result<()> {
    let place = Place::new().await?;
    let server = Server::start().only(Protocol::OpenAi).with_key("sk-good");
    place.configure_all(&[])?;
    let app = place.open().await?;
    add(&app).await?;
    app.type_text(&server.url()).await?;
    app.keys(&["alt+t"]).await?;
    app.find(named("The server wants a key. Add one, then try again.")).await?;
    app.keys(&["Tab", "Tab", "Tab"]).await?;
    app.type_text("sk-bad").await?;
    app.keys(&["alt+t"]).await?;
    app.find(named("The server does not accept the key. Check it.")).await?;
    app.keys(&["ctrl+a"]).await?;
    app.type_text("sk-good").await?;
    app.keys(&["alt+t"]).await?;
    app.find(containing("It works")).await?;
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_starts_later_is_noticed_without_asking() -> Result<()> {
    let place = Place::new().await?;
    let port = unused_port();
    place.configure(&format!("http://127.0.0.1:{port}"))?;
    let app = place.open().await?;
    app.find(named("No answer")).await?;
    assert!(!app.has(named("Or just type below")).await);
    let _server = Server::start_on(port);
    app.find(named("Ready")).await?;
    app.find(named("Or just type below")).await?;
    app.terminate().await
}
