//! Tests selecting text across the blocks of a reply, by pointer and keyboard, and copying it.

use anyhow::{Result, ensure};
use chat_testkit::server::{Gate, Script};
use chat_testkit::ui::{Role, Widget, named};

use crate::stage::{Stage, Window};

const REPLY: &str = "Apples first.\n\n- one\n- two\n\n```\nlet x = 1;\n```\n\n\
    | A | B |\n|---|---|\n| c | d |\n\nPears last.";
const TEXT: &str = "Apples first.\n\n• one\n• two\n\nlet x = 1;\n\nA\tB\nc\td\n\nPears last.";

/// A window with the reply, and its first and last text.
async fn replied(stage: &Stage) -> Result<(Window, Widget, Widget)> {
    stage.server.push(Script::new().text(REPLY));
    let window = stage.ready().await?;
    window.say("What is there?").await?;
    window.shows("Pears last.").await?;
    window.gone(named("Stop")).await?;
    let mut texts = window.all(named("Reply").under("Conversation")).await;
    ensure!(texts.len() >= 2, "the reply has {} texts", texts.len());
    let (first, last) = (texts.remove(0), texts.pop().expect("two texts"));
    Ok((window, first, last))
}

/// Drags from the beginning of a text to the end of another.
async fn drag(stage: &Stage, first: &Widget, last: &Widget) -> Result<()> {
    let (from, to) = (first.place().await?, last.place().await?);
    stage.desktop.input().drag((from.0 + 1, from.1 + 4), (to.0 + to.2 - 2, to.1 + to.3 - 4)).await
}

#[tokio::test]
async fn a_drag_selects_across_blocks_and_the_menu_keeps_it() -> Result<()> {
    let stage = Stage::new().await?;
    let (window, first, last) = replied(&stage).await?;
    drag(&stage, &first, &last).await?;
    window.keys(&["ctrl+c"]).await?;
    pasted(&window, TEXT).await?;

    first.right_click().await?;
    window.click(named("Copy as Markdown").role(Role::Label)).await?;
    window.gone(named("Copy as Markdown").role(Role::Label)).await?;
    pasted(&window, REPLY).await?;

    first.right_click().await?;
    window.click(named("Quote in Reply").role(Role::Label)).await?;
    let quoted = REPLY.lines().map(|line| format!("> {line}").trim_end().to_owned() + "\n");
    window.holds(&(quoted.collect::<String>() + "\n")).await?;
    window.close().await
}

#[tokio::test]
async fn the_middle_button_pastes_what_is_selected_until_nothing_is() -> Result<()> {
    let stage = Stage::new().await?;
    let (window, first, last) = replied(&stage).await?;
    drag(&stage, &first, &last).await?;
    let message = window.find(named("Message").role(Role::Text)).await?;
    let (x, y, width, height) = message.place().await?;
    stage.desktop.input().middle_click(x + width / 2, y + height / 2).await?;
    window.holds(TEXT).await?;
    window.close().await
}

#[tokio::test]
async fn the_keyboard_selects_the_message_and_then_the_chat() -> Result<()> {
    let stage = Stage::new().await?;
    let (window, first, _) = replied(&stage).await?;
    first.click_with_mouse().await?;
    window.keys(&["ctrl+a", "ctrl+c"]).await?;
    pasted(&window, TEXT).await?;
    first.click_with_mouse().await?;
    window.keys(&["ctrl+a", "ctrl+a", "ctrl+c"]).await?;
    pasted(&window, &format!("What is there?\n\n{TEXT}")).await?;
    window.close().await
}

#[tokio::test]
async fn what_is_selected_stays_while_the_reply_grows() -> Result<()> {
    let stage = Stage::new().await?;
    let gate = Gate::new();
    stage.server.push(Script::new().text("Apples.\n\n").gate(&gate).text("Pears and **plums**."));
    let window = stage.ready().await?;
    window.say("What is there?").await?;
    window.shows("Apples.").await?;
    let text = window.find(named("Reply").under("Conversation")).await?;
    drag(&stage, &text, &text).await?;
    gate.open();
    window.shows("Pears and plums.").await?;
    window.keys(&["ctrl+c"]).await?;
    pasted(&window, "Apples.").await?;
    window.close().await
}

/// Waits until this comes out of the clipboard into the message, and empties that again.
async fn pasted(window: &Window, text: &str) -> Result<()> {
    window.keys(&["ctrl+l", "ctrl+v"]).await?;
    window.holds(text).await?;
    window.keys(&["ctrl+a", "BackSpace"]).await?;
    window.holds("").await
}
