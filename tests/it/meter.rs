//! Tests the context usage, the preview of what would be sent, and compaction.

use anyhow::{Result, ensure};
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, containing, named};

use crate::stage::{Stage, Window};

/// The button in the composer's line.
const METER: &str = "Context Window";
const SUMMARY: &str = "From here on, the model reads a summary";

/// A chat of two turns.
async fn two_turns(stage: &Stage) -> Result<Window> {
    for text in ["Red.", "Blue."] {
        stage.server.push(Script::new().text(text));
    }
    let window = stage.ready().await?;
    window.say("Which colour has a tomato?").await?;
    window.shows("Red.").await?;
    window.say("And the sky?").await?;
    window.shows("Blue.").await?;
    Ok(window)
}

#[tokio::test]
async fn what_fills_the_window_is_told_and_the_whole_prompt_is_shown() -> Result<()> {
    let stage = Stage::new().await?;
    let window = two_turns(&stage).await?;
    window.type_text("a draft").await?;
    window.click(named(METER)).await?;
    window.find(named("Your messages")).await?;
    window.find(named("Replies")).await?;
    window.click(named("Show Full Prompt…").role(Role::Button)).await?;
    window.find(containing("earlier messages are also sent")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(containing("earlier messages are also sent")).await?;
    window.holds("a draft").await?;
    window.click(named(METER)).await?;
    window.find(named("Replies")).await?;
    ensure!(stage.server.chats().len() == 2, "looking sends nothing");
    window.close().await
}

#[tokio::test]
async fn earlier_messages_are_summed_up_and_come_back() -> Result<()> {
    let stage = Stage::new().await?;
    let window = two_turns(&stage).await?;
    stage.server.push(Script::new().text("A tomato is red."));
    window.click(named(METER)).await?;
    window.find(named("Compact Now").role(Role::Button)).await?;
    window.gone(named("Undo Compaction").role(Role::Button)).await?;
    window.click(named("Compact Now").role(Role::Button)).await?;
    window.find(containing(SUMMARY)).await?;
    window.gone(named("Stop")).await?;
    window.find(named("Summary of earlier messages")).await?;
    window.click(named("Undo Compaction").role(Role::Button)).await?;
    window.find(named("The model reads the earlier messages in full again.")).await?;
    window.find(containing("You undid that.")).await?;
    window.gone(containing(SUMMARY)).await?;
    window.close().await
}
