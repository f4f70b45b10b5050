//! Tests the commands that a message can begin with.

use std::fs;

use anyhow::Result;
use chat_core::message::Role as Speaker;
use chat_testkit::server::Script;
use chat_testkit::ui::{containing, named};

use crate::stage::Stage;

#[tokio::test]
async fn a_command_of_a_file_is_chosen_sent_and_shown_as_it_was_typed() -> Result<()> {
    let stage = Stage::new().await?;
    let folder = stage.folders().config.join("commands");
    fs::create_dir_all(&folder)?;
    let command =
        "---\ndescription: Fix an issue\nargument-hint: NUMBER\n---\nFix issue $1 well.\n";
    fs::write(folder.join("fix.md"), command)?;
    let window = stage.ready().await?;
    window.type_text("/fi").await?;
    window.find(named("/fix NUMBER: Fix an issue").under("Suggestions")).await?;
    window.keys(&["Tab"]).await?;
    window.holds("/fix ").await?;
    window.type_text("12").await?;
    stage.server.push(Script::new().text("It is fixed."));
    window.keys(&["Return"]).await?;
    window.shows("It is fixed.").await?;
    window.holds("").await?;
    let asked = stage.server.chats()[0].texts_of("user").concat();
    assert!(asked.contains("Fix issue 12 well.") && asked.ends_with("/fix 12"), "{asked}");
    window.find(containing("Text of /fix").under("Conversation")).await?.click_with_mouse().await?;
    window.find(named("Fix issue 12 well.").under("Conversation")).await?;
    let stored = stage.stored().await?.remove("/fix 12");
    let said = stored.map(|chat| chat.of(Speaker::User)[0].plain_text());
    assert_eq!(said.as_deref(), Some("/fix 12"));
    // What is written later counts at once.
    fs::write(folder.join("tidy.md"), "Tidy up.")?;
    window.type_text("/ti").await?;
    window.find(named("/tidy").under("Suggestions")).await?;
    window.close().await
}

#[tokio::test]
async fn the_window_does_what_built_in_commands_say() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    window.type_text("/").await?;
    window.find(named("/clear: Start a new chat").under("Suggestions")).await?;
    window.keys(&["Return"]).await?;
    window.wait_for_text("Conversation", "a new chat", |text| !text.contains("Apples")).await?;
    window.holds("").await?;
    window.type_text("/modle x").await?;
    window.keys(&["Return"]).await?;
    window.find(containing("Did you mean /model?")).await?;
    window.holds("/modle x").await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text("/help").await?;
    window.keys(&["Return"]).await?;
    window.holds("/").await?;
    window.find(named("/review: Show the changes to review").under("Suggestions")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("/review: Show the changes to review").under("Suggestions")).await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text("//tmp is full").await?;
    window.keys(&["Return"]).await?;
    window.shows("You said: /tmp is full").await?;
    assert_eq!(stage.server.chats().len(), 2);
    window.close().await
}
