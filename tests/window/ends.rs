//! How the program starts twice and ends.

use anyhow::Result;
use chat_testkit::server::{Gate, Script};
use chat_testkit::ui::{Role, containing, named};

use crate::place::{Place, program, send, until_message_is, until_shown};

#[tokio::test(flavor = "multi_thread")]
async fn a_second_start_reaches_the_first() -> Result<()> {
    let place = Place::new().await?;
    let app = place.open_ready().await?;
    send(&app, "The first chat").await?;
    until_shown(&app, "You said: The first chat").await?;
    app.type_text("a draft").await?;
    until_message_is(&app, "a draft").await?;
    let mut second = place.desktop.spawn(&program().arg("--new"))?;
    assert!(tokio::task::spawn_blocking(move || second.wait()).await??.success());
    until_message_is(&app, "").await?;
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_chat_that_is_asked_for_and_not_there_is_said_to_be_missing() -> Result<()> {
    let place = Place::new().await?;
    let launch = program().arg("--session").arg("2001-01-01-00-00-00");
    let app = place.desktop.launch(launch).await?;
    app.find(containing("There is no chat “2001-01-01-00-00-00”")).await?;
    app.find(named("New Chat").role(Role::Frame)).await?;
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_chat_may_be_gone_without_a_word() -> Result<()> {
    let place = Place::new().await?;
    let app = place.open_ready().await?;
    send(&app, "The first chat").await?;
    until_shown(&app, "You said: The first chat").await?;
    app.terminate().await?;
    std::fs::remove_dir_all(place.desktop.data())?;

    let app = place.open_ready().await?;
    app.find(named("New Chat").role(Role::Frame)).await?;
    app.find(named("Your chats will be here")).await?;
    assert!(!app.has(containing("There is no chat")).await);
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_while_busy_asks_and_can_go_on_in_the_background() -> Result<()> {
    let place = Place::new().await?;
    let gate = Gate::new();
    place.server.when("long", Script::new().text("Once upon ").gate(&gate).text("a time"));
    let app = place.open_ready().await?;
    send(&app, "a long story").await?;
    until_shown(&app, "Once upon").await?;
    app.keys(&["ctrl+q"]).await?;
    app.find(named("A reply is still being written")).await?;
    app.keys(&["Escape"]).await?;
    app.gone(named("A reply is still being written")).await?;
    app.keys(&["ctrl+q"]).await?;
    app.find(named("A reply is still being written")).await?;
    app.keys(&["Return"]).await?;
    app.gone(named("Message")).await?;
    gate.open();
    assert!(app.ended().await?.success());

    let app = place.open().await?;
    until_shown(&app, "Once upon a time").await?;
    app.terminate().await
}

#[tokio::test(flavor = "multi_thread")]
async fn diagnostics_tell_of_the_first_frame_and_of_each_reply() -> Result<()> {
    let place = Place::new().await?;
    let file = place.desktop.folder().join("diagnostics.json");
    let launch = program().env("NATTER_DIAGNOSTICS", &file);
    let app = place.desktop.launch(launch).await?;
    app.find(named("scripted")).await?;
    send(&app, "Measure me").await?;
    until_shown(&app, "You said: Measure me").await?;
    app.gone(named("Stop")).await?;
    app.terminate().await?;
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(&file)?)?;
    let times = &report["times_ms"];
    assert!(times["first_frame"].as_f64() <= times["ready"].as_f64(), "{report:#}");
    assert!(report["stalls"]["cpu"]["count"].as_u64() > Some(0), "{report:#}");
    assert_eq!(report["replies"].as_array().map(Vec::len), Some(1), "{report:#}");
    Ok(())
}
