//! Tests adding a connection: the checks before it is saved, and its name.

use anyhow::Result;
use chat_testkit::server::{Answer, Model, Protocol, Server, unused_port};
use chat_testkit::ui::{Role, State, containing, named, until};

use crate::stage::{Stage, Window};

/// Opens the dialog that adds a connection, with the keyboard in its address.
async fn add(window: &Window) -> Result<()> {
    window.find(named("Add…")).await?.click().await?;
    window.find(named("Add Connection").role(Role::Frame)).await?;
    window.type_text("other server").await?;
    window.keys(&["Return"]).await?;
    window.find(named("New Connection").role(Role::Frame)).await.map(drop)
}

async fn until_save_is(window: &Window, sensitive: bool) -> Result<()> {
    until("Save to be usable or not", || async {
        let save = window.find(containing("Save").role(Role::Button)).await?;
        Ok((save.is(State::Sensitive) == sensitive).then_some(()))
    })
    .await
}

#[tokio::test]
async fn an_address_that_is_none_is_said_and_cannot_be_kept() -> Result<()> {
    let stage = Stage::new().await?;
    stage.configure_all(&[])?;
    let window = stage.window().await?;
    add(&window).await?;
    window.type_text("htp://nowhere").await?;
    window.find(containing("This address isn’t valid")).await?;
    until_save_is(&window, false).await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text(&stage.server.url()).await?;
    window.gone(containing("This address isn’t valid")).await?;
    until_save_is(&window, true).await?;
    window.close().await
}

/// A known server is chosen and gets its key by keyboard alone. Its address is another one here, since no test
/// asks a server of the network.
#[tokio::test]
async fn a_known_server_is_added_by_keyboard() -> Result<()> {
    let stage = Stage::new().await?;
    let server = Server::start().only(Protocol::Anthropic).with_key("sk-good");
    server.set_models([Model::new("claude-test")]);
    stage.configure_all(&[])?;
    let window = stage.window().await?;
    window.find(named("Add…")).await?.click().await?;
    window.find(named("Add Connection").role(Role::Frame)).await?;
    window.type_text("anthro").await?;
    window.find(named("Anthropic")).await?;
    window.keys(&["Return"]).await?;
    window.find(named("Anthropic").role(Role::Frame)).await?;
    window.type_text("sk-good").await?;
    window.find(named("Get a Key")).await?;
    window.find(named("Advanced")).await?.click_with_mouse().await?;
    window.find(named("Address").role(Role::Text)).await?.click_with_mouse().await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text(&server.url()).await?;
    window.keys(&["alt+t"]).await?;
    // It refuses whoever has no key. Whether a key can be kept is the matter of this machine's keyring.
    window.find(containing("The server responded in")).await?;
    window.find(containing("1 model")).await?;
    window.close().await
}

#[tokio::test]
async fn a_server_without_a_name_is_called_after_its_program() -> Result<()> {
    let stage = Stage::new().await?;
    let server = Server::start().only(Protocol::OpenAi);
    server.set_models([Model::new("tiny").owned_by("vllm")]);
    stage.configure_all(&[])?;
    let window = stage.window().await?;
    add(&window).await?;
    window.type_text(&server.url()).await?;
    window.keys(&["Return"]).await?;
    window.gone(named("New Connection").role(Role::Frame)).await?;
    window.find(named("vLLM")).await?;
    window.close().await
}

#[tokio::test]
async fn a_server_without_a_list_is_used_by_the_models_that_are_typed() -> Result<()> {
    let stage = Stage::new().await?;
    let server = Server::start().only(Protocol::OpenAi);
    server.set_models([Model::new("typed-model")]);
    server.answer("/v1/models", Answer::new(404, r#"{"detail":"Not Found"}"#));
    stage.configure_all(&[])?;
    let window = stage.window().await?;
    add(&window).await?;
    window.type_text(&format!("{}/v1", server.url())).await?;
    window.keys(&["alt+t"]).await?;
    window.find(containing("The server responds but doesn’t list any models.")).await?;
    window.find(named("Models").role(Role::Text)).await?.click_with_mouse().await?;
    window.type_text("typed-model").await?;
    window.keys(&["alt+t"]).await?;
    window.find(containing("The server responded in")).await?;
    window.keys(&["Return"]).await?;
    window.gone(named("New Connection").role(Role::Frame)).await?;
    window.say("Hello!").await?;
    window.shows("You said: Hello!").await?;
    assert_eq!(
        server.chats().last().map(|chat| chat.model().to_owned()),
        Some("typed-model".into())
    );
    window.close().await
}

#[tokio::test]
async fn a_server_that_cannot_be_found_is_told_from_one_that_does_not_run() -> Result<()> {
    let stage = Stage::new().await?;
    stage.configure_all(&[])?;
    let window = stage.window().await?;
    add(&window).await?;
    window.type_text("http://no-such-host.invalid:11434").await?;
    window.keys(&["alt+t"]).await?;
    window.find(containing("Couldn’t find the server “no-such-host.invalid”.")).await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text("htp:/bla").await?;
    window.find(containing("This address isn’t valid")).await?;
    window.close().await
}

#[tokio::test]
async fn a_key_that_is_missing_is_told_from_one_that_is_wrong() -> Result<()> {
    let stage = Stage::new().await?;
    let server = Server::start().only(Protocol::OpenAi).with_key("sk-good");
    stage.configure_all(&[])?;
    let window = stage.window().await?;
    add(&window).await?;
    window.type_text(&server.url()).await?;
    window.keys(&["alt+t"]).await?;
    window.find(named("The server needs a key. Add one, then try again.")).await?;
    window.keys(&["Tab", "Tab", "Tab"]).await?;
    window.type_text("sk-bad").await?;
    window.keys(&["alt+t"]).await?;
    window.find(named("The server refused the key. Check it, then try again.")).await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text("sk-good").await?;
    window.keys(&["alt+t"]).await?;
    window.find(containing("The server responded in")).await?;
    window.close().await
}

#[tokio::test]
async fn a_server_that_starts_later_is_noticed_without_asking() -> Result<()> {
    let stage = Stage::new().await?;
    let port = unused_port();
    stage.configure(&format!("http://127.0.0.1:{port}"))?;
    let window = stage.window().await?;
    window.find(named("No response")).await?;
    assert!(!window.has(named("Or just start typing")).await);
    let _server = Server::start_on(port);
    window.find(named("Ready")).await?;
    window.find(named("Or just start typing")).await?;
    window.close().await
}

#[tokio::test]
async fn arrows_lead_from_the_search_for_a_server_to_the_results_and_back() -> Result<()> {
    let stage = Stage::new().await?;
    stage.configure_all(&[])?;
    let window = stage.window().await?;
    window.find(named("Add…")).await?.click().await?;
    window.find(named("Add Connection").role(Role::Frame)).await?;
    window.type_text("olla").await?;
    window.keys(&["Down", "Up", "End"]).await?;
    // The search has the keyboard again.
    window.type_text("ma").await?;
    window.keys(&["Down", "Return"]).await?;
    window.find(named("Ollama").role(Role::Frame)).await?;
    // The address of a server that runs on this computer is in sight at once.
    window.find(named("Address").role(Role::Text)).await?.click_with_mouse().await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text(&stage.server.url()).await?;
    window.keys(&["alt+t"]).await?;
    window.find(containing("The server responded in")).await?;
    window.close().await
}
