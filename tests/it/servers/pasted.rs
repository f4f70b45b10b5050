//! Tests servers that are pasted as JSON: they are looked at, added, used, killed, and back again.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use chat_testkit::mcp::OtherServers;
use chat_testkit::processes::{self, Process};
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, containing, named, until};
use serde_json::json;

use super::{choose, written};
use crate::allowances;
use crate::stage::{Stage, Window};

/// Opens the dialog, and pastes a text.
async fn paste(window: &Window, text: &str) -> Result<()> {
    choose(window, "Paste JSON…").await?;
    window.find(named("JSON").role(Role::Text)).await?;
    window.type_text(text).await?;
    window.keys(&["alt+n"]).await
}

#[tokio::test]
async fn a_text_that_has_no_servers_comes_back_to_be_mended() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    allowances::page(&window, "Tools", containing("No servers yet")).await?;
    paste(&window, "\"notes\": {\"command\": \"notes-server\"").await?;
    window.find(containing("This isn’t valid JSON.")).await?;
    window.keys(&["ctrl+End"]).await?;
    window.type_text("}").await?;
    window.keys(&["alt+n"]).await?;
    window.find(named("Add This Server")).await?;
    window.click(containing("_Add").role(Role::Button)).await?;
    let servers = written(&stage, |servers| servers["notes"].is_object()).await?;
    assert_eq!(servers, json!({ "notes": { "command": "notes-server" } }));
    window.close().await
}

/// The server of files, once it runs.
async fn server(window: &Window, but: Option<u32>) -> Result<Process> {
    until("the server of files to run", || async {
        let all = processes::below(window.id()).into_iter();
        let mut servers = all.filter(|it| it.runs("node") && Some(it.id) != but);
        Ok(servers.next())
    })
    .await
}

#[tokio::test]
async fn a_pasted_server_of_files_is_used_once_allowed_and_back_after_it_was_killed() -> Result<()>
{
    let Some(others) = OtherServers::find() else { return Ok(()) };
    let stage = Stage::new().await?;
    let folder = stage.desktop.folder().canonicalize()?.join("papers");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("garden.txt"), "Water the plants on Friday.")?;
    let read = json!({ "path": folder.join("garden.txt") });
    for words in ["It says Friday.", "It still says Friday."] {
        stage.server.push(Script::new().tool_call(words, "files__read_text_file", read.clone()));
        stage.server.push(Script::new().text(words));
    }
    let command = others.filesystem(&[folder.to_str().context("text")?]);
    let needed: Vec<PathBuf> = others.folders();
    let file = json!({ "mcpServers": { "files": {
        "command": command[0],
        "args": command[1..],
        "natter": { "readFolders": needed },
    } } });

    let window = stage.ready().await?;
    allowances::page(&window, "Tools", containing("No servers yet")).await?;
    paste(&window, &file.to_string()).await?;
    // All that it wants, and the folder in the command, is off until it is chosen.
    window.click(named("Read Files in These Folders").role(Role::CheckBox)).await?;
    let path = folder.to_str().context("text")?;
    window.find(containing(path).role(Role::ComboBox)).await?.click_with_mouse().await?;
    window.find(named("Change")).await?;
    window.keys(&["Down", "Return"]).await?;
    window.click(containing("_Add").role(Role::Button)).await?;
    let servers = written(&stage, |servers| servers["files"].is_object()).await?;
    let shown = servers["files"]["natter"]["readFolders"].as_array().context("folders")?;
    assert_eq!(shown.last(), Some(&json!(folder)));
    window.find(named("Use files")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Use files")).await?;

    window.say("Look").await?;
    window.click(named("Allow Once").role(Role::Button)).await?;
    window.shows("It says Friday.").await?;
    let told = stage.server.wait_for_end(1).await.texts_of("tool");
    ensure!(told.iter().any(|text| text.contains("Water the plants on Friday.")), "{told:?}");
    let killed = server(&window, None).await?;
    killed.kill();
    server(&window, Some(killed.id)).await?;
    // It was allowed once.
    window.say("Once more").await?;
    window.click(named("Allow Once").role(Role::Button)).await?;
    window.shows("It still says Friday.").await?;
    let told = stage.server.wait_for_end(3).await.texts_of("tool");
    ensure!(told.iter().filter(|text| text.contains("Friday")).count() == 2, "{told:?}");
    let running = server(&window, Some(killed.id)).await?;
    window.kill().await?;
    running.wait();
    Ok(())
}
