//! Tests the first start, with nothing configured.

use std::fs;

use anyhow::Result;
use chat_testkit::ui::{Launch, containing, named};

use crate::stage::Stage;

#[tokio::test]
async fn the_first_page_says_that_nothing_was_found_and_offers_to_add_a_connection() -> Result<()> {
    let stage = Stage::bare().await?;
    let window = stage.window_as_it_comes().await?;
    window.find(containing("No model server found")).await?;
    window.find(named("Add…")).await?;
    window.close().await
}

#[tokio::test]
async fn a_server_on_this_machine_is_found_and_named_and_can_be_talked_to() -> Result<()> {
    let stage = Stage::bare().await?;
    let config = stage.folders().config.join("config.toml");
    fs::write(config, "[chat]\nbetter_titles = false\n")?;
    // Wherever Ollama listens, its own variable says so.
    let launch = Launch::new(env!("CARGO_BIN_EXE_natter")).env("OLLAMA_HOST", stage.server.url());
    let window = stage.launch(launch).await?;
    window.find(containing("Ollama")).await?;
    window.say("Hello").await?;
    window.shows("You said: Hello").await?;
    window.close().await
}
