//! Tests formulas in replies: what they are called, finding them, and copying their TeX.

use anyhow::{Result, ensure};
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, Widget, named};

use crate::stage::{Stage, Window};

/// A reply with a formula in a line and one on its own.
const REPLY: &str = "So $x^2$ is it, and\n\n$$\n\\frac{a}{b}\n$$\n\nThat costs $5 or $6.";

#[tokio::test]
async fn formulas_are_pictures_with_names_and_are_found_and_copied_as_tex() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.push(Script::new().text(REPLY));
    let window = stage.ready().await?;
    window.say("What is it?").await?;
    window.shows("That costs $5 or $6.").await?;
    let inline = named("x squared").role(Role::Image).under("Conversation");
    window.find(inline).await?;
    let block = named("fraction a over b").role(Role::Image).under("Conversation");
    let block = window.find(block).await?;

    // Find reads the source.
    window.find_in_chat().await?;
    window.type_text("frac{a").await?;
    window.find(named("1 of 1")).await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text("x^2").await?;
    window.find(named("1 of 1")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Find in Chat")).await?;

    // The menu of a formula copies what the model wrote.
    right_click(&stage, &block).await?;
    window.click(named("Copy as TeX").role(Role::Label)).await?;
    window.gone(named("Copy as TeX").role(Role::Label)).await?;
    pasted(&window, "$$\n\\frac{a}{b}\n$$").await?;

    // So does copying the text around them.
    let text = window.find(named("Reply").under("Conversation")).await?;
    text.click_with_mouse().await?;
    window.keys(&["ctrl+a", "ctrl+c"]).await?;
    pasted(&window, REPLY).await?;
    window.close().await
}

#[tokio::test]
async fn a_formula_that_cannot_be_drawn_is_shown_as_it_was_written() -> Result<()> {
    let stage = Stage::new().await?;
    stage.server.push(Script::new().text("$$\\nosuchcommand{x}$$"));
    let window = stage.ready().await?;
    window.say("What is it?").await?;
    window.shows("$$\\nosuchcommand{x}$$").await?;
    window.close().await
}

/// Opens the menu of a widget.
async fn right_click(stage: &Stage, widget: &Widget) -> Result<()> {
    let window = stage.desktop.input().focus().await?;
    let (x, y, width, height) = widget.place().await?;
    let (x, y) = ((x + width / 2).to_string(), (y + height / 2).to_string());
    let arguments = ["mousemove", "--window", &window, &x, &y, "click", "3"];
    let status = stage.desktop.command("xdotool").args(arguments).status()?;
    ensure!(status.success(), "xdotool {arguments:?} failed");
    Ok(())
}

/// Waits until this comes out of the clipboard into the message, and empties that again.
async fn pasted(window: &Window, text: &str) -> Result<()> {
    window.keys(&["ctrl+l", "ctrl+v"]).await?;
    window.holds(text).await?;
    window.keys(&["ctrl+a", "BackSpace"]).await?;
    window.holds("").await
}
