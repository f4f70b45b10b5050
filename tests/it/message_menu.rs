//! Tests the actions on a message: its menu, the buttons below the last reply, and toasts that
//! cover neither.

use anyhow::{Result, ensure};
use chat_testkit::server::Script;
use chat_testkit::ui::{Role, State, Widget, named, until};

use crate::stage::{Stage, Window};

#[tokio::test]
async fn the_right_button_opens_the_menu_of_the_message() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    let reply = window.find(named("Reply").under("Conversation")).await?;
    right_click(&stage, &reply).await?;
    window.find(named("Regenerate").role(Role::Label)).await?;
    // Nothing is selected, and nothing of the toolkit's own is offered.
    for name in ["Copy", "Cut", "Paste", "Select All", "Restore Files to This Point…"] {
        assert!(!window.has(named(name).role(Role::Label)).await, "{name}");
    }
    window.find(named("Copy Message").role(Role::Label)).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Copy Message").role(Role::Label)).await?;

    let own = window.find(named("Apples").role(Role::Label).under("Conversation")).await?;
    right_click(&stage, &own).await?;
    window.find(named("Copy Message").role(Role::Label)).await?;
    assert!(!window.has(named("Regenerate").role(Role::Label)).await);
    window.click(named("Copy Message").role(Role::Label)).await?;
    window.gone(named("Copy Message").role(Role::Label)).await?;
    pasted(&window, "Apples").await?;
    window.close().await
}

#[tokio::test]
async fn the_menu_copies_what_is_selected_also_by_keyboard() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    let reply = window.find(named("Reply").under("Conversation")).await?;
    for by_key in [false, true] {
        reply.click_with_mouse().await?;
        window.keys(&["ctrl+a"]).await?;
        if by_key {
            window.keys(&["Menu"]).await?;
        } else {
            right_click(&stage, &reply).await?;
        }
        window.find(named("Copy Message").role(Role::Label)).await?;
        window.click(named("Copy").role(Role::Label)).await?;
        window.gone(named("Copy").role(Role::Label)).await?;
        pasted(&window, "You said: Apples").await?;
    }
    window.close().await
}

#[tokio::test]
async fn the_buttons_of_a_message_open_its_menu_also_by_keyboard() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.ready().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    window.writes().await?;
    let focused = named("More Actions").state(State::Focused);
    until("the keyboard on the button", || async {
        window.keys(&["shift+Tab"]).await?;
        Ok(window.has(focused.clone()).await.then_some(()))
    })
    .await?;
    window.keys(&["Return"]).await?;
    window.find(named("Regenerate").role(Role::Label)).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Regenerate").role(Role::Label)).await?;
    // Further on there are those of the message before it.
    window.find(focused).await?;
    let above = window.find(named("More Actions").under("Conversation")).await?;
    above.click_with_mouse().await?;
    window.find(named("Edit and Resend").role(Role::Label)).await?;
    ensure!(!window.has(named("Regenerate").role(Role::Label)).await, "it is no reply");
    window.click(named("Copy Message").role(Role::Label)).await?;
    window.gone(named("Edit and Resend").role(Role::Label)).await?;
    pasted(&window, "Apples").await?;
    window.close().await
}

#[tokio::test]
async fn buttons_copy_and_are_what_they_were_after_that() -> Result<()> {
    let stage = Stage::new().await?;
    let text = "| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nlet it = be;\n```\n\nThat is it.";
    stage.server.push(Script::new().text(text));
    let window = stage.ready().await?;
    window.say("Apples").await?;
    window.shows("That is it.").await?;
    for (name, copied) in [("Copy Message", text), ("Copy Code", "let it = be;")] {
        window.find(named(name).role(Role::Button)).await?.click_with_mouse().await?;
        // For a moment it says that it did, which a busy machine may not see.
        window.gone(named("Copied")).await?;
        window.find(named(name).role(Role::Button)).await?;
        pasted(&window, copied).await?;
    }
    window.find(named("Copy Table")).await?.click_with_mouse().await?;
    window.click(named("Copy as CSV").role(Role::Label)).await?;
    window.gone(named("Copied")).await?;
    window.find(named("Copy Table")).await?;
    window.close().await
}

