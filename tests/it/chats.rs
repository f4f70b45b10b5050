//! Tests the chat list: renaming, deleting, undoing that, searching.

use anyhow::Result;
use chat_testkit::ui::{Role, State, containing, named, until};

use crate::stage::Stage;

#[tokio::test]
async fn a_chat_is_renamed() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Pears"]).await?;
    window.open("Apples").await?;
    window.shows("You said: Apples").await?;
    window.keys(&["F10"]).await?;
    window.click(containing("Rename")).await?;
    window.find(named("Title")).await?;
    window.keys(&["ctrl+a"]).await?;
    window.type_text("About fruit").await?;
    window.keys(&["Return"]).await?;
    window.find(named("About fruit").under("Chats")).await?;
    window.gone(named("Apples").under("Chats")).await?;
    window.close().await?;
    assert!(stage.stored().await?.contains_key("About fruit"));
    Ok(())
}

#[tokio::test]
async fn a_deleted_chat_comes_back_by_undo() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Pears"]).await?;
    window.open("Apples").await?;
    window.shows("You said: Apples").await?;
    window.keys(&["F10"]).await?;
    window.click(containing("Move Chat to")).await?;
    window.gone(named("Apples").under("Chats")).await?;
    until("the chat's end on disk", || async {
        Ok((!stage.stored().await?.contains_key("Apples")).then_some(()))
    })
    .await?;

    window.click(named("Undo")).await?;

    window.find(named("Apples").under("Chats")).await?;
    window.shows("You said: Apples").await?;
    window.find(named("Apples").role(Role::Frame)).await?;
    window.close().await?;
    let chat = stage.stored().await?.remove("Apples").expect("the chat");
    assert_eq!(chat.answers(), ["You said: Apples"]);
    Ok(())
}

#[tokio::test]
async fn chats_are_found_by_what_was_said_in_them() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Pears"]).await?;
    window.keys(&["ctrl+shift+f"]).await?;
    window.find(named("Search Chats")).await?;
    window.type_text("said: Apples").await?;
    window.gone(named("Pears").under("Chats")).await?;
    window.find(named("Apples").under("Chats")).await?;
    window.close().await
}

#[tokio::test]
async fn undo_takes_back_all_that_the_toast_in_sight_speaks_of() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread", "Cheese"]).await?;
    window.focus_list().await?;
    // The next chat is shown and chosen, and the keyboard stays in the list.
    window.keys(&["Delete"]).await?;
    window.gone(named("Cheese").under("Chats")).await?;
    window.shows("You said: Bread").await?;
    window.find(named("“Cheese” deleted")).await?;
    window.keys(&["Delete"]).await?;
    window.gone(named("Bread").under("Chats")).await?;
    window.find(named("2 chats deleted")).await?;
    window.keys(&["ctrl+z"]).await?;
    window.find(named("Bread").under("Chats")).await?;
    window.find(named("Cheese").under("Chats")).await?;
    window.gone(named("2 chats deleted")).await?;
    window.shows("You said: Bread").await?;
    window.close().await
}

#[tokio::test]
async fn who_went_to_another_chat_stays_there_when_a_deletion_is_undone() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread"]).await?;
    window.keys(&["F10"]).await?;
    window.click(containing("Move Chat to")).await?;
    window.gone(named("Bread").under("Chats")).await?;
    window.open("Apples").await?;
    window.click(named("Undo")).await?;
    window.find(named("Bread").under("Chats")).await?;
    window.gone(named("“Bread” deleted")).await?;
    window.type_text("more").await?;
    window.keys(&["Return"]).await?;
    window.shows("You said: more").await?;
    window.shows("You said: Apples").await?;
    window.close().await
}

