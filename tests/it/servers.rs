//! Tests servers of tools in the preferences, and the question whether to trust those of a project.

mod pasted;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use chat_core::message::SessionMeta;
use chat_core::store::{NewSession, Store};
use chat_testkit::ui::{By, Role, State, containing, named, until};
use serde_json::{Value, json};

use crate::allowances;
use crate::stage::{Stage, Window, chat};

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

/// Opens a row of the menu that adds servers.
async fn choose(window: &Window, choice: &str) -> Result<()> {
    window.click(named("Add Servers")).await?;
    window.click(named(choice).role(Role::MenuItem)).await
}

/// Types a text in place of what a field has.
async fn fill(window: &Window, field: &str, text: &str) -> Result<()> {
    let field = window.find(named(field).role(Role::Text)).await?;
    field.bring_into_sight().await?;
    field.click_with_mouse().await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text(text).await
}

async fn until_can_save(window: &Window, verb: &str, can: bool) -> Result<()> {
    until("the form to be saved or not", || async {
        let save = window.find(containing(verb).role(Role::Button)).await?;
        Ok((save.is(State::Sensitive) == can).then_some(()))
    })
    .await
}

/// Waits until the file says this.
async fn written(stage: &Stage, what: impl Fn(&Value) -> bool) -> Result<Value> {
    let path = stage.folders().config.join("mcp.json");
    until("the server in the file", || async {
        let Ok(text) = fs::read_to_string(&path) else { return Ok(None) };
        let servers = serde_json::from_str::<Value>(&text)?["mcpServers"].take();
        Ok(what(&servers).then_some(servers))
    })
    .await
}

#[tokio::test]
async fn a_server_is_added_with_a_form_in_a_narrow_window() -> Result<()> {
    let stage = Stage::new().await?;
    let notes = stage.desktop.folder().join("my notes");
    fs::create_dir_all(&notes)?;
    let window = stage.ready().await?;
    window.resize(360, 700).await?;
    allowances::page(&window, "Tools", containing("No servers yet")).await?;
    choose(&window, "Add Server…").await?;
    window.find(named("Add Server").role(Role::Frame)).await?;
    // The keyboard is in the name.
    window.type_text("my notes").await?;
    window.find(containing("The name can’t be used.")).await?;
    fill(&window, "Name", "notes").await?;
    window.gone(containing("The name can’t be used.")).await?;
    fill(&window, "Command", &format!("notes-server '{}", notes.display())).await?;
    window.find(containing("A quotation mark isn’t closed.")).await?;
    until_can_save(&window, "_Add", false).await?;
    window.type_text("'").await?;
    until_can_save(&window, "_Add", true).await?;
    // The folder is one of the arguments.
    window.click(containing("Let It Change").role(Role::Button)).await?;
    window.click(containing("_Add").role(Role::Button)).await?;
    window.gone(named("Add Server").role(Role::Frame)).await?;
    window.find(named("Use notes")).await?;
    let servers = written(&stage, |servers| servers["notes"].is_object()).await?;
    let expected = json!({
        "command": "notes-server",
        "args": [notes],
        "natter": { "folders": [notes] },
    });
    assert_eq!(servers["notes"], expected);
    window.close().await
}

#[tokio::test]
async fn a_server_is_edited_and_the_rest_of_the_file_stays() -> Result<()> {
    let stage = Stage::new().await?;
    let path = stage.folders().config.join("mcp.json");
    let old = json!({ "mcpServers": {
        "notes": { "command": "notes-server", "icon": "book", "env": { "LEVEL": "${env:LEVEL}" } },
    } });
    fs::write(&path, old.to_string())?;
    let window = stage.ready().await?;
    allowances::page(&window, "Tools", containing("Not started")).await?;
    window.click(named("Menu of notes")).await?;
    window.click(named("Edit…").role(Role::MenuItem)).await?;
    window.find(named("Edit Server").role(Role::Frame)).await?;
    fill(&window, "Command", "other-server --all").await?;
    window.click(named("Network Access").role(Role::CheckBox)).await?;
    fill(&window, "Name", "diary").await?;
    window.keys(&["Return"]).await?;
    window.gone(named("Edit Server").role(Role::Frame)).await?;
    window.find(named("Use diary")).await?;
    let servers = written(&stage, |servers| servers["diary"].is_object()).await?;
    let expected = json!({ "diary": {
        "command": "other-server",
        "args": ["--all"],
        "icon": "book",
        "env": { "LEVEL": "${env:LEVEL}" },
        "natter": { "network": true },
    } });
    assert_eq!(servers, expected);
    window.close().await
}
