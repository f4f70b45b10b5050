//! Tests that a model has the same name everywhere; its id is only in tooltips.

use anyhow::{Result, anyhow};
use chat_core::models::{CONNECTION, Library};
use chat_testkit::server::Model;
use chat_testkit::ui::{By, Role, containing, named};

use crate::stage::{Stage, Window, real_model};

const PATH: &str = "/srv/models/Nimble-7B.Q4_K_M.gguf";

#[tokio::test]
async fn a_model_of_a_server_is_called_by_the_name_of_its_file_everywhere() -> Result<()> {
    // The server of llama.cpp names a model by its file.
    is_called_so_on_a_server("Workshop", PATH, "Nimble-7B.Q4_K_M").await
}

#[tokio::test]
async fn a_model_on_this_computer_is_called_as_its_makers_do_everywhere() -> Result<()> {
    // Only the real one has the name that the catalog keeps for it.
    let Some(model) = real_model() else { return Ok(()) };
    let stage = Stage::bare().await?;
    stage.compute_with_one_thread()?;
    let added = Library::of(&stage.folders()).add(&model);
    let id = added.map_err(|error| anyhow!("{error}"))?.name;
    let full = format!("{CONNECTION}/{id}");
    stage.configure_more(&format!("[models.\"{full}\"]\ntemperature = 0.0\nmax_tokens = 16\n"))?;
    stage.configure_more(&format!(
        "[chat.model]\nconnection = \"{CONNECTION}\"\nmodel = \"{id}\"\n"
    ))?;
    is_called_everywhere(stage.window().await?, &id, "SmolLM2 135M").await
}

/// Begins a chat with a model of this id on a server, and reads the name in each place.
async fn is_called_so_on_a_server(connection: &str, id: &str, name: &str) -> Result<()> {
    let stage = Stage::bare().await?;
    stage.server.set_models([Model::new(id), Model::new("scripted")]);
    stage.configure_all(&[(connection, &stage.server.url())])?;
    stage.configure_more(&format!(
        "[chat.model]\nconnection = \"{connection}\"\nmodel = \"{id}\"\n"
    ))?;
    let window = stage.window().await?;
    // The first page.
    shows(&window, id, containing(&format!("{name}, scripted"))).await?;
    is_called_everywhere(window, id, name).await
}

/// Begins a chat, and reads the model's name in each place.
async fn is_called_everywhere(window: Window, id: &str, name: &str) -> Result<()> {
    // The closed list below the message.
    shows(&window, id, named(name).role(Role::Label)).await?;
    // The list, for the eye and for a screen reader.
    window.keys(&["ctrl+m"]).await?;
    shows(&window, id, named(name).role(Role::Label).under("Models")).await?;
    shows(&window, id, containing(name).role(Role::ListItem).under("Models")).await?;
    window.keys(&["Escape"]).await?;
    // Below the reply.
    window.new_chat().await?;
    window.say("Apples").await?;
    shows(&window, id, containing(&format!("{name} · ")).under("Conversation")).await?;
    // The preferences.
    window.keys(&["ctrl+comma"]).await?;
    window.find(named("Model for new chats").role(Role::Label)).await?;
    shows(&window, id, named(name).role(Role::Label).under("Preferences")).await?;
    window.close().await
}

/// Waits for the name in a place; no text in the window is the id.
async fn shows(window: &Window, id: &str, place: By) -> Result<()> {
    window.find(place).await?;
    let ids = window.all(containing(id).role(Role::Label)).await;
    assert!(ids.is_empty(), "{ids:?}");
    Ok(())
}