#[tokio::test]
async fn a_toast_is_in_the_middle_of_the_conversation_and_covers_neither_button_nor_message()
-> Result<()> {
    let stage = Stage::new().await?;
    stage.store("A long chat", (0..60).map(|index| format!("Number {index}"))).await?;
    stage.store("Another one", ["Apples".to_owned()]).await?;
    let window = stage.window().await?;
    window.open("A long chat").await?;
    window.shows("Number 59").await?;
    window.open("Another one").await?;
    window.shows("Apples").await?;
    window.focus_list().await?;
    window.keys(&["Delete"]).await?;
    window.find(named("“Another one” deleted")).await?;
    window.shows("Number 59").await?;
    window.keys(&["ctrl+l", "Prior"]).await?;
    until("the toast in its place", || async {
        let toast = window.find(named("Undo")).await?.place().await?;
        let words = window.find(named("“Another one” deleted")).await?.place().await?;
        let chat = window.find(named("Conversation")).await?.place().await?;
        let jump = window.find(named("Jump to End")).await?.place().await?;
        let message = window.find(named("Message").role(Role::Text)).await?.place().await?;
        // From the words on to behind the button that closes it.
        let middle = (words.0 + toast.0 + toast.2 + CLOSE) / 2;
        let is_centred = (middle - (chat.0 + chat.2 / 2)).abs() < 16;
        let is_above = toast.1 + toast.3 <= jump.1 && jump.1 + jump.3 <= message.1;
        Ok((is_centred && is_above).then_some(()))
    })
    .await?;
    window.close().await
}

#[tokio::test]
async fn a_message_is_copied_without_markdown_and_quoted() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    let reply = window.find(named("Reply").under("Conversation")).await?;
    for name in ["Copy as Plain Text", "Copy as Rich Text"] {
        right_click(&stage, &reply).await?;
        window.click(named(name).role(Role::Label)).await?;
        window.gone(named(name).role(Role::Label)).await?;
        // A text field takes the plain text of either.
        pasted(&window, "You said: Apples").await?;
    }
    right_click(&stage, &reply).await?;
    window.click(named("Quote in Reply").role(Role::Label)).await?;
    window.holds("> You said: Apples\n\n").await?;
    window.close().await
}

#[tokio::test]
async fn the_keys_go_between_the_own_messages() -> Result<()> {
    let stage = Stage::new().await?;
    stage.store("A long chat", (0..60).map(|index| format!("Number {index}"))).await?;
    let window = stage.window().await?;
    window.open("A long chat").await?;
    window.shows("Number 59").await?;
    window.keys(&["ctrl+l"]).await?;
    for _ in 0..60 {
        window.keys(&["alt+Prior"]).await?;
    }
    window.shows("Number 0").await?;
    for _ in 0..60 {
        window.keys(&["alt+Next"]).await?;
    }
    window.shows("Number 59").await?;
    window.close().await
}

#[tokio::test]
async fn a_long_own_message_is_folded_and_opens() -> Result<()> {
    let stage = Stage::new().await?;
    let text = (0..60).map(|line| format!("line {line}")).collect::<Vec<_>>().join("\n");
    stage.store("A long message", [text]).await?;
    let window = stage.window().await?;
    window.open("A long message").await?;
    let before = window.find(named("Show More")).await?;
    before.click().await?;
    window.find(named("Show Less")).await?;
    window.gone(named("Show More")).await?;
    window.close().await
}

#[tokio::test]
async fn the_message_field_is_in_the_middle_of_a_new_chat_and_goes_down() -> Result<()> {
    let stage = Stage::new().await?;
    stage.store("An earlier chat", ["Apples".to_owned()]).await?;
    let window = stage.window().await?;
    window.keys(&["ctrl+n"]).await?;
    window.find(named("What would you like to do?")).await?;
    let top = || async {
        let field = window.find(named("Message").role(Role::Text)).await?.place().await?;
        anyhow::Ok(field.1)
    };
    let middle = top().await?;
    window.say("Pears").await?;
    window.shows("You said: Pears").await?;
    until("the message field at the bottom", || async {
        Ok((top().await? > middle + 50).then_some(()))
    })
    .await?;
    window.close().await
}

/// The width of the button that closes a toast, including the free space next to it.
const CLOSE: i32 = 40;

/// Clicks into the middle of a widget with the right button.
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
