//! Tests choosing next to the message what tools may do without asking.

use anyhow::Result;
use chat_core::permission::Mode;
use chat_testkit::ui::{Role, State, containing, named, role};

use crate::projects::{folder, stored, window_in};
use crate::stage::{Stage, Window};

/// Opens the list of modes.
async fn open(window: &Window) -> Result<()> {
    window.find(named("Permissions")).await?.click_with_mouse().await?;
    window.find(containing("read-only commands; changes nothing")).await?;
    // What is pressed before the list has the keyboard goes into the message.
    window.find(role(Role::ListItem).state(State::Focused).under("Permissions")).await.map(drop)
}

/// Waits until the closed list shows this mode.
async fn is_chosen(window: &Window, mode: &str) -> Result<()> {
    window.gone(containing("read-only commands; changes nothing")).await?;
    window.find(named(mode).role(Role::Label).under("Permissions")).await.map(drop)
}

#[tokio::test]
async fn the_list_begins_at_the_mode_of_the_chat_in_sight() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = folder(&stage, "garden")?;
    let window = window_in(&stage, &garden).await?;
    // The panel moves all when it opens.
    window.find(named("Find a File")).await?;
    open(&window).await?;
    window.keys(&["End", "Return"]).await?;
    window.click(containing("Work Unattended").role(Role::Button)).await?;
    is_chosen(&window, "Unattended").await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    assert_eq!(stored(&stage, "Apples").await?.mode, Mode::Unattended);

    // Enter takes what is chosen already, and not what was chosen for the other chat.
    window.new_chat().await?;
    is_chosen(&window, "Ask").await?;
    open(&window).await?;
    window.keys(&["Return"]).await?;
    is_chosen(&window, "Ask").await?;
    open(&window).await?;
    window.keys(&["Down", "Return"]).await?;
    is_chosen(&window, "Edits").await?;
    window.say("Pears").await?;
    window.shows("You said: Pears").await?;
    assert_eq!(stored(&stage, "Pears").await?.mode, Mode::Edits);

    // Back in the first chat it begins there, too; one above is the plan.
    window.open("Apples").await?;
    is_chosen(&window, "Unattended").await?;
    open(&window).await?;
    window.keys(&["Up", "Return"]).await?;
    is_chosen(&window, "Plan").await?;
    window.close().await
}

#[tokio::test]
async fn a_chat_works_unattended_only_after_it_was_confirmed_once() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = folder(&stage, "garden")?;
    let window = window_in(&stage, &garden).await?;
    let question = || named("Work Unattended?");
    open(&window).await?;
    window.keys(&["End", "Return"]).await?;
    window.find(question()).await?;
    window.keys(&["Escape"]).await?;
    window.gone(question()).await?;
    is_chosen(&window, "Ask").await?;
    // Enter in the dialog is no confirmation.
    open(&window).await?;
    window.keys(&["End", "Return"]).await?;
    window.find(question()).await?;
    window.keys(&["Return"]).await?;
    window.gone(question()).await?;
    is_chosen(&window, "Ask").await?;

    open(&window).await?;
    window.keys(&["End", "Return"]).await?;
    window.click(containing("Work Unattended").role(Role::Button)).await?;
    // While the dialog stands, it takes the mouse.
    window.gone(question()).await?;
    is_chosen(&window, "Unattended").await?;
    // In this chat it is known.
    open(&window).await?;
    window.keys(&["Home", "Return"]).await?;
    is_chosen(&window, "Ask").await?;
    open(&window).await?;
    window.keys(&["End", "Return"]).await?;
    is_chosen(&window, "Unattended").await?;
    assert!(!window.has(question()).await);
    // In another it is not.
    window.new_chat().await?;
    is_chosen(&window, "Ask").await?;
    open(&window).await?;
    window.keys(&["End", "Return"]).await?;
    window.find(question()).await?;
    window.keys(&["Escape"]).await?;
    window.close().await
}

#[tokio::test]
async fn auto_is_offered_for_coding() -> Result<()> {
    let stage = Stage::new().await?;
    let garden = folder(&stage, "garden")?;
    let window = window_in(&stage, &garden).await?;
    open(&window).await?;
    window.find(named("Auto (recommended for coding)")).await?;
    window.keys(&["Down", "Down", "Return"]).await?;
    is_chosen(&window, "Auto").await?;
    // What is typed now is the message, and does not open the list again.
    window.type_text("Two apples").await?;
    window.holds("Two apples").await?;
    window.keys(&["Return"]).await?;
    window.shows("You said: Two apples").await?;
    assert_eq!(stored(&stage, "Two apples").await?.mode, Mode::Auto);
    window.close().await
}
