//! Tests where typing goes after the popover of one of the composer's buttons closes.

use anyhow::Result;
use chat_testkit::ui::{By, Role, State, containing, named, state, until};

use crate::projects::{folder, window_in};
use crate::stage::{Stage, Window};

/// The buttons of the composer and of the header, each with something that its open popover shows.
fn buttons() -> [(&'static str, By); 6] {
    [
        ("Project", named("Open Folder…")),
        ("Permissions", containing("read-only commands; changes nothing")),
        ("Context Window", named("Replies")),
        ("Thinking", containing("Thinks before answering")),
        ("Model", named("Models")),
        ("Agent", containing("Chats with the model")),
    ]
}

/// A window with a chat, so that all the buttons are shown.
async fn begun(stage: &Stage) -> Result<Window> {
    let garden = folder(stage, "garden")?;
    let window = window_in(stage, &garden).await?;
    window.say("Apples").await?;
    window.shows("You said: Apples").await?;
    window.gone(named("Stop")).await?;
    Ok(window)
}

/// Opens the popover of a button with the mouse.
async fn open(window: &Window, button: &str, shown: &By) -> Result<()> {
    until(&format!("the popover of {button}"), || async {
        // A click while another popover is just closing only closes that.
        window.find(named(button)).await?.click_with_mouse().await?;
        Ok(window.wait_briefly(shown.clone()).await.then_some(()))
    })
    .await
}

#[tokio::test]
async fn typing_after_escape_goes_to_the_message() -> Result<()> {
    let stage = Stage::new().await?;
    let window = begun(&stage).await?;
    let mut typed = String::new();
    for (button, shown) in buttons() {
        open(&window, button, &shown).await?;
        window.keys_at_once(&["Escape", "a", "space", "b", "space"]).await?;
        typed.push_str("a b ");
        window.holds(&typed).await?;
        window.gone(shown).await?;
    }
    window.close().await
}

#[tokio::test]
async fn typing_goes_on_where_it_was_after_the_main_menu() -> Result<()> {
    let stage = Stage::new().await?;
    let window = begun(&stage).await?;
    let item = named("Preferences");
    open(&window, "Main Menu", &item).await?;
    window.keys_at_once(&["Escape", "a", "space", "b", "space"]).await?;
    window.gone(item.clone()).await?;
    window.keys(&["F10"]).await?;
    window.find(item.clone()).await?;
    window.keys_at_once(&["Escape", "c"]).await?;
    window.holds("a b c").await?;

    window.find_in_chat().await?;
    window.type_text("App").await?;
    finds(&window, "App").await?;
    open(&window, "Main Menu", &item).await?;
    window.keys_at_once(&["Escape", "l", "e", "s"]).await?;
    finds(&window, "Apples").await?;
    window.gone(item.clone()).await?;

    // What a choice opens has the focus.
    window.keys(&["Escape"]).await?;
    window.gone(named("Find in Chat").role(Role::Entry)).await?;
    open(&window, "Main Menu", &item).await?;
    window.click(named("Find in Chat")).await?;
    window.find(named("Find in Chat").role(Role::Entry)).await?;
    window.type_text("You").await?;
    finds(&window, "You").await?;
    window.close().await
}

#[tokio::test]
async fn a_title_that_the_main_menu_asks_for_is_typed_at_once() -> Result<()> {
    let stage = Stage::new().await?;
    let window = begun(&stage).await?;
    for key in ["F10", "click"] {
        match key {
            "click" => open(&window, "Main Menu", &named("Preferences")).await?,
            key => window.keys(&[key]).await?,
        }
        window.click(containing("Rename")).await?;
        window.find(named("Title")).await?;
        let title = format!("Opened by {key}");
        window.type_text(&title).await?;
        window.keys(&["Return"]).await?;
        window.find(named(&title).under("Chats")).await?;
    }
    window.type_text("a b").await?;
    window.holds("a b").await?;
    window.close().await
}

#[tokio::test]
async fn typing_after_a_click_elsewhere_goes_to_the_message() -> Result<()> {
    let stage = Stage::new().await?;
    let window = begun(&stage).await?;
    let mut typed = String::new();
    for (button, shown) in buttons() {
        open(&window, button, &shown).await?;
        window.find(named("Conversation")).await?.click_with_mouse().await?;
        window.gone(shown).await?;
        window.type_text("a b ").await?;
        typed.push_str("a b ");
        window.holds(&typed).await?;
    }
    window.close().await
}

#[tokio::test]
async fn typing_after_the_same_choice_again_goes_to_the_message() -> Result<()> {
    let stage = Stage::new().await?;
    let window = begun(&stage).await?;
    let (permissions, thinking) = (
        containing("read-only commands; changes nothing"),
        containing("Uses the model’s own default"),
    );
    for (button, shown) in [("Permissions", permissions), ("Thinking", thinking)] {
        open(&window, button, &shown).await?;
        window.find(shown.clone()).await?.click_with_mouse().await?;
        window.gone(shown).await?;
        window.type_text("a b ").await?;
    }
    window.holds("a b a b ").await?;
    window.close().await
}

#[tokio::test]
async fn a_button_keeps_the_focus_that_tab_gave_it_but_not_the_letters() -> Result<()> {
    let stage = Stage::new().await?;
    let window = begun(&stage).await?;
    let mut typed = String::new();
    for (button, shown) in buttons().into_iter().filter(|(button, _)| *button != "Agent") {
        until(&format!("the focus on {button}"), || async {
            if at(&window, button).await {
                return Ok(Some(()));
            }
            window.keys(&["Tab"]).await?;
            Ok(None)
        })
        .await?;
        window.keys(&["space"]).await?;
        window.find(shown.clone()).await?;
        window.keys(&["Escape"]).await?;
        window.gone(shown).await?;
        until(&format!("the focus back on {button}"), || async {
            Ok(at(&window, button).await.then_some(()))
        })
        .await?;
        window.type_text("Pears and plums ").await?;
        typed.push_str("Pears and plums ");
        window.holds(&typed).await?;
    }
    window.close().await
}

/// Whether a button has the focus.
async fn at(window: &Window, button: &str) -> bool {
    let focused = window.all(state(State::Focused)).await;
    focused.iter().any(|widget| widget.name() == button || widget.is_under(button))
}

#[tokio::test]
async fn a_list_that_a_shortcut_opened_gives_the_focus_back_to_what_is_being_written() -> Result<()>
{
    let stage = Stage::new().await?;
    let window = begun(&stage).await?;
    window.find_in_chat().await?;
    window.type_text("App").await?;
    finds(&window, "App").await?;
    window.keys(&["ctrl+m"]).await?;
    window.find(named("Models")).await?;
    window.keys_at_once(&["Escape", "l", "e", "s"]).await?;
    window.gone(named("Models")).await?;
    finds(&window, "Apples").await?;
    window.close().await
}

/// Waits until this text is looked for in the chat.
async fn finds(window: &Window, text: &str) -> Result<()> {
    let field = window.find(named("Find in Chat")).await?;
    until(&format!("{text:?} in the field"), || async {
        Ok((field.text().await? == text).then_some(()))
    })
    .await
}
