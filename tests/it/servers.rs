//! Tests servers of tools in the preferences, and the question whether to trust those of a project.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use chat_core::message::SessionMeta;
use chat_core::store::{NewSession, Store};
use chat_testkit::ui::{By, Role, containing, named, until};
use serde_json::json;

use crate::allowances;
use crate::stage::{Stage, chat};

/// A file with the scripted server, "notes", which runs outside of the sandbox.
fn file() -> Result<String> {
    let program = Path::new(env!("CARGO_BIN_EXE_natter")).with_file_name("scripted-mcp");
    let server = json!({ "command": program, "args": ["good"], "natter": { "sandbox": false } });
    Ok(serde_json::to_string_pretty(&json!({ "mcpServers": { "notes": server } }))?)
}

#[tokio::test]
async fn a_server_is_tested_and_switched_off() -> Result<()> {
    let stage = Stage::new().await?;
    let path = stage.folders().config.join("mcp.json");
    fs::write(&path, file()?)?;
    let window = stage.ready().await?;
    allowances::page(&window, "Tools", containing("Not started")).await?;
    window.click(named("Menu of notes")).await?;
    window.click(named("Test").role(Role::MenuItem)).await?;
    window.find(containing("Running ·")).await?;
    window.click(named("Use notes")).await?;
    until("the server to be off in the file", || async {
        Ok(fs::read_to_string(&path)?.contains("\"disabled\": true").then_some(()))
    })
    .await?;
    window.close().await
}

fn question() -> By {
    containing("This project brings 1 server of tools.")
}

#[tokio::test]
async fn servers_of_a_project_are_used_once_the_user_trusts_them() -> Result<()> {
    let stage = Stage::new().await?;
    let project = stage.project(&[(".mcp.json", &file()?)])?;
    let store = Store::open(&stage.folders())?.store;
    let meta = SessionMeta { project: Some(project), ..chat("Fruit").meta };
    store.create(NewSession { meta, ..chat("Fruit") }, Vec::new()).await?;
    drop(store);
    let window = stage.ready().await?;
    window.open("Fruit").await?;
    window.find(question()).await?;
    window.click(named("Review servers…")).await?;
    window.find(containing("Runs outside the sandbox")).await?;
    window.click(containing("Trust").role(Role::Button)).await?;
    window.gone(question()).await?;
    let trusted = stage.folders().state.join("mcp-trust.json");
    let trusted = fs::read_to_string(trusted).context("what is trusted")?;
    assert!(trusted.contains("garden"), "{trusted}");
    window.close().await
}
