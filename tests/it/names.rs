//! Tests that a model has the same name everywhere; its id is only in tooltips.

use anyhow::Result;
use chat_core::models::CONNECTION;
use chat_testkit::server::Model;
use chat_testkit::ui::{By, Role, containing, named};

use crate::stage::{Stage, Window};

const PATH: &str = "/srv/models/Nimble-7B.Q4_K_M.gguf";

#[tokio::test]
async fn a_model_of_a_server_is_called_by_the_name_of_its_file_everywhere() -> Result<()> {
    // The server of llama.cpp names a model by its file.
    is_called_everywhere("Workshop", PATH, "Nimble-7B.Q4_K_M").await
}

#[tokio::test]
async fn a_model_on_this_computer_is_called_as_its_makers_do_everywhere() -> Result<()> {
    is_called_everywhere(CONNECTION, "smollm2-135m", "SmolLM2 135M").await
}

/// Begins a chat with a model of this id, and reads the name in each place.
async fn is_called_everywhere(connection: &str, id: &str, name: &str) -> Result<()> {
    let stage = Stage::bare().await?;
    stage.server.set_models([Model::new(id), Model::new("scripted")]);
    stage.configure_all(&[(connection, &stage.server.url())])?;
    stage.configure_more(&format!(
        "[chat.model]\nconnection = \"{connection}\"\nmodel = \"{id}\"\n"
    ))?;
    let window = stage.window().await?;
    // The first page, and the closed list below the message.
    shows(&window, id, containing(&format!("{name}, scripted"))).await?;
    shows(&window, id, named(name).role(Role::Label)).await?;
    // The list, for the eye and for a screen reader.
    window.keys(&["ctrl+m"]).await?;
    shows(&window, id, named(name).role(Role::Label).under("Models")).await?;
    shows(&window, id, containing(name).role(Role::ListItem).under("Models")).await?;
    window.keys(&["Escape"]).await?;
    // Below the reply.
    window.begin(&["Apples"]).await?;
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
