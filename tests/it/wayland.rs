//! Tests the window under Wayland, which most people use: once through everything that a day begins
//! with.

use anyhow::{Result, ensure};
use chat_testkit::ui::{Desktop, Role, containing, named};

use crate::stage::Stage;

#[tokio::test]
async fn a_day_begins_under_wayland_as_under_x11() -> Result<()> {
    let stage = Stage::on(Desktop::start_wayland().await?)?;
    stage.configure(&stage.server.url())?;
    let window = stage.ready().await?;
    // Ask and be answered, in two chats.
    for text in ["Apples", "Bread"] {
        window.writes().await?;
        window.type_text(text).await?;
        window.holds(text).await?;
        window.keys(&["Return"]).await?;
        window.shows(&format!("You said: {text}")).await?;
        window.find(named(text).under("Chats")).await?;
        if text == "Apples" {
            window.new_chat().await?;
        }
    }
    // Find in the chat.
    window.find_in_chat().await?;
    window.type_text("bread").await?;
    window.find(containing("of 2")).await?;
    window.keys(&["Escape"]).await?;
    window.writes().await?;
    // Go to the other one.
    window.keys(&["alt+Down"]).await?;
    window.find(named("Apples").role(Role::Frame)).await?;
    window.shows("You said: Apples").await?;
    // The preferences and back.
    window.keys(&["ctrl+comma"]).await?;
    window.find(named("Preferences").role(Role::Frame)).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Preferences").role(Role::Frame)).await?;

    let picture = stage.desktop.folder().join("window.png");
    window.picture(&picture).await?;
    ensure!(std::fs::read(&picture)?.starts_with(b"\x89PNG"), "no picture");
    window.keys(&["ctrl+q"]).await?;
    window.ended().await
}
