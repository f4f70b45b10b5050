//! Tests resources and prompts of MCP servers, with a scripted one.

use std::fs;

use anyhow::Result;
use chat_testkit::files::built_program;
use chat_testkit::server::Script;
use chat_testkit::ui::{containing, named};
use serde_json::json;

use crate::stage::Stage;

/// Has the settings name a server `notes`, with a resource, a template and a prompt.
fn add_server(stage: &Stage) -> Result<()> {
    let server = json!({
        "command": built_program("scripted-mcp"),
        "args": ["good"],
        "natter": { "sandbox": false },
    });
    let file = stage.folders().config.join("mcp.json");
    fs::write(file, json!({ "mcpServers": { "notes": server } }).to_string())?;
    Ok(())
}

#[tokio::test]
async fn a_resource_is_chosen_by_its_title_and_goes_with_the_message() -> Result<()> {
    let stage = Stage::new().await?;
    add_server(&stage)?;
    let window = stage.ready().await?;
    window.type_text("Read @notes:").await?;
    window.find(named("Resource of notes: A Note").under("Suggestions")).await?;
    window.find(named("Resource of notes: The First Note").under("Suggestions")).await?;
    window.keys(&["Return"]).await?;
    window.holds("Read @notes:note://one ").await?;
    window.find(named("Remove The First Note")).await?;
    stage.server.push(Script::new().text("I have read it."));
    window.keys(&["Return"]).await?;
    window.shows("I have read it.").await?;
    let asked = stage.server.chats()[0].texts_of("user").concat();
    assert!(asked.contains("This is note one."), "{asked}");
    window.find(named("notes:note://one").under("Conversation")).await?;
    window.close().await
}

#[tokio::test]
async fn what_a_server_refuses_is_not_sent_and_stays_in_the_field() -> Result<()> {
    let stage = Stage::new().await?;
    add_server(&stage)?;
    let window = stage.ready().await?;
    window.type_text("Read @notes:other://one now").await?;
    window.keys(&["Return"]).await?;
    window.find(containing("There is no such note")).await?;
    window.holds("Read @notes:other://one now").await?;
    assert!(stage.server.chats().is_empty());
    window.close().await
}

#[tokio::test]
async fn a_form_asks_for_the_arguments_of_a_prompt() -> Result<()> {
    let stage = Stage::new().await?;
    add_server(&stage)?;
    let window = stage.ready().await?;
    window.type_text("/notes:").await?;
    window.find(containing("/notes:review code=…").under("Suggestions")).await?;
    window.keys(&["Return"]).await?;
    window.find(named("Add to Message")).await?;
    window.type_text("x = 1").await?;
    window.keys(&["Return"]).await?;
    window.holds("/notes:review code=\"x = 1\" ").await?;
    stage.server.push(Script::new().text("It is fine."));
    window.keys(&["Return"]).await?;
    window.shows("It is fine.").await?;
    let asked = stage.server.chats()[0].texts_of("user").concat();
    assert!(asked.contains("Review this code:\nx = 1"), "{asked}");
    assert!(asked.contains("Assistant:\nI will begin with what is wrong."), "{asked}");
    assert!(asked.trim_end().ends_with("/notes:review code=\"x = 1\""), "{asked}");
    window.find(containing("Text of /notes:review").under("Conversation")).await?;
    window.close().await
}

#[tokio::test]
async fn a_prompt_without_its_argument_is_asked_for_it() -> Result<()> {
    let stage = Stage::new().await?;
    add_server(&stage)?;
    let window = stage.ready().await?;
    window.type_text("/notes:review language=Rust").await?;
    window.keys(&["Return"]).await?;
    window.find(named("Add to Message")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Add to Message")).await?;
    window.holds("/notes:review language=Rust").await?;
    assert!(stage.server.chats().is_empty());
    window.close().await
}
