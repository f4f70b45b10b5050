//! Tests importing chats through the window: preview, import, what is there already, and files that are no exports. And
//! exporting several to one file.

use std::fs;

use anyhow::{Context, Result};
use chat_core::manager::{Manager, StartOptions};
use chat_core::settings::Folders;
use chat_testkit::ui::{Role, State, containing, named};

use crate::stage::Stage;

/// An export of another program with two chats.
const EXPORT: &str = r#"[
{"title":"Two birds","create_time":1700000000,"update_time":1700000100,"conversation_id":"c1","current_node":"a","mapping":{
"r":{"id":"r","message":null,"parent":null,"children":["u"]},
"u":{"id":"u","parent":"r","children":["a"],"message":{"id":"u","author":{"role":"user"},"create_time":1700000001,
 "content":{"content_type":"text","parts":["Which bird?"]},"metadata":{}}},
"a":{"id":"a","parent":"u","children":[],"message":{"id":"a","author":{"role":"assistant"},"create_time":1700000006,
 "content":{"content_type":"text","parts":["A crow."]},"metadata":{"model_slug":"gpt-y"},"recipient":"all"}}}},
{"title":"One tree","create_time":1690000000,"update_time":1690000100,"conversation_id":"c2","current_node":"u","mapping":{
"r":{"id":"r","message":null,"parent":null,"children":["u"]},
"u":{"id":"u","parent":"r","children":[],"message":{"id":"u","author":{"role":"user"},"create_time":1690000001,
 "content":{"content_type":"text","parts":["Which tree?"]},"metadata":{}}}}}]"#;

#[tokio::test]
async fn chats_of_another_program_are_looked_at_imported_and_skipped_the_next_time() -> Result<()> {
    let stage = Stage::new().await?;
    let export = stage.desktop.folder().join("conversations.json");
    fs::write(&export, EXPORT)?;
    let broken = stage.desktop.folder().join("broken.json");
    fs::write(&broken, "no export")?;
    let window = stage.window().await?;
    window.click(named("Chat List Menu")).await?;
    window.click(named("Import Chats…").role(Role::MenuItem)).await?;
    let choose = window.find(named("Choose Files…").role(Role::Button)).await?;
    assert!(choose.drop_files(&[&broken]).await?);
    window.find(named("Couldn’t Import")).await?;
    window.click(named("Choose Other Files").role(Role::Button)).await?;
    // The button acts a moment later, and what is chosen meanwhile would go again.
    let choose = named("Choose Files…").role(Role::Button).state(State::Focused);
    let choose = window.find(choose).await?;
    assert!(choose.drop_files(&[&export]).await?);
    window.find(containing("2 chats from ChatGPT, with 3 messages.")).await?;
    window.find(named("Import").role(Role::Button).state(State::Focused)).await?;
    window.keys(&["Return"]).await?;
    window.find(containing("Imported 2 chats.")).await?;
    window.keys(&["Escape"]).await?;
    window.open("Two birds").await?;
    window.shows("A crow.").await?;
    // It begins with the model of new chats.
    window.say("Are you sure?").await?;
    window.shows("You said: Are you sure?").await?;

    window.click(named("Chat List Menu")).await?;
    window.click(named("Import Chats…").role(Role::MenuItem)).await?;
    let choose = window.find(named("Choose Files…").role(Role::Button)).await?;
    assert!(choose.drop_files(&[&export]).await?);
    window.find(containing("2 chats are already here.")).await?;
    assert!(!window.has(named("Import").role(Role::Button)).await, "there is nothing to import");
    window.keys(&["Escape"]).await?;
    window.close().await
}

#[tokio::test]
async fn selected_chats_are_exported_to_one_file_that_can_be_imported() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread", "Cheese"]).await?;
    window.focus_list().await?;
    window.keys(&["space", "shift+Down"]).await?;
    window.find(named("2 chats selected")).await?;
    window.click(named("Export…").role(Role::Button)).await?;
    let chooser = || named("Export Chats").role(Role::Filler);
    window.find(chooser()).await?;
    let path = stage.desktop.folder().canonicalize()?.join("chats.json");
    window.keys(&["ctrl+a"]).await?;
    window.type_text(&path.display().to_string()).await?;
    window.keys(&["Return"]).await?;
    window.gone(chooser()).await?;
    window.find(containing("Saved to ")).await?;
    // They are still selected, for what comes next.
    window.find(named("2 chats selected")).await?;
    window.close().await?;

    let elsewhere = Folders::below(stage.desktop.folder().join("elsewhere"));
    let manager = Manager::start(StartOptions::new(elsewhere)).await?;
    let report = manager.import().run(&[path], |_| ()).await?;
    assert!(report.unreadable.is_empty() && report.broken.is_empty(), "{report:?}");
    let mut titles = Vec::new();
    for fid in &report.imported {
        let chat = manager.sessions().export(fid).await?;
        let reply = chat.messages.last().context("a reply")?.plain_text();
        assert_eq!(reply, format!("You said: {}", chat.title));
        titles.push(chat.title);
    }
    titles.sort();
    assert_eq!(titles, ["Bread", "Cheese"]);
    manager.shutdown().await;
    Ok(())
}
