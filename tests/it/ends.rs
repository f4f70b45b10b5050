//! Tests starting the program twice, and how it ends.

use anyhow::Result;
use chat_testkit::ui::{Role, containing, named};

use crate::stage::{Stage, program};

#[tokio::test]
async fn a_second_start_reaches_the_first() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.say("The first chat").await?;
    window.shows("You said: The first chat").await?;
    window.type_text("a draft").await?;
    window.holds("a draft").await?;
    let mut second = stage.desktop.spawn(&program().arg("--new"))?;
    assert!(tokio::task::spawn_blocking(move || second.wait()).await??.success());
    window.holds("").await?;
    window.close().await
}

#[tokio::test]
async fn a_chat_that_is_asked_for_and_not_there_is_said_to_be_missing() -> Result<()> {
    let stage = Stage::new().await?;
    let launch = program().arg("--session").arg("2001-01-01-00-00-00");
    let window = stage.launch(launch).await?;
    window.find(containing("Couldn’t find the chat “2001-01-01-00-00-00”")).await?;
    window.find(named("New Chat").role(Role::Frame)).await?;
    window.close().await
}

#[tokio::test]
async fn the_last_chat_may_be_gone_without_a_word() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.say("The first chat").await?;
    window.shows("You said: The first chat").await?;
    window.close().await?;
    std::fs::remove_dir_all(stage.desktop.data())?;

    let window = stage.ready().await?;
    window.find(named("New Chat").role(Role::Frame)).await?;
    window.find(named("No chats yet")).await?;
    assert!(!window.has(containing("Couldn’t find the chat")).await);
    window.close().await
}

#[tokio::test]
async fn closing_while_busy_asks_and_can_go_on_in_the_background() -> Result<()> {
    let stage = Stage::new().await?;
    let (window, gate) = stage.telling().await?;
    window.keys(&["ctrl+q"]).await?;
    window.find(named("A reply is still being written")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("A reply is still being written")).await?;
    window.keys(&["ctrl+q"]).await?;
    window.find(named("A reply is still being written")).await?;
    window.keys(&["Return"]).await?;
    window.gone(named("Message")).await?;
    gate.open();
    window.ended().await?;

    let window = stage.window().await?;
    window.shows("Once upon a time").await?;
    window.close().await
}

#[tokio::test]
async fn diagnostics_tell_of_the_first_frame_and_of_each_reply() -> Result<()> {
    let stage = Stage::new().await?;
    let file = stage.desktop.folder().join("diagnostics.json");
    let launch = program().env("NATTER_DIAGNOSTICS", &file);
    let window = stage.launch(launch).await?;
    window.find(named("scripted")).await?;
    window.say("Measure me").await?;
    window.shows("You said: Measure me").await?;
    window.gone(named("Stop")).await?;
    window.close().await?;
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    let times = &report["times_ms"];
    assert!(times["first_frame"].as_f64() <= times["ready"].as_f64(), "{report:#}");
    assert!(report["stalls"]["cpu"]["count"].as_u64() > Some(0), "{report:#}");
    assert_eq!(report["replies"].as_array().map(Vec::len), Some(1), "{report:#}");
    Ok(())
}