#[tokio::test]
async fn control_z_in_the_message_is_its_own() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread"]).await?;
    window.keys(&["F10"]).await?;
    window.click(containing("Move Chat to")).await?;
    window.find(named("“Bread” deleted")).await?;
    window.holds("").await?;
    window.type_text("words").await?;
    window.holds("words").await?;
    window.keys(&["ctrl+z"]).await?;
    window.holds("").await?;
    assert!(!window.has(named("Bread").under("Chats")).await);
    window.close().await
}

#[tokio::test]
async fn control_z_takes_a_deletion_back_wherever_the_keyboard_is() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread"]).await?;
    for place in ["Message", "Search Chats"] {
        window.open("Bread").await?;
        window.keys(&["F10"]).await?;
        window.click(containing("Move Chat to")).await?;
        window.find(named("“Bread” deleted")).await?;
        window.keys(&[if place == "Message" { "ctrl+l" } else { "ctrl+shift+f" }]).await?;
        window.find(named(place).state(State::Focused)).await?;
        window.keys(&["ctrl+z"]).await?;
        window.find(named("Bread").under("Chats")).await?;
        window.gone(named("“Bread” deleted")).await?;
    }
    window.close().await
}

#[tokio::test]
async fn f2_renames_the_shown_chat_from_anywhere() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples"]).await?;
    // The keyboard is in the message, and the list is hidden.
    window.keys(&["F9", "F2"]).await?;
    window.find(named("Title")).await?;
    window.keys(&["F2", "ctrl+a"]).await?;
    window.type_text("Fruit").await?;
    window.keys(&["Return"]).await?;
    window.find(named("Fruit").role(Role::Frame)).await?;
    window.gone(named("Title")).await?;
    window.close().await
}

#[tokio::test]
async fn a_click_on_a_heading_leaves_the_chat_and_the_keyboard() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread"]).await?;
    window.open("Apples").await?;
    window.writes().await?;
    window.find(named("Today").under("Chats")).await?.click_with_mouse().await?;
    window.type_text("a").await?;
    window.holds("a").await?;
    window.shows("You said: Apples").await?;
    window.close().await
}

#[tokio::test]
async fn what_is_typed_after_a_click_on_a_chat_goes_into_its_message() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread"]).await?;
    // The last one is shown already.
    for (chat, holds) in [("Bread", "b"), ("Apples", "a"), ("Bread", "bb"), ("Apples", "aa")] {
        window.find(named(chat).role(Role::Label).under("Chats")).await?.click_with_mouse().await?;
        window.shows(&format!("You said: {chat}")).await?;
        window.writes().await?;
        window.type_text(&holds[..1]).await?;
        window.holds(holds).await?;
    }
    window.close().await
}

#[tokio::test]
async fn the_arrow_keys_walk_through_the_list_and_stay_there() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread", "Cheese"]).await?;
    window.focus_list().await?;
    window.keys(&["Down"]).await?;
    window.shows("You said: Bread").await?;
    window.keys(&["Down"]).await?;
    window.shows("You said: Apples").await?;
    // Enter goes to the chat.
    window.keys(&["Return"]).await?;
    window.writes().await?;
    window.close().await
}

#[tokio::test]
async fn escape_after_a_hit_was_opened_shows_all_chats_again() -> Result<()> {
    let stage = Stage::new().await?;
    let window = stage.window().await?;
    window.begin(&["Apples", "Bread"]).await?;
    window.keys(&["ctrl+shift+f"]).await?;
    window.find(named("Search Chats")).await?;
    window.type_text("said: Apples").await?;
    window.gone(named("Bread").under("Chats")).await?;
    window.find(named("Apples").under("Chats")).await?;
    window.keys(&["Return"]).await?;
    window.shows("You said: Apples").await?;
    window.writes().await?;
    // The first one closes the bar in which the hit is marked.
    window.find(named("Find in Chat")).await?;
    window.keys(&["Escape"]).await?;
    window.gone(named("Find in Chat")).await?;
    window.keys(&["Escape"]).await?;
    window.find(named("Bread").under("Chats")).await?;
    window.gone(named("Search Chats")).await?;
    window.close().await
}
